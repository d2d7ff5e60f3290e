"""Return sheets: read back, checked, kept, and heeded by the next run."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pikepdf
import pytest

from calibration.survey import builtin
from pipeline.cli.common import Output
from pipeline.cli.returns import record, returns
from pipeline.errors import InputError
from pipeline.pages.content import returned_of
from pipeline.run.pruning import keep_list
from pipeline.site.site import Site
from pipeline.stages.tally import about_cases
from pipeline.stages.tally import answers as answered
from pipeline.tables.observations import RETURNED_NOT_APPLICABLE, RETURNED_WRONG, Labelling, observe
from reports.content import Case
from reports.drawing.marks import Box, Drawing, Text
from reports.drawing.pdf import DocumentInfo, to_pdf
from reports.drawing.style import Style
from reports.pages import radiologist
from reports.pages.radiologist.later import case_table
from reports.pages.return_sheet import build
from reports.strings import Strings
from tests.e2e.commands import here
from tests.fixtures.reports import sample_contents as samples

PAIRS = pd.DataFrame(
    {
        "xr_study_code": ["S-X1", "S-X2", "S-X3"],
        "ct_study_code": ["S-C1", "S-C2", "S-C3"],
        "xr_exam_key": ["x1", "x2", "x3"],
        "ct_exam_key": ["c1", "c2", "c3"],
        "patient_code": ["P1", "P2", "P3"],
        "reader_code": ["R-A", "R-A", "R-B"],
        "interval_hours": [1.0, 2.0, 3.0],
        "patient_class": ["inpatient"] * 3,
        "age_band": ["40-59"] * 3,
        "patient_sex": ["female"] * 3,
        "site_code": ["T-23AB"] * 3,
        "performed_month": ["2026-09"] * 3,
        "draft": ["no other author named"] * 3,
    }
)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "radcal.toml"
    path.write_text('[input]\npaths = ["a.csv"]\n')
    store = Site.open(str(path)).workspace
    store.prepare()
    store.write("analysis", "pairs", "k", PAIRS)
    said = [(exam, finding) for exam in ("x1", "x2", "x3") for finding in ("effusion", "edema")]
    rows = pd.DataFrame(said, columns=["exam_key", "pathology"])
    store.write("analysis", "report_findings", "k", rows)
    return path


def sheet(folder: Path, *answered: tuple[int, str, str], name: str = "return.csv") -> Path:
    """Fill in a sheet as a reader would: (case number, pathology, answer)."""
    cases = tuple(
        Case(f"S-X{i}", f"S-C{i}", pathology, "likely", "absent", showed=False)
        for i, pathology, _ in answered
    )
    header, *rows = build(cases, words=Strings.load()).bytes().decode("utf-8-sig").splitlines()
    filled = [f"{row[:-1]}{answer}," for row, (_, _, answer) in zip(rows, answered, strict=True)]
    path = folder / name
    path.write_text("\n".join([header, *filled]) + "\n")
    return path


def answers(config: Path) -> dict[tuple[str, str], str]:
    rows = answered(Site.open(str(config)).workspace)
    return {(r.pair_id, r.pathology): r.answer for r in rows.itertuples()}


def test_answers_are_kept_with_their_reader_and_empty_ones_are_none(
    config: Path, tmp_path: Path
) -> None:
    path = sheet(tmp_path, (1, "effusion", "Wrong pair"), (2, "effusion", ""))
    told = record(Site.open(str(config)), [path])
    assert told.sheets_recorded == 1
    assert told.answers == {"wrong pair": 1}
    assert answers(config) == {("S-X1:S-C1", "effusion"): "wrong pair"}


def test_same_sheet_twice_counts_once_and_a_later_one_decides(config: Path, tmp_path: Path) -> None:
    first = sheet(tmp_path, (1, "effusion", "wrong pair"))
    later = sheet(tmp_path, (1, "effusion", "concordant"), name="again.csv")
    record(Site.open(str(config)), [first])
    assert record(Site.open(str(config)), [first]).sheets_recorded == 0
    record(Site.open(str(config)), [later])
    assert answers(config) == {("S-X1:S-C1", "effusion"): "concordant"}


def test_sheet_sent_again_after_another_is_a_new_answer(config: Path, tmp_path: Path) -> None:
    wrong = sheet(tmp_path, (1, "effusion", "wrong pair"), name="a.csv")
    right = sheet(tmp_path, (1, "effusion", "concordant"), name="b.csv")
    site = Site.open(str(config))
    record(site, [wrong])
    record(site, [right])
    before = site.workspace.keys("analysis", "returns")
    again = here("returns", wrong, "--config", config)
    assert "sheets recorded: 1" in again.out
    assert "answers wrong pair: 1" in again.out
    assert answers(config) == {("S-X1:S-C1", "effusion"): "wrong pair"}
    assert site.workspace.keys("analysis", "returns") != before, "the next run would not see it"
    known = here("returns", wrong, "--config", config)
    assert "sheets known already: 1" in known.out
    assert "answers" not in known.out.replace("the last answers stand", "")


def test_all_sheets_of_a_folder_given_again_change_no_answer(config: Path, tmp_path: Path) -> None:
    site = Site.open(str(config))
    corrected = sheet(tmp_path, (1, "effusion", "concordant"), name="a.csv")
    first = sheet(tmp_path, (1, "effusion", "wrong pair"), name="b.csv")
    record(site, [first])
    record(site, [corrected])
    told = record(site, sorted(tmp_path.glob("*.csv")))
    assert (told.sheets_recorded, told.sheets_known_already, told.answers) == (0, 2, {})
    assert answers(config) == {("S-X1:S-C1", "effusion"): "concordant"}


def test_sheet_recorded_again_after_its_damage_is_the_last_word(
    config: Path, tmp_path: Path
) -> None:
    store = Site.open(str(config)).workspace
    given = ("wrong pair", "discordant", "concordant")
    sheets = [
        sheet(tmp_path, (1, "effusion", answer), name=f"{n}.csv") for n, answer in enumerate(given)
    ]
    for path in sheets:
        before = set(store.keys("analysis", "returns"))
        record(Site.open(str(config)), [path])
        (name,) = set(store.keys("analysis", "returns")) - before
        if path == sheets[0]:
            damaged = name
    (store.root / "analysis" / "returns" / f"{damaged}.parquet").unlink()
    record(Site.open(str(config)), [sheets[0]])
    assert answers(config) == {("S-X1:S-C1", "effusion"): "wrong pair"}
    record(Site.open(str(config)), [sheets[2]])
    assert answers(config) == {("S-X1:S-C1", "effusion"): "concordant"}
    numbers = store.read("analysis", "returns", store.keys("analysis", "returns"))["sequence"]
    assert numbers.is_unique


@pytest.mark.parametrize("key", ["a", "z"])
def test_delivered_sheet_is_taken_when_a_case_has_gone_to_a_colleague_since(
    config: Path, tmp_path: Path, key: str
) -> None:
    store = Site.open(str(config)).workspace
    store.write("analysis", "pairs", key, PAIRS.assign(reader_code=["R-B", "R-A", "R-B"]))
    both = sheet(tmp_path, (1, "effusion", "concordant"), (2, "effusion", "concordant"))
    record(Site.open(str(config)), [both])
    assert set(answered(store)["reader_code"]) == {"R-A"}
    mixed = sheet(tmp_path, (2, "effusion", "concordant"), (3, "effusion", "wrong pair"))
    with pytest.raises(InputError, match="belong to 2 readers"):
        record(Site.open(str(config)), [mixed])


@pytest.mark.parametrize("key", ["a", "z"])
def test_sheet_that_fits_two_readers_goes_to_whom_the_last_run_gave_it(
    config: Path, tmp_path: Path, key: str
) -> None:
    store = Site.open(str(config)).workspace
    store.write("analysis", "pairs", key, PAIRS.assign(reader_code=["R-N", "R-N", "R-B"]))
    keep_list(store.root / "runs" / "r", [f"analysis/pairs/{key}.parquet"])
    (store.root / "runs" / "last.json").write_text(json.dumps({"last_run": "r"}))
    record(Site.open(str(config)), [sheet(tmp_path, (1, "effusion", "wrong pair"))])
    assert set(answered(store)["reader_code"]) == {"R-N"}


def test_upgrade_keeps_recorded_answers_and_takes_sheets_that_are_still_out(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as former:
        former.setattr("pipeline.store.objects.SCHEMA_VERSION", "0")
        Site.open(str(config)).workspace.write("analysis", "pairs", "k", PAIRS)
        record(Site.open(str(config)), [sheet(tmp_path, (1, "effusion", "Wrong pair"))])
    assert answers(config) == {("S-X1:S-C1", "effusion"): "wrong pair"}
    still_out = sheet(tmp_path, (2, "effusion", "Concordant"), name="late.csv")
    assert record(Site.open(str(config)), [still_out]).sheets_recorded == 1
    assert len(answers(config)) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,2\n", "return.csv: return sheet: column"),
        ("xray_code,ct_code,pathology,you_wrote,ct_said,answer\nS-X1,S-C1,effusion,l,a,maybe\n",
         "1 of 1 rows cannot be read; first at line 2"),
        ("xray_code,ct_code,pathology,you_wrote,ct_said,answer\nS-X1,S-C1,effusion,l,a,\n",
         "no case is answered"),
        ("xray_code,ct_code,pathology,you_wrote,ct_said,answer\nS-X9,S-C1,edema,l,a,wrong pair\n",
         "1 of 1 answers are not about pairs or readers of this workspace"),
        ("xray_code,ct_code,pathology,you_wrote,ct_said,answer\nS-X1,S-C1,effusion,l,a,wrong pair\n"
         "S-X3,S-C3,effusion,l,a,wrong pair\n", "belong to 2 readers"),
        ("xray_code,ct_code,pathology,you_wrote,ct_said,answer\nS-X1,S-C1,effusion,l,a,wrong pair\n"
         "S-X1,S-C1,effusion,l,a,concordant\n", "1 of 2 cases are answered twice"),
    ],
)  # fmt: skip
def test_bad_sheet_is_refused_by_name_and_nothing_of_the_batch_is_recorded(
    config: Path, tmp_path: Path, content: str, said: str
) -> None:
    good = sheet(tmp_path, (2, "effusion", "wrong pair"), name="good.csv")
    bad = tmp_path / "return.csv"
    bad.write_text(content)
    with pytest.raises(InputError, match=said):
        record(Site.open(str(config)), [good, bad])
    assert answers(config) == {}


CANARY = "CANARY Mrs Jane Doe MRN 4711"


def test_name_typed_for_a_finding_is_refused_unquoted_and_nothing_is_kept(
    config: Path, tmp_path: Path
) -> None:
    typed = sheet(tmp_path, (1, "edema", "wrong pair"), (2, CANARY, "wrong pair"))
    with pytest.raises(InputError, match=r"return\.csv: 1 of its answers .* finding") as caught:
        record(Site.open(str(config)), [typed])
    assert "Jane" not in str(caught.value)
    assert answers(config) == {}


def test_finding_of_another_case_is_refused_since_it_would_leave_nothing_out(
    config: Path, tmp_path: Path
) -> None:
    elsewhere = pd.DataFrame([("x9", "pneumonia")], columns=["exam_key", "pathology"])
    Site.open(str(config)).workspace.write("analysis", "report_findings", "o", elsewhere)
    with pytest.raises(InputError, match="1 of its answers"):
        record(Site.open(str(config)), [sheet(tmp_path, (1, "pneumonia", "not applicable"))])


@pytest.mark.parametrize("at", [0, 2, 3, 4])
@pytest.mark.parametrize("answer", ["agree", ""])
def test_name_typed_for_a_swap_is_refused_on_the_sheet_with_words_or_without(
    config: Path, tmp_path: Path, at: int, answer: str
) -> None:
    cells = ["R-A", "", "pneumonia", "likely", "present"]
    path = tmp_path / "return.csv"
    head = "xray_code,ct_code,pathology,you_wrote,ct_said,answer,words\n"
    path.write_text(head + ",".join([*cells, answer, "why"]) + "\n")
    record(Site.open(str(config)), [path])
    cells[at] = CANARY
    path.write_text(head + ",".join([*cells, answer, "why"]) + "\n")
    with pytest.raises(InputError, match="answers are") as caught:
        record(Site.open(str(config)), [path])
    assert "Jane" not in str(caught.value)


def test_swap_in_one_finding_that_a_german_page_asked_about_is_kept_as_the_site_calls_it(
    config: Path, tmp_path: Path
) -> None:
    path = tmp_path / "return.csv"
    head = "xray_code,ct_code,pathology,you_wrote,ct_said,answer,words\n"
    path.write_text(f"{head}R-A,,Pneumonie,likely,present,agree,\n")
    record(Site.open(str(config)), [path])
    rows = answered(Site.open(str(config)).workspace)
    assert rows["pathology"].map(json.loads).tolist() == [["likely", "pneumonia", "present"]]


def test_name_put_into_a_page_s_form_is_refused(config: Path, tmp_path: Path) -> None:
    page = ticked(tmp_path, "discordant")
    with pikepdf.open(page, allow_overwriting_input=True) as pdf:
        about = json.loads(str(pdf.Root.AcroForm.Fields[0]["/TM"]))
        pdf.Root.AcroForm.Fields[0]["/TM"] = json.dumps([*about[:2], CANARY, *about[3:]])
        pdf.save(page)
    with pytest.raises(InputError, match="1 of its answers"):
        record(Site.open(str(config)), [page])


def test_missing_sheet_is_named(config: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: cannot be read"):
        record(Site.open(str(config)), [tmp_path / "none.csv"])


def test_wrong_pair_leaves_out_all_its_cases_and_not_applicable_only_its_own() -> None:
    said = pd.DataFrame(
        [
            (key, pathology, phrase, "stated")
            for key, phrase in (("x1", "likely"), ("c1", "present"), ("x2", "likely"),
                                ("c2", "absent"), ("x3", "likely"), ("c3", "absent"))
            for pathology in ("effusion", "edema")
        ],
        columns=["exam_key", "pathology", "phrase", "outcome"],
    )  # fmt: skip
    readings = pd.DataFrame({"exam_key": ["x1", "c1", "x2", "c2", "x3", "c3"], "outcome": "read"})
    returned = pd.DataFrame(
        {
            "pair_id": ["S-X1:S-C1", "S-X2:S-C2", "S-X3:S-C3"],
            "pathology": ["effusion", "edema", "edema"],
            "answer": ["wrong pair", "not applicable", "discordant"],
        }
    )
    found = observe(
        PAIRS,
        said,
        readings,
        labelling=Labelling(builtin("diagnostic-certainty-scale")),
        returned=returned,
    )
    kept = set(zip(found.observations["pair_id"], found.observations["pathology"], strict=True))
    assert kept == {
        ("S-X2:S-C2", "effusion"), ("S-X3:S-C3", "effusion"), ("S-X3:S-C3", "edema"),
    }  # fmt: skip
    assert found.left_out[RETURNED_WRONG] == 2
    assert found.left_out[RETURNED_NOT_APPLICABLE] == 1


def test_command_reads_sheets_and_a_bad_one_ends_with_its_exit_code(
    config: Path, tmp_path: Path
) -> None:
    good = sheet(tmp_path, (1, "effusion", "not applicable"))
    done = here("returns", good, "--config", config)
    assert done.code == 0, done.err
    assert "answers not applicable: 1" in done.out
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"\xff\xfe")
    refused = here("returns", bad, "--config", config)
    assert refused.code == 2
    assert refused.err.startswith("radcal: bad.csv: return sheet: column(s) X-ray, CT, Finding")


def ticked(folder: Path, answer: str, *, lock: str | None = None) -> Path:
    """Tick a feedback page's first case (S-X1, effusion) on the screen and save it, as a reader."""
    case = Case("S-X1", "S-C1", "effusion", "likely", "absent", showed=False)
    drawing = Drawing(600.0, 800.0)
    table = case_table((case,), words=Style().strings)
    table.draw(drawing, Box(40.0, 40.0, 500.0, table.height(500.0)))
    page = to_pdf([drawing], info=DocumentInfo("page", "hospital", "test"))
    path = folder / "feedback.pdf"
    with pikepdf.open(io.BytesIO(page)) as pdf:
        pdf.Root.AcroForm.Fields[0]["/V"] = pikepdf.Name(f"/{answer}")
        locked = {"encryption": pikepdf.Encryption(user=lock, owner="owner", R=6)} if lock else {}
        pdf.save(path, **locked)
    return path


