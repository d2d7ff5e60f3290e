"""A small run needs no server; how any run ended is told alike by process, record and metric."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from pipeline.cli.common import Output
from pipeline.cli.run import _called, _end, _whole_job
from pipeline.errors import ConfigurationError, GateFailedError, StorageError
from pipeline.flows import nightly
from pipeline.run import server
from pipeline.run.books import last_run
from pipeline.run.rehearsal import is_fit, is_small, rehearse
from pipeline.run.run import Run
from pipeline.run.shield import Stopped
from pipeline.site.site import Site
from pipeline.stages import ingest
from pipeline.vault.audit_log import AuditLog
from pipeline.vault.key import new_key
from tests.e2e.commands import here

HEAD = "accession,patient_id,reader_id,modality,exam_name,performed_at,signed_at,status,patient_age_years,text"  # noqa: E501


def pair(i: int, text: str = "Impression: Likely pneumonia.") -> list[str]:
    return [
        f"X{i},M{i},KS1,XR,XR CHEST,2026-03-04T10:00,2026-03-04T11:00,final,50,{text}",
        f"C{i},M{i},KS2,CT,CT CHEST,2026-03-04T14:00,2026-03-04T15:00,final,50,"
        "Impression: Pneumonia.",
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("RADCAL_VAULT_KEY_FILE", raising=False)
    monkeypatch.setenv("RADCAL_VAULT_KEY", new_key())
    (tmp_path / "radcal.toml").write_text('[input]\npaths = ["ris.csv"]\n')
    write(tmp_path, *(line for i in range(3) for line in pair(i)))
    return tmp_path


def write(folder: Path, *lines: str) -> None:
    (folder / "ris.csv").write_text("\n".join([HEAD, *lines]))
    Site.forget()


def ended(folder: Path) -> tuple[int | None, str, str]:
    """Give how the record and the metrics tell the end of a run."""
    last = last_run(folder / "workspace")
    assert last is not None
    metrics = (folder / "workspace/metrics/radcal.prom").read_text().splitlines()
    told = dict(line.split(" ") for line in metrics if line.startswith("radcal_run_"))
    return last.exit_code, told["radcal_run_exit_code"], told["radcal_run_success"]


def entry(folder: Path) -> dict[str, Any]:
    """Give the details of the audit log's last entry, which must be a run's."""
    *_, last = AuditLog(folder / "workspace" / "audit.jsonl").entries()
    assert last["event"] == "run"
    details = last["details"]
    assert isinstance(details, dict)
    return details


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_given: object, **_named: object) -> None:
        pytest.fail("a server was started")

    monkeypatch.setattr(server, "_started", refused)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")  # nobody answers there


@pytest.mark.usefixtures("no_server")
def test_small_run_asks_no_server_and_ends_with_nought(folder: Path) -> None:
    done = nightly.fn(str(folder / "radcal.toml"))
    assert (done.pairs, done.exit_code) == (3, 0)
    assert ended(folder) == (0, "0.0", "1.0")


@pytest.mark.usefixtures("no_server")
def test_a_runs_entry_holds_its_counts_and_what_it_was_made_of(folder: Path) -> None:
    done = nightly.fn(str(folder / "radcal.toml"))
    told, manifest = entry(folder), Path(done.manifest).read_bytes()
    assert told["outcome"] == "gathered"
    assert told["manifest"] == hashlib.sha256(manifest).hexdigest()
    assert told["config_hash"] == json.loads(manifest)["config_hash"]
    assert (told["counts"]["rows_in"], told["counts"]["pairs"]) == (6, 3)
    write(folder, *pair(1), *pair(2), *pair(3))
    nightly.fn(str(folder / "radcal.toml"))
    assert entry(folder)["inputs"] != told["inputs"]


@pytest.mark.usefixtures("no_server")
def test_input_set_aside_is_code_three_everywhere(folder: Path) -> None:
    write(folder, *pair(1), pair(2)[0].replace(",XR,", ",MG,"))
    done = nightly.fn(str(folder / "radcal.toml"))
    assert done.exit_code == 3
    assert done.reading_notes["unknown modality MG"] == 1
    assert ended(folder) == (3, "3.0", "1.0")


@pytest.mark.usefixtures("no_server")
def test_failed_gate_is_code_four_everywhere(folder: Path) -> None:
    write(folder, pair(1)[0])
    with pytest.raises(GateFailedError):
        nightly.fn(str(folder / "radcal.toml"))
    assert ended(folder) == (4, "4.0", "0.0")


@pytest.mark.usefixtures("no_server")
def test_a_run_of_which_no_exam_is_kept_is_refused_at_the_gates_and_says_why(folder: Path) -> None:
    write(folder, pair(1)[0].replace(",XR,XR ", ",MR,MR "))
    with pytest.raises(GateFailedError, match="No exam in 1 rows; set aside: unknown_modality 1"):
        nightly.fn(str(folder / "radcal.toml"))
    assert ended(folder) == (4, "4.0", "0.0")


@pytest.mark.usefixtures("no_server")
def test_all_that_is_unfit_is_refused_before_anything_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "logo.png").write_bytes(b"no picture")
    (folder / "radcal.toml").write_text(
        '[input]\npaths = ["gone.csv"]\n[reports]\nlogo = "logo.png"\n'
    )
    Site.forget()
    monkeypatch.setattr(ingest.Ingest, "do", lambda *_: pytest.fail("a source was read"))
    with pytest.raises(ConfigurationError, match=r"(?s)logo.*no file matches gone\.csv"):
        nightly.fn(str(folder / "radcal.toml"))
    assert ended(folder) == (2, "2.0", "0.0")
    (entry,) = map(json.loads, (folder / "workspace/audit.jsonl").read_text().splitlines())
    assert entry["event"] == "run refused"
    assert entry["details"]["outcome"] == "logo, sources"


@pytest.mark.usefixtures("no_server")
def test_what_may_pass_is_tried_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.run.runners.time.sleep", lambda _: None)
    tries, do = [], ingest.Ingest.do

    def flaky(*given: object) -> object:
        tries.append(1)
        if len(tries) < 3:
            raise OSError
        return do(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(ingest.Ingest, "do", flaky)
    assert nightly.fn(str(folder / "radcal.toml")).pairs == 3
    assert len(tries) == 3


def test_a_large_export_a_query_and_a_model_are_not_small(folder: Path) -> None:
    path = folder / "radcal.toml"
    site = Site.open(str(path))
    assert is_small(site)
    assert is_fit(site)
    (folder / "ris.csv").write_text("x" * (5 * 2**20))
    assert not is_small(site)
    write(folder, *pair(1))
    for text in (
        '[input]\nformat = "sql"\nquery = "SELECT 1"\n',
        '[input]\npaths = ["ris.csv"]\n[execution]\ndask_address = "tcp://scheduler:8786"\n',
        '[input]\npaths = ["ris.csv"]\n[execution]\norchestrated = "always"\n',
        '[input]\npaths = ["ris.csv"]\n[extraction]\nengine = "server"\nmodel = "m"\n'
        'server_url = "http://127.0.0.1:9"\n',
    ):
        path.write_text(text)
        Site.forget()
        assert not is_small(Site.open(str(path)))


def test_what_leads_a_run_loads_nothing_that_only_its_workers_use(folder: Path) -> None:
    program = (
        "import sys; import pipeline.flows; from pipeline.site.site import Site; "
        f"Site.open({str(folder / 'radcal.toml')!r}).engine.version; "
        "print(*sorted({'spacy', 'sqlalchemy', 'aiohttp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == []


def test_a_large_demonstration_without_a_hospital_says_why(folder: Path) -> None:
    command = [sys.executable, "-c", "from pipeline.cli import main; main()", "demo"]
    options = ["--out", str(folder / "demo"), "--department", str(folder / "nowhere.toml")]
    environment = {k: v for k, v in os.environ.items() if k != "PREFECT_API_URL"}
    done = subprocess.run([*command, *options], capture_output=True, check=False, env=environment)
    assert done.returncode == 2
    assert b"nowhere.toml" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_demonstration_in_german_is_german_from_its_first_page(folder: Path) -> None:
    asked = ("demo", "--out", folder / "demo", "--pairs", 40, "--readers", 2)
    done = here(*asked, "--language", "de")
    assert done.code == 0, done.err
    (review,) = (folder / "demo/workspace/delivery").glob("*/committee/review.html")
    page = review.read_text(encoding="utf-8")
    assert '<html lang="de' in page
    assert "simulierte Befunde" in page


@pytest.mark.usefixtures("no_server")
def test_the_end_of_a_run_tells_what_was_set_aside_in_a_line_and_no_empty_count(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = nightly.fn(str(folder / "radcal.toml"))
    _end(done, folder / "radcal.toml", Output())
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["outcome: gathered", "pairs: 3", "observations: 3", "set aside: nothing"]
    assert not [line for line in lines if line.endswith((": 0", ": none"))]
    write(
        folder,
        *pair(0),
        *pair(1),
        *pair(2),
        "X9,M9,KS1,XR,XR CHEST,someday,,final,50,Impression: Clear.",
    )
    done = nightly.fn(str(folder / "radcal.toml"))
    with pytest.raises(typer.Exit) as ended:
        _end(done, folder / "radcal.toml", Output())
    assert ended.value.exit_code == 3
    assert "set aside: rows 1" in capsys.readouterr().out.splitlines()
    with pytest.raises(typer.Exit):
        _end(done, folder / "radcal.toml", Output(as_json=True))
    told = json.loads(capsys.readouterr().out)
    assert (told["quarantined"], told["withheld"], told["contradictory"]) == (1, 0, 0)


@pytest.mark.usefixtures("no_server")
def test_pairs_without_a_reader_are_named_where_they_leave_nothing(folder: Path) -> None:
    write(folder, *(line.replace("KS1", "").replace("KS2", "") for line in pair(0)))
    with pytest.raises(GateFailedError, match="Left out of 1 pairs: no reader is named 1"):
        nightly.fn(str(folder / "radcal.toml"))


@pytest.mark.usefixtures("no_server")
def test_what_is_left_out_for_want_of_a_reader_is_counted_at_the_end_with_its_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, *pair(0), *pair(1), *(line.replace("KS1", "") for line in pair(2)))
    done = nightly.fn(str(folder / "radcal.toml"))
    _end(done, folder / "radcal.toml", Output())
    remedy = "[input.columns] reader_id, for messages [input.hl7] reader"
    told = f"left out: no reader is named (say where exams name their reader: {remedy}) 1"
    assert told in capsys.readouterr().out.splitlines()
    _end(done, folder / "radcal.toml", Output(as_json=True))
    assert json.loads(capsys.readouterr().out)["left_out"] == {"no reader is named": 1}


@pytest.mark.usefixtures("no_server")
def test_an_export_that_stays_away_one_night_delivers_nothing_and_is_named(folder: Path) -> None:
    config = folder / "radcal.toml"
    nightly.fn(str(config))
    whole = (folder / "ris.csv").read_text()
    for _ in range(2):  # a refused run is none to compare with
        write(folder, *pair(0), *pair(1))
        with pytest.raises(GateFailedError) as stopped:
            nightly.fn(str(config))
        assert "33.33\u00a0% (2 of 6); sources: 1 (then 1), required at most 10" in str(
            stopped.value
        )
        assert "If its exams are gone for good, run once with [input] max" in str(stopped.value)
    (folder / "ris.csv").write_text(whole)
    Site.forget()
    assert nightly.fn(str(config)).pairs == 3


@pytest.mark.usefixtures("no_server")
def test_reports_in_another_language_are_not_read_and_stop_the_run(folder: Path) -> None:
    config = str(folder / "radcal.toml")
    write(folder, *(line for i in range(3) for line in pair(i, "Kein Pneumothorax. Herz normal.")))
    found = {each.subject: each for each in rehearse(Site.open(config)).findings}
    assert found["language"].state == "fault"
    assert found["language"].told.startswith("3 of 6 reports are not in English")
    with pytest.raises(GateFailedError, match=r"50.00.*Reports not read: not in English 3\."):
        nightly.fn(config)


@pytest.mark.usefixtures("no_server")
@pytest.mark.parametrize("left", ["", '{"state": "en', '{"last_good": 7}', "[]"])
def test_a_damaged_record_of_the_last_run_is_not_a_first_run(folder: Path, left: str) -> None:
    config, runs = folder / "radcal.toml", folder / "workspace" / "runs"
    nightly.fn(str(config))
    write(folder, *pair(0), *pair(1))
    (runs / "last.json").write_text(left)
    told = here("status", "radcal.toml", cwd=folder)
    assert "last run: gathered; a later record, runs/last.json, is damaged or gone" in told.out
    with pytest.raises(GateFailedError, match=r"33.33.*\(2 of 6\)"):
        nightly.fn(str(config))
    for name in ("last.json", "ended.json"):
        (runs / name).write_text(left)
    assert "its record cannot be read" in here("status", "radcal.toml", cwd=folder).out
    for _ in range(2):
        with pytest.raises(StorageError, match=r"or delete both, and the next run compares"):
            nightly.fn(str(config))
    for name in ("last.json", "ended.json"):
        (runs / name).unlink()
    assert nightly.fn(str(config)).pairs == 2


@pytest.mark.usefixtures("no_server")
@pytest.mark.parametrize(("limit", "counted"), [("0.4", ["33.33\u00a0% (2 of 6)"]), ("0", [])])
def test_fewer_exams_within_the_limit_are_counted_and_hold_nothing_up(
    folder: Path, limit: str, counted: list[str]
) -> None:
    config = folder / "radcal.toml"
    config.write_text(f'[input]\npaths = ["ris.csv"]\nmax_missing_share = {limit}\n')
    nightly.fn(str(config))
    write(folder, *pair(0), *pair(1))
    gates = json.loads(Path(nightly.fn(str(config)).manifest).read_text())["gates"]
    found = [
        gate["found"] for gate in gates if gate["name"].startswith("exams that the last good run")
    ]
    assert [each.partition(";")[0] for each in found] == counted
    again = json.loads(Path(nightly.fn(str(config)).manifest).read_text())["gates"]
    assert [
        gate["found"][:4]
        for gate in again
        if gate["name"].startswith("exams that the last good run")
    ] == (["0.00"] if counted else [])


@pytest.mark.usefixtures("no_server")
def test_a_copy_of_an_export_neither_adds_exams_nor_stands_in_for_one_that_is_gone(
    folder: Path,
) -> None:
    config, copy, other = folder / "radcal.toml", folder / "ris (2).csv", folder / "south.csv"
    config.write_text('[input]\npaths = ["*.csv"]\nmax_missing_share = 0.1\n')
    copy.write_text((folder / "ris.csv").read_text())
    nightly.fn(str(config))
    copy.unlink()
    Site.forget()
    assert nightly.fn(str(config)).pairs == 3, "six exams are there as before"
    write(folder, *pair(3), *pair(4))
    other.write_text((folder / "ris.csv").read_text())
    write(folder, *pair(0), *pair(1))
    Site.forget()
    nightly.fn(str(config))
    other.write_text((folder / "ris.csv").read_text())
    Site.forget()
    with pytest.raises(GateFailedError, match=r"50.00.*\(4 of 8\)"):
        nightly.fn(str(config))


def test_a_configuration_error_is_told_to_whom_it_names_and_kept_as_the_last_run(
    folder: Path,
) -> None:
    config, told = folder / "radcal.toml", folder / "told.json"
    notify = f'[notify]\ncommand = ["tee", "{told}"]\n'
    config.write_text(f'[input]\npaths = ["ris.csv"]\n{notify}[execution]\nworkers = 0\n')
    for run in (lambda: here("run", config).code, lambda: refused(config)):
        assert run() == 2
        assert ended(folder) == (2, "2.0", "0.0")
        assert "execution.workers" in json.loads(told.read_text())["message"]
        told.unlink()
        (folder / "workspace/runs/last.json").unlink()


def refused(config: Path) -> int:
    """Run as a schedule does, without the command."""
    with pytest.raises(ConfigurationError) as error:
        nightly.fn(str(config))
    return error.value.exit_code


@pytest.mark.parametrize("faulty", ["[notify]\nurl = 1\n[pairing]\nx = 1\n", "[input\n"])
def test_a_configuration_that_does_not_say_whom_to_tell_is_refused_all_the_same(
    folder: Path, faulty: str
) -> None:
    (folder / "radcal.toml").write_text(faulty)
    assert here("run", folder / "radcal.toml").code == 2
    assert not (folder / "workspace").exists()


@pytest.mark.parametrize(
    ("called", "on_path", "told"),
    [
        (".venv/bin/radcal", False, ".venv/bin/radcal"),
        ("/usr/bin/radcal", True, "radcal"),
        ("-c", False, "radcal"),
    ],
)
def test_the_next_command_is_named_as_it_can_be_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, called: str, on_path: bool, told: str
) -> None:
    if on_path:
        (tmp_path / "radcal").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [called])
    assert _called() == told


def test_a_run_that_the_system_stops_tells_whom_it_should_and_its_books(folder: Path) -> None:
    with (folder / "radcal.toml").open("a") as config:
        config.write(f'[notify]\ncommand = ["tee", "{folder}/notice.json"]\n')
    run = Run(str(folder / "radcal.toml"))
    run.site.workspace.prepare()
    with pytest.raises(Stopped), run.reported():
        os.kill(os.getpid(), signal.SIGTERM)
    assert ended(folder) == (1, "1.0", "0.0")
    assert "interrupted by SIGTERM" in json.loads((folder / "notice.json").read_text())["message"]
    assert '"outcome":"Stopped"' in (folder / "workspace" / "audit.jsonl").read_text()


@pytest.mark.usefixtures("no_server")
def test_a_run_that_is_stopped_before_it_began_is_told_as_one_under_way(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nightly.fn(str(folder / "radcal.toml"))
    with (folder / "radcal.toml").open("a") as config:
        config.write(f'[notify]\ncommand = ["tee", "{folder}/notice.json"]\n')
    monkeypatch.delenv("PREFECT_API_URL")
    monkeypatch.setattr(
        "pipeline.cli.run._needs_no_server", lambda _: signal.raise_signal(signal.SIGTERM)
    )
    with pytest.raises(Stopped):
        _whole_job(folder / "radcal.toml", None, quiet=True, pages=False)
    assert ended(folder) == (1, "1.0", "0.0")
    assert "interrupted by SIGTERM" in json.loads((folder / "notice.json").read_text())["message"]


def test_status_tells_of_the_last_run_beside_a_damaged_vault(folder: Path) -> None:
    nightly.fn(str(folder / "radcal.toml"))
    os.truncate(folder / "workspace" / "raw" / "vault.sqlite", 5000)
    Site.forget()
    told = here("status", "radcal.toml", cwd=folder)
    assert (told.code, "Restore its newest copy" in told.err) == (2, True)
    assert "vault key: vault.sqlite: not a vault of this program" in told.out
    assert "last run: gathered" in told.out
