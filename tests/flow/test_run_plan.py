"""What a change re-does, counted in shards, and what `radcal status` says of it beforehand."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calibration.survey import builtin
from extraction import vocabulary
from pipeline.cli.common import Output
from pipeline.cli.serve import Serve, jobs, next_at, serve, status
from pipeline.errors import (
    ConfigurationError,
    DamagedShardError,
    InputError,
    RunLockedError,
    StorageError,
)
from pipeline.flows import nightly
from pipeline.run.gates import Gathered
from pipeline.run.manifest import KEYED
from pipeline.run.outlook import outlook
from pipeline.run.run import Run
from pipeline.simulate import simulate
from pipeline.site.site import Site
from pipeline.stages import ingest, issue
from pipeline.stages.clean import CLEAN
from pipeline.stages.extract import EXTRACT
from pipeline.stages.ingest import INGEST
from pipeline.stages.pages import FEEDBACK
from pipeline.stages.pair import Pair, Paired, PatientBlock
from pipeline.store.workspace import Workspace, Zone
from pipeline.tables.profiles import profile_of
from pipeline.vault.key import Key, new_key
from pipeline.vault.upkeep import replace_key
from tests.fixtures.here import Here, coded

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
PROMPT = "code of extraction.prompt"
KINDS = [stage.kind for stage in KEYED]
WORDS = ("absent", "unlikely", "likely", "present")
BASE = '[input]\npaths = ["exams-*.csv"]\n[execution]\nshard_rows = 20\n'


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make two exports of one hospital and gather them once; every test works on a copy."""
    folder = tmp_path_factory.mktemp("site")
    exams = simulate(pairs=24, readers=3, seed=2).exams.astype(str)
    by_patient = exams["patient_id"].map(lambda patient: sum(map(ord, patient)) % 2)
    for half in (0, 1):
        exams[by_patient == half].to_csv(folder / f"exams-{half}.csv", index=False)
    configured(folder, "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RADCAL_VAULT_KEY", KEY)
        assert set(gather(folder).values()) != {0}
    return folder