def test_a_page_ticked_on_the_screen_is_read_like_a_sheet(config: Path, tmp_path: Path) -> None:
    told = record(Site.open(str(config)), [ticked(tmp_path, "wrong pair")])
    assert told.answers == {"wrong pair": 1}
    assert answers(config) == {("S-X1:S-C1", "effusion"): "wrong pair"}
    counted = returned_of(answered(Site.open(str(config)).workspace))
    assert (counted.wrong_pair, counted.left_out, counted.total) == (1, 1, 1)


def test_a_locked_page_opens_by_its_passphrase_and_by_no_other(
    config: Path, tmp_path: Path
) -> None:
    page = ticked(tmp_path, "discordant", lock="correct horse battery")
    with pytest.raises(InputError, match="no known passphrase opens it"):
        record(Site.open(str(config)), [page])
    secrets = tmp_path / "passphrases.csv"
    secrets.write_text("recipient,passphrase\nR-A,correct horse battery\n")
    secrets.chmod(0o600)
    config.write_text(f"{config.read_text()}[reports]\npassphrases = 'passphrases.csv'\n")
    assert record(Site.open(str(config)), [page]).answers == {"discordant": 1}


def opinion(folder: Path, reader: str, answer: str, words: str = "") -> Path:
    """Answer the first swap of a reader's page on the screen, in a tick and in words."""
    filled = samples.with_three_actions()
    head = replace(filled.masthead, recipient=reader)
    page = radiologist.build_both(replace(filled, masthead=head), style=Style())[0]
    path = folder / f"{reader}.pdf"
    with pikepdf.open(io.BytesIO(page)) as pdf:
        fields = {str(each["/T"]): each for each in pdf.Root.AcroForm.Fields}
        fields["swap1"]["/V"] = pikepdf.Name(f"/{answer}")
        fields["swap1.words"]["/V"] = pikepdf.String(words)
        pdf.save(path)
    return path


def test_an_opinion_of_a_swap_is_counted_and_its_words_are_told_but_not_kept(
    config: Path, tmp_path: Path
) -> None:
    site = Site.open(str(config))
    told = record(site, [opinion(tmp_path, "R-A", "disagree", "not after surgery")])
    assert told.answers == {"disagree": 1}
    assert [(a.reader, a.words) for a in told.words] == [("R-A", "not after surgery")]
    rows = answered(site.workspace)
    assert "not after surgery" not in rows.to_csv()
    counted = returned_of(rows)
    assert (counted.disagree, counted.swaps, counted.total) == (1, 1, 0)
    shown = replace(samples.radiologist(), returned=counted)
    page = " ".join(
        m.string
        for drawn in radiologist.pages(shown, style=Style())
        for m in drawn.marks
        if isinstance(m, Text)
    )
    assert "Of the swaps offered you agreed with 0, disagreed with 1" in page


def test_words_about_a_swap_tell_the_terminal_nothing(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = opinion(tmp_path, "R-A", "disagree", "not after\x1b]0;title\x07 surgery\u202e")
    returns([page], config, Output(as_json=True))
    (said,) = json.loads(capsys.readouterr().out)["words"]
    assert said.endswith("not after]0;title surgery")


def test_an_opinion_leaves_every_observation_in(config: Path, tmp_path: Path) -> None:
    site = Site.open(str(config))
    record(
        site, [opinion(tmp_path, "R-A", "not mine"), sheet(tmp_path, (3, "edema", "wrong pair"))]
    )
    assert about_cases(answered(site.workspace))["pair_id"].tolist() == ["S-X3:S-C3"]


def test_a_page_of_a_reader_that_nobody_knows_is_refused(config: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 of 1 answers are not about pairs or readers of this"):
        record(Site.open(str(config)), [opinion(tmp_path, "R-Z", "agree")])