@pytest.fixture
def place(gathered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("RADCAL_VAULT_KEY", KEY)
    Site.forget()
    yield shutil.copytree(gathered, tmp_path / "site")
    Site.forget()


def configured(folder: Path, more: str) -> None:
    (folder / "radcal.toml").write_text(BASE + more)


def site(folder: Path) -> Site:
    Site.forget()
    return Site.open(str(folder / "radcal.toml"))


def gather(folder: Path) -> dict[str, int]:
    """Go from exports to tallies as a night does; how many shards each stage made."""
    here = Here(site(folder))
    gathered = here.gather()
    here.choose(gathered)
    noted(here.site, [block.key for block in gathered.tallied])
    return {name: made for name, made in here.made.items() if name != "register"}


def noted(here: Site, tallies: list[str]) -> None:
    """Leave the record that a run leaves."""
    runs = here.workspace.root / "runs"
    record = {"last_run": "r", "last_issue": FEEDBACK.digest(here), "last_tallies": tallies}
    here.workspace.write_json(runs / "last.json", {"state": "ended", **record})
    manifest = {"ingredients": {stage.kind: stage.ingredients(here) for stage in KEYED}}
    here.workspace.write_json(runs / "r" / "manifest.json", manifest)


def states(folder: Path) -> dict[str, str]:
    return {each.stage: each.state for each in outlook(site(folder)).stages}


def reasons(folder: Path, stage: str) -> str:
    return "; ".join(next(each.why for each in outlook(site(folder)).stages if each.stage == stage))


NOTHING = {"ingest": 0, "de-identify": 0, "pair": 0, "extract": 0, "tally": 0, "issue": 0}


def test_second_night_without_anything_new_makes_nothing_and_status_says_so(place: Path) -> None:
    assert set(states(place).values()) == {"up to date"}
    assert gather(place) == NOTHING


def test_new_export_costs_its_own_shards_and_the_joins(place: Path) -> None:
    more = pd.read_csv(place / "exams-1.csv", dtype=str, keep_default_na=False)
    for name in ("accession", "exam_id", "patient_id"):
        more[name] = "9" + more[name]
    more.head(15).to_csv(place / "exams-2.csv", index=False)
    assert reasons(place, "ingest") == "1 of 3 sources are new or changed"
    made = gather(place)
    assert (made["ingest"], made["de-identify"], made["pair"]) == (1, 1, 1)
    assert made["extract"] <= 1


@pytest.mark.parametrize(
    ("change", "first", "made"),
    [
        ("[pairing]\nwindow_hours = 10.0\n", "pair", ("pair",)),
        ('[calibration]\nlabel = "mean"\n', "tally", ("tally", "issue")),
        ("[calibration]\nbootstrap = 200\n", "pages", ()),
        ('[reports]\npage = "Letter"\n', "pages", ()),
        ("[notify]\n", "", ()),
        ('[deidentification]\nreplacement = "surrogate"\n', "de-identify", ("de-identify", "pair")),
    ],
)
def test_changed_option_redoes_what_depends_on_it_and_status_names_it(
    place: Path, change: str, first: str, made: tuple[str, ...]
) -> None:
    configured(place, change)
    stale = [stage for stage, state in states(place).items() if state != "up to date"]
    assert stale == (list(KINDS[KINDS.index(first) :]) if first else [])
    if first:
        option = change.split("\n")[1].split(" ")[0]
        assert f".{option}: " in reasons(place, first)
    found = gather(place)
    before = [stage for stage in NOTHING if stage not in KINDS[KINDS.index(first or "pages") :]]
    assert all(found[stage] == 0 for stage in before if stage != "issue")
    assert all(found[stage] > 0 for stage in made)


def test_audit_of_the_engine_makes_the_issue_anew_and_its_profiles_allow_for_it(
    place: Path,
) -> None:
    confusion = [[a, b, 70 if a == b else 10] for a in WORDS for b in WORDS]
    audit = {
        "engine": "rules", "engine_version": "2", "reports": 100,
        "modality_confusion": {"XR": confusion},
        "cell_accuracy_micro": {"value": 0.9, "low": 0.8, "high": 0.95},
    }  # fmt: skip
    (place / "audit.json").write_text(json.dumps(audit), encoding="utf-8")
    unaudited = profiles(Here(site(place)))
    configured(place, '[extraction]\naudit = "audit.json"\n')
    here = Here(site(place))
    audited = profiles(here)
    assert (here.made["extract"], here.made["issue"]) == (0, 1)
    assert here.site.misread == pytest.approx(0.4)
    assert set(audited["reader_code"]) == set(unaudited["reader_code"])
    for reader in audited["reader_code"]:
        now, before = (profile_of(table, reader) for table in (audited, unaudited))
        assert now is not None
        assert before is not None
        # The same statements, of which fewer are known to be the reader's own words.
        assert now.n == before.n
        width, known = (p.pattern.slope.high - p.pattern.slope.low for p in (now, before))
        assert width > known


def profiles(here: Here) -> pd.DataFrame:
    """Give the profiles of the issue."""
    chosen = here.choose(here.gather())
    return here.site.workspace.read("analysis", "profiles", [chosen.key])


def test_an_issue_follows_the_newest_one_before_it_and_never_one_of_its_own_month(
    place: Path,
) -> None:
    here = Here(site(place))
    gathered = here.gather()

    def asked(period: str | None) -> issue.IssueRequest:
        return issue.request(here.site, gathered.paired, gathered.tallied, period)

    newest = asked(None)
    months = [str(pd.Period(newest.period.name, freq="M") - back) for back in (1, 2)]
    assert newest.before is None
    two_before, one_before = (here.choose(gathered, month).key for month in reversed(months))
    assert [asked(period).before for period in (months[1], months[0], None)] == [
        None, two_before, one_before
    ]  # fmt: skip
    first = here.choose(gathered)
    assert here.made["issue"] == 1
    assert (here.choose(gathered), here.made["issue"]) == (first, 0)
    # Under other settings the month before is judged again: what was delivered is what was told.
    configured(place, "[calibration]\npattern_probability = 0.9\n")
    again = Here(site(place)).choose(gathered, months[0]).key
    assert again != one_before
    for delivered in (one_before, again):
        here.site.workspace.note_issue(months[0], delivered, ["R-1"])
        assert asked(None).before == delivered


def test_a_changed_vocabulary_is_named_and_not_the_engine(place: Path) -> None:
    (place / "words").mkdir()
    cues = Path(vocabulary.__file__).with_name("cues.toml").read_text(encoding="utf-8")
    (place / "words" / "cues.toml").write_text(f"{cues}\n# ours\n", encoding="utf-8")
    configured(place, '[extraction]\nvocabulary = "words"\n')
    assert reasons(place, "extract") == "vocabulary changed"


def test_a_damaged_profile_of_an_issue_stops_a_run_and_is_not_made_as_if_nothing_was_told(
    place: Path,
) -> None:
    here = Here(site(place))
    gathered = here.gather()
    months = sorted({month for block in gathered.tallied for month in block.months})
    before = here.choose(gathered, months[-2]).key
    shard = place / "workspace" / "analysis" / "profiles" / f"{before}.parquet"
    content = shard.read_bytes()
    shard.write_bytes(content[: len(content) // 2])
    run = Run(str(place / "radcal.toml"))
    with pytest.raises(DamagedShardError, match="it holds what an issue told readers"):
        run.mending(lambda: here.choose(gathered))
    assert shard.exists()


LISTS = """[input]
paths = ["exams-*.csv"]
left_out = "left_out.csv"
[execution]
shard_rows = 20
[deidentification]
word_lists = "words"
[phrases]
table = "phrases.csv"
[pairing]
window_hours = 11.0
"""


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("radcal.toml", '[calibration]\nct_silence = "exclude"\n'),
        ("left_out.csv", "reader,R1\n"),
        ("words", "Waldklinik\n"),
        ("phrases.csv", "rather likely,beta,6,2\n"),
    ],
)
def test_a_run_whose_own_files_are_edited_stops_and_goes_by_the_new_ones_when_run_again(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, edit: str
) -> None:
    path = place / "radcal.toml"
    (place / "words").mkdir()
    calls: list[bool] = []

    def edited(self: Pair, here: Site, block: PatientBlock, key: str) -> Paired:
        if not calls:
            target = place / name / "sites.txt" if name == "words" else place / name
            target.write_text(target.read_text() + edit)
            os.utime(target, ns=(1, 1))
        calls.append(True)
        return made(self, here, block, key)

    made = Pair.make
    monkeypatch.setattr(Pair, "make", edited)
    path.write_text(LISTS)
    (place / "left_out.csv").write_text("who,id\n")
    (place / "words" / "sites.txt").write_text("Bergklinik\n")
    builtin("diagnostic-certainty-scale").to_frame().to_csv(place / "phrases.csv", index=False)
    wanted = f"{name}: changed while the run was at work; nothing"
    with pytest.raises(ConfigurationError, match=wanted):
        nightly.fn(str(path))
    stages = json.loads((place / "workspace" / "runs" / "last.json").read_text())["stages"]
    assert [each["stage"] for each in stages][-1] == "extract"
    assert nightly.fn(str(path)).outcome == "gathered"


def test_xrays_by_month_are_counted_once_a_run(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def read(self: Workspace, zone: Zone, name: str, keys: Sequence[str], **how: Any) -> Any:
        asked.append(name)
        return real(self, zone, name, keys, **how)

    real = Workspace.read
    monkeypatch.setattr(Workspace, "read", read)
    nightly.fn(str(place / "radcal.toml"))
    assert asked.count("coverage") == 1


def test_what_an_issue_told_is_not_taken_for_nothing_where_it_is_gone_or_not_known(
    place: Path,
) -> None:
    here = Here(site(place))
    gathered, store = here.gather(), here.site.workspace
    months = sorted({month for block in gathered.tallied for month in block.months})
    two_before, one_before = (here.choose(gathered, month).key for month in months[-3:-1])
    for month, key in zip(months[-3:], (two_before, one_before), strict=False):
        store.note_issue(month, key, ["R-1"])
    note = store.root / "delivery" / f"{months[-2]}.json"

    def before() -> str | None:
        return issue.request(here.site, gathered.paired, gathered.tallied, None).before

    assert before() == one_before
    whole = note.read_bytes()
    for damaged in (whole[:-9], b'{"recipients": []}', b"7"):
        note.write_bytes(damaged)
        with pytest.raises(StorageError, match=f"or run once with `--period {months[-2]}`"):
            before()
    here.site.workspace.note_issue(months[-2], here.choose(gathered, months[-2]).key, ["R-1"])
    assert note.read_bytes() == whole
    shard = store.root / "analysis" / "profiles" / f"{one_before}.parquet"
    shard.rename(gone := place / "gone")
    for noted in (whole, b'["R-1"]'):  # as this version and as 0.8.0 noted it
        note.write_bytes(noted)
        with pytest.raises(StorageError, match=f"lacks what the issue of {months[-2]} told"):
            before()
    note.unlink()
    ledger = store.root / "delivery" / "ledger.jsonl"
    page = {"page": "feedback.pdf", "drawn": "d", "file": "feedback.pdf", "sha256": "s"}
    ledger.write_text(json.dumps({"period": months[-2], "recipient": "R-1", **page}) + "\n")
    with pytest.raises(StorageError, match=rf"{months[-2]}.json and delivery/ledger.jsonl: every"):
        before()
    # As the message says: the readers' last issue is the one before it.
    ledger.unlink()
    assert before() == two_before
    # An issue that was made and never delivered told nobody anything.
    gone.rename(shard)
    assert before() == two_before


def stray_month(place: Path, gathered: Gathered, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give a department's months, its issues gone, with but two X-rays in the last of them."""
    months = sorted({month for block in gathered.tallied for month in block.months})
    shutil.rmtree(place / "workspace" / "analysis" / "profiles")
    xrays = pd.Series(dict.fromkeys(months, 100.0) | {months[-1]: 2.0})
    monkeypatch.setattr(issue, "_xrays", lambda *_: (xrays, xrays))
    return months


def test_status_names_the_month_that_a_run_would_issue_or_none_where_that_is_not_known(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Here(site(place))
    gathered = here.gather()
    months = stray_month(place, gathered, monkeypatch)
    assert outlook(site(place)).next_period == here.choose(gathered).period.name == months[-2]
    configured(place, "[pairing]\nwindow_hours = 10.0\n")
    assert outlook(site(place)).next_period is None


def test_status_says_why_an_issue_would_be_refused(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told() -> str:
        capsys.readouterr()
        status(place / "radcal.toml", Output())
        return capsys.readouterr().out

    here = Here(site(place))
    gathered = here.gather()
    assert "nothing would be delivered: reports.contact and reports.returns_by: name" in told()
    configured(place, '[reports]\ncontact = "QA"\nreturns_by = "2026-12-15"\n')
    assert "nothing would be delivered" not in told()
    months = sorted({month for block in gathered.tallied for month in block.months})
    note = here.site.workspace.root / "delivery" / f"{months[-2]}.json"
    note.parent.mkdir(exist_ok=True)
    note.write_text("{")
    assert f"nothing would be delivered: delivery/{months[-2]}.json is damaged" in told()
    assert "next period" not in told()


def test_stray_months_are_left_for_the_next_issue_and_no_issue_goes_back(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Here(site(place))
    gathered = here.gather()
    keys = [block.key for block in gathered.paired]
    seen, _ = issue._xrays(here.site.workspace, keys)
    months = stray_month(place, gathered, monkeypatch)
    assert {*months} <= {*seen.index}
    assert seen.index.is_monotonic_increasing
    first, again = here.choose(gathered), here.choose(gathered)
    assert first == again
    assert first.period.months[-1] == first.period.name == months[-2]
    ((left, held),) = first.period.later
    cells = here.site.workspace.read("analysis", "tallies", first.tallies)
    assert (left, held) == (months[-1], cells.loc[cells["month"] == left, "count"].sum())
    assert here.choose(gathered, months[-1]).period.later == ()
    # An issue of the last month is there now: the next one does not end before it.
    assert here.choose(gathered).period.name == months[-1]


@pytest.mark.parametrize(("whole", "compared"), [(0, False), (2, False), (3, True)])
def test_what_changed_is_judged_only_on_whole_months_of_a_quarter_of_an_issue(
    place: Path, monkeypatch: pytest.MonkeyPatch, whole: int, *, compared: bool
) -> None:
    here = Here(site(place))
    gathered = here.gather()
    asked = issue.request(here.site, gathered.paired, gathered.tallied, None)
    first = pd.Period(asked.period.months[0], freq="M")
    before = {str(first - back): 100.0 if back <= whole else 3.0 for back in range(1, 5)}
    xrays = pd.Series(before | dict.fromkeys(asked.period.months, 100.0)).sort_index()
    given: list[list[str]] = []
    look = issue.observed
    monkeypatch.setattr(issue, "_xrays", lambda *_: (xrays, xrays))

    def observed(here: Site, tallies: tuple[str, ...], months: tuple[str, ...]) -> pd.DataFrame:
        given.append([*months])
        return look(here, tallies, months)

    monkeypatch.setattr(issue, "observed", observed)
    issue._judged(here.site, asked)
    assert bool(given[0]) == compared
    assert given[1] == [*asked.period.months]


def test_exams_in_other_shards_have_the_months_that_were_stated_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY", KEY)
    exams = simulate(pairs=150, readers=3, seed=5).exams.astype(str).assign(text="No effusion.")
    exams.to_csv(tmp_path / "exams-0.csv", index=False)
    stated = []
    names = set[str]()
    for encoding in ("utf-8", "cp1252"):
        more = f'encoding = "{encoding}"\n[execution]'
        (tmp_path / "radcal.toml").write_text(BASE.replace("[execution]", more))
        here = site(tmp_path)
        keys = [each.key for each in coded(here)]
        assert not names & set(keys)
        names.update(keys)
        stated.append(
            here.workspace.read("analysis", "clean_exams", keys).set_index("exam_key")[
                "performed_month"
            ]
        )
    before, after = stated
    assert after.sort_index().equals(before.sort_index())
    true = pd.to_datetime(exams["performed_at"], utc=True).dt.strftime("%Y-%m")
    assert sorted(before) != sorted(true)


def test_changed_prompt_reads_nothing_again_where_rules_read(place: Path) -> None:
    assert PROMPT not in EXTRACT.ingredients(site(place))
    configured(
        place, '[extraction]\nengine = "server"\nserver_url = "http://[::1]:9"\nmodel = "m"\n'
    )
    here = site(place)
    assert PROMPT in EXTRACT.ingredients(here)
    assert PROMPT not in CLEAN.ingredients(here)


def test_a_line_more_in_a_sites_word_list_cleans_anew(place: Path, tmp_path: Path) -> None:
    here = site(place)
    own = here.config.deidentification.model_copy(update={"word_lists": str(tmp_path)})
    here.config = here.config.model_copy(update={"deidentification": own})
    keys = []
    for names in ("Warm Water", "Warm Water\nCold Water"):
        (tmp_path / "sites.txt").write_text(names, encoding="utf-8")
        keys.append(CLEAN.ingredients(here))
    changed = {name for name in keys[0] if keys[0][name] != keys[1][name]}
    assert changed == {"own word lists"}


def test_deleted_and_damaged_shards_are_found_and_made_as_they_were(place: Path) -> None:
    store = place / "workspace"
    whole = {p: p.read_bytes() for p in store.glob("analysis/*/*.parquet")}
    for name in ("clean_exams", "withheld", "findings", "readings", "wanted", "observations"):
        next((store / "analysis" / name).glob("*.parquet")).unlink()
    assert gather(place)["de-identify"] >= 1
    assert {p: p.read_bytes() for p in store.glob("analysis/*/*.parquet")} == whole
    bad = next((store / "raw" / "exams").glob("*.parquet"))
    content = bytearray(bad.read_bytes())
    content[len(content) // 2] ^= 1
    bad.write_bytes(bytes(content))
    for path in (store / "analysis" / "clean_exams").glob("*.parquet"):
        path.unlink()
    with pytest.raises(DamagedShardError, match="is damaged") as caught:
        gather(place)
    site(place).workspace.put_aside(caught.value)
    gather(place)
    assert {p: p.read_bytes() for p in store.glob("analysis/*/*.parquet")} == whole


def test_clock_set_back_quarantines_nothing_for_good(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = len(list((place / "workspace/analysis/clean_exams").glob("*.parquet")))
    shutil.rmtree(place / "workspace")
    with monkeypatch.context() as patch:
        patch.setattr(ingest, "_now", lambda: pd.Timestamp("1990-01-01", tz="UTC"))
        here = site(place)
        here.workspace.prepare()
        early = [INGEST.do(here, source) for source in ingest.sources(here)]
        assert sum(source.found.kept for source in early) == 0
        assert all(set(source.found.quarantined) == {"future_date"} for source in early)
        again = [INGEST.do(here, source) for source in ingest.sources(here)]
        assert not any(source.anew for source in again)
    assert gather(place)["de-identify"] == expected
    assert set(states(place).values()) == {"up to date"}


def test_clock_set_far_ahead_changes_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_now", lambda: pd.Timestamp("2090-01-01", tz="UTC"))
    assert gather(place) == NOTHING


def test_export_that_grows_while_it_is_read_counts_only_when_complete(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place / "exams-2.csv"
    rows = pd.read_csv(place / "exams-1.csv", dtype=str, keep_default_na=False)
    rows.head(2).to_csv(path, index=False)
    judged = ingest.judged

    here = site(place)

    def growing(*given: object, **named: object) -> object:
        yield from judged(*given, **named)  # type: ignore[arg-type]
        rows.head(6).to_csv(path, index=False)

    with monkeypatch.context() as patch:
        patch.setattr(ingest, "judged", growing)
        with pytest.raises(InputError, match=r"exams-2\.csv: changed while it was read"):
            INGEST.do(here, str(path))
    assert INGEST.do(here, str(path)).anew


def test_export_that_vanished_is_told_by_name(place: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.csv: vanished during this run"):
        INGEST.do(site(place), str(place / "gone.csv"))


def test_status_outlives_damaged_records(place: Path) -> None:
    (place / "workspace/runs/last.json").write_text("{")
    assert {each.state for each in outlook(site(place)).stages} >= {"up to date"}
    (place / "workspace/runs/last.json").write_text(json.dumps({"last_run": "r"}))
    (place / "workspace/runs/r/manifest.json").write_bytes(b"\x00" * 9)
    assert states(place)["tally"] == "up to date"


@pytest.mark.parametrize("barred", ["runs", "last.json"])
def test_status_names_records_that_this_user_may_not_read(
    place: Path, monkeypatch: pytest.MonkeyPatch, barred: str
) -> None:
    monkeypatch.setattr("os.access", lambda path, _rights: Path(path).name != barred)
    with pytest.raises(StorageError, match=f"{barred}: may not be read by this user"):
        status(place / "radcal.toml", Output())


def test_a_schedule_without_a_key_is_refused_at_once(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RADCAL_VAULT_KEY")
    monkeypatch.delenv("RADCAL_VAULT_KEY_FILE", raising=False)
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("a server was started"))
    with pytest.raises(ConfigurationError, match="No key is given"):
        serve(Serve(config=place / "radcal.toml", port=0))


def test_a_second_schedule_of_a_workspace_is_refused_before_it_starts_anything(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.environ", dict(os.environ))
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("a server was started"))
    (place / "workspace").mkdir(exist_ok=True)
    with (place / "workspace" / "serve.lock").open("a+") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(RunLockedError, match="another `radcal serve` holds"):
            serve(Serve(config=place / "radcal.toml", port=0))


def test_a_run_that_died_keeps_no_place_that_the_next_one_needs(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = list(jobs(Serve(config=place / "radcal.toml"), "Europe/Zurich"))
    assert [(each.name, each.concurrency_limit) for each in made] == [
        ("nightly", None), ("monthly", None)
    ]  # fmt: skip
    assert [line.split(" next ")[0] for line in capsys.readouterr().err.splitlines()] == [
        "nightly:", "monthly:"
    ]  # fmt: skip


@pytest.mark.parametrize("cron", ["0 2 31 2 *", "0 2 30 2 1", "two o'clock"])
def test_a_schedule_that_never_comes_is_refused(cron: str) -> None:
    with pytest.raises(ConfigurationError, match="is no time that ever comes"):
        next_at(cron, "Europe/Zurich")
    assert next_at("0 2 29 2 *", "Europe/Zurich").endswith("-02-29 02:00")


def test_status_says_whether_the_key_given_opens_the_vault(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status(place / "radcal.toml", Output())
    assert "vault key: opens this workspace's vault" in capsys.readouterr().out
    replace_key(site(place).vault_path, Key.of(KEY), Key.of(new_key()))
    Site.forget()
    status(place / "radcal.toml", Output())
    told = capsys.readouterr().out
    assert "vault key: vault.sqlite: the key given is not this vault's key" in told


def test_stage_state_says_nothing_of_what_cannot_be_known_yet(place: Path) -> None:
    configured(place, "[pairing]\nmin_age_years = 21\n")
    last = outlook(site(place)).stages[-1]
    assert dataclasses.astuple(last)[2:4] == (None, None)
    assert last.why[0] == "de-identify has work to do"
