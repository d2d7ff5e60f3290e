"""`radcal check` tells what a run would meet, names nobody and writes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy
import typer
from typer.testing import CliRunner, Result

from pipeline import formats
from pipeline.cli.check import register
from pipeline.errors import ConfigurationError
from pipeline.formats.validation import REASONS
from pipeline.formats.values import data
from pipeline.site.site import Site
from pipeline.vault.key import new_key
from pipeline.vault.vault import Vault

HEAD = "accession,patient_id,reader_id,reader_name,modality,exam_code,exam_name,performed_at,signed_at,status,patient_age_years,text"  # noqa: E501
ROME = "Europe/Rome"
WHOM = '[reports]\ncontact = "office"\nreturns_by = "1 May"\n'
SECRETS = ("Zeppelin", "4711008", "KS1", "Quarantana", "Walrus")
app = typer.Typer()
register(app)


def row(i: int, **other: str) -> str:
    cells = {
        "reader": "KS1,Zeppelin^Karla", "modality": "XR", "exam": "71046,XR CHEST",
        "performed": "2026-03-04T10:00", "status": "final",
    } | other  # fmt: skip
    return (
        f"A{i},4711008{i},{cells['reader']},{cells['modality']},{cells['exam']},"
        f"{cells['performed']},2026-03-04T11:00,{cells['status']},50,Walrus seen {i}."
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("RADCAL_VAULT_KEY_FILE", raising=False)
    monkeypatch.setenv("RADCAL_VAULT_KEY", new_key())
    lines = [row(i) for i in range(20)]
    lines += [row(30 + i, modality="RAD") for i in range(4)]
    lines += [row(40, modality="Zeppelin"), row(41, status="gegengelesen"), row(42, modality="MG")]
    lines += [row(50, exam="BONE1,ANKLE"), row(51, reader="ks1,Quarantana^Q")]
    (tmp_path / "ris.csv").write_text("\n".join([HEAD, *lines]))
    (tmp_path / "radcal.toml").write_text(f'{WHOM}[input]\npaths = ["ris.csv"]\n')
    Site.forget()
    return tmp_path


def checked(folder: Path, *options: str) -> Result:
    Site.forget()
    return CliRunner().invoke(app, [str(folder / "radcal.toml"), *options])


def test_values_in_no_map_are_listed_with_counts_and_the_line_to_add(folder: Path) -> None:
    told = checked(folder)
    lines = " | ".join(" ".join(line.split()) for line in told.output.splitlines())
    assert told.exit_code == 3
    assert 'unknown modality RAD 4 [input.modalities] "RAD" = "XR" or "CT"' in lines
    assert 'unknown status gegengelesen 1 [input.statuses] "gegengelesen" = "final"' in lines
    assert "exam code BONE1, no chest exam by its name 1 exam_codes: BONE1,true" in lines
    assert "unknown modality ‹Aaaaaaaa› 1 is this the right column?" in lines
    assert "2 reader ids that differ from another in case only" in lines


@pytest.mark.parametrize(("nobody", "state", "code"), [(20, "fault", 2), (5, "note", 0)])
def test_x_rays_that_name_no_reader_are_counted_apart_from_cts(
    folder: Path, nobody: int, state: str, code: int
) -> None:
    films = [row(i, reader="," if i < nobody else "KS1,") for i in range(20)]
    cts = [row(30 + i, modality="CT", exam="71250,CT CHEST") for i in range(5)]
    (folder / "ris.csv").write_text("\n".join([HEAD, *films, *cts]))
    done = checked(folder)
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    told = f"{state} reader ids {nobody} of 20 X-rays name no reader and count for nobody; "
    assert told + "[input.columns] reader_id, for messages [input.hl7] reader" in lines
    assert done.exit_code == code


def test_all_that_is_wrong_with_the_rows_is_told_at_once_with_the_lines_that_mend_it(
    folder: Path,
) -> None:
    export = (folder / "ris.csv").read_text().replace(",final,", ",Laudado,")
    turned = re.sub(r"2026-(\d\d)-(\d\d)T(\d\d:\d\d)", r"\2/\1/2026 \3", export)
    (folder / "ris.csv").write_text(turned.replace("XR,71046", "R\\X,71046"))
    told = checked(folder).output
    assert re.search(r"of these also: .*bad_performed_at \d+", told)
    assert '[input] time_format = "%d/%m/%Y %H:%M" or [input] time_format = "%m/%d/' in told
    assert "--values shows what may be a name" in told
    assert "Laudado" not in told
    shown = checked(folder, "--values").output
    assert '[input.statuses] "Laudado" = "final"' in shown
    assert '[input.modalities] "R\\\\X" = "XR"' in shown
    (folder / "radcal.toml").write_text(
        '[input]\npaths = ["ris.csv"]\ntime_format = "%d/%m/%Y %H:%M"\n'
        '[input.statuses]\n"Laudado" = "final"\n[input.modalities]\n"R\\\\X" = "XR"\n'
    )
    assert "kept as: modality XR" in checked(folder).output


def test_every_reason_for_setting_a_row_aside_has_its_remedy_or_is_told_by_its_value() -> None:
    by_value = {"unknown_modality", "unknown_status", "bad_performed_at"}
    known = set(data("remedies")["reasons"])
    assert set(REASONS) - known == by_value
    folder = Path(formats.__path__[0])
    source = "".join(p.read_text() for p in (*folder.rglob("*.py"), folder / "remedies.toml"))
    assert all(f'"{reason}"' in source for reason in known)


def test_an_export_without_orders_is_told_the_line_that_numbers_its_reports(folder: Path) -> None:
    resource = {
        "resourceType": "DiagnosticReport", "id": "r1", "status": "final",
        "code": {"text": "XR CHEST"}, "subject": {"identifier": {"value": "P1"}},
        "effectiveDateTime": "2026-03-04T10:00:00Z", "issued": "2026-03-04T11:00:00Z",
        "basedOn": [{"reference": "ServiceRequest/o1"}], "conclusion": "Likely normal.",
    }  # fmt: skip
    (folder / "reports.ndjson").write_text(json.dumps(resource))
    config = '[input]\npaths = ["reports.ndjson"]\n'
    (folder / "radcal.toml").write_text(config)
    told = checked(folder).output
    line = '[input.fhir] orders = "none"'
    assert f"{line}, if there is none" in told
    (folder / "radcal.toml").write_text(config + '[input.fhir]\norders = "none"\n')
    assert "set aside: none" in checked(folder).output


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('chest_pattern = "chest("', "input.chest_pattern: missing )"),
        ('encoding = "latin-15"', "input.encoding: unknown encoding: latin-15"),
        ('time_format = "DD.MM.YYYY"', "`time_format`: 'DD.MM.YYYY' is none"),
        ('columns = {ACC_NO = "accession"}', 'ours stands first: accession = "ACC_NO"'),
        ('fhir = {orders = "no"}', "input.fhir.orders: the text 'no' is not 'exported' or 'none'"),
    ],
)
def test_a_wrong_option_is_refused_with_what_to_write(folder: Path, line: str, told: str) -> None:
    (folder / "radcal.toml").write_text(f'[input]\npaths = "ris.csv"\n{line}\n')
    assert told in str(checked(folder).exception)


def test_a_table_of_exam_codes_in_other_words_makes_no_exam_a_chest_exam_silently(
    folder: Path,
) -> None:
    (folder / "codes.csv").write_text("exam_code,chest\n71046,ja\nBONE1,no\n")
    (folder / "radcal.toml").write_text('[input]\npaths="ris.csv"\nexam_codes="codes.csv"\n')
    told = checked(folder)
    assert told.exit_code == ConfigurationError.exit_code
    assert (
        "in 1 row(s) the column chest is neither true nor false; first for the exam" in told.output
    )


def test_exams_of_no_modality_and_numbers_of_several_exams_are_told(folder: Path) -> None:
    rows = [row(i, modality="", exam="C9,RTG klatki") for i in range(3)]
    rows += [row(7), row(7).replace("47110087", "47110099")]
    (folder / "ris.csv").write_text("\n".join([HEAD, *rows]))
    lines = " | ".join(" ".join(line.split()) for line in checked(folder).output.splitlines())
    assert "exam C9, of no modality 3 exam_codes: C9,true,XR" in lines
    assert "unknown modality 3 [input.columns] modality, or [input] exam_codes" in lines
    assert "1 stand for several patients or times of an exam" in lines


def test_rows_of_two_readers_at_one_time_are_told_with_what_tells_them_apart(folder: Path) -> None:
    rows = [row(i, reader=who) for i in range(3) for who in ("KS1,Zeppelin^Karla", "R2,Doe^Jo")]
    (folder / "ris.csv").write_text("\n".join([HEAD, *rows]))
    told = " ".join(checked(folder).output.split())
    assert "3 reports have two readers at one time and would be left out" in told
    assert 'status = "STATUS + ROLE"' in told


def test_a_file_without_its_header_is_a_fault_however_many_stand_before_it(folder: Path) -> None:
    for n in range(8):
        head = HEAD if n != 6 else row(60)
        (folder / f"drop{n}.csv").write_text(f"{head}\n{row(n)}\n")
    (folder / "radcal.toml").write_text(f'{WHOM}[input]\npaths = ["drop*.csv"]\n')
    told = checked(folder, "--json")
    found = {each["subject"]: each["state"] for each in json.loads(told.output)["findings"]}
    assert (found["drop6.csv"], told.exit_code) == ("fault", 2)
    assert not {f"drop{n}.csv" for n in (5, 7)} & set(found)


def test_one_number_at_two_sites_is_no_doubt_of_the_column(folder: Path) -> None:
    south = [row(i).replace(",4711008", ",815") for i in range(3)]
    rows = [*(f"{row(i)},N" for i in range(3)), *(f"{each},S" for each in south)]
    (folder / "ris.csv").write_text("\n".join([f"{HEAD},site", *rows]))
    found = json.loads(checked(folder, "--json").output)["findings"]
    assert "accession numbers" not in {each["subject"] for each in found}


@pytest.mark.parametrize(
    ("zone", "mark", "is_told"),
    [("UTC", "", True), ("UTC", "Z", False), (ROME, "", False)],
)
def test_a_zone_left_at_utc_is_told_where_times_have_no_offset(
    folder: Path, zone: str, mark: str, is_told: bool
) -> None:
    export = (folder / "ris.csv").read_text().replace("T10:00", f"T10:00{mark}")
    (folder / "ris.csv").write_text(export)
    config = f'{WHOM}[input]\npaths = ["ris.csv"]\ntime_zone = "{zone}"\n'
    (folder / "radcal.toml").write_text(config)
    found = json.loads(checked(folder, "--json").output)["findings"]
    told = [each["told"] for each in found if each["subject"] == "time zone"]
    assert [each[:14] for each in told] == ["29 of 29 times"] * is_told


def test_times_under_a_name_of_another_zone_are_told_what_to_do(folder: Path) -> None:
    export = (folder / "ris.csv").read_text().replace("T10:00", "T10:00 EDT")
    (folder / "ris.csv").write_text(export)
    told = " ".join(checked(folder).output.split())
    assert "[input] time_zone has no such name for its clocks" in told


def test_the_remedy_of_a_time_is_that_of_the_one_shown(folder: Path) -> None:
    good = (folder / "ris.csv").read_text()
    (folder / "ris.csv").write_text(
        good.replace("T10:00", " soon", 1).replace("T10:00", "T10:00 EDT")
    )
    told = " ".join(checked(folder).output.split())
    assert "[input] time_format = how it is written" in told
    assert "time_zone has no such name" not in told
    day = "-31T10:00"
    (folder / "ris.csv").write_text(re.sub(r"-\d\d-\d\dT10:00", f"-02{day}", good, count=1))
    assert "others written so are read" in " ".join(checked(folder).output.split())


def test_a_tables_columns_of_which_nothing_is_read_are_named(folder: Path) -> None:
    (folder / "ris.csv").write_text(f"{HEAD},Impression\n{row(1)},Quarantana.\n")
    told = checked(folder).output
    assert "not read: the columns Impression\n" in told
    assert "Quarantana" not in told
    (folder / "ris.csv").write_text(f"{HEAD}\n{row(1)}\n")
    assert "not read" not in checked(folder).output


def test_lines_that_are_taken_for_reports_are_told_with_what_puts_them_together(
    folder: Path,
) -> None:
    rows = [row(i) + each for i in range(3) for each in ("", " Line two.", " Line three.")]
    (folder / "ris.csv").write_text("\n".join([HEAD, *rows]))
    told = " ".join(checked(folder).output.split())
    assert "3 reports have several texts at one time and would be left out" in told
    assert 'text = "LINE by LINE_NO"' in told


def test_what_is_printed_names_nobody(folder: Path) -> None:
    told = checked(folder).output
    assert "RAD" in told
    for secret in SECRETS:
        assert secret.casefold() not in told.casefold().replace(str(folder).casefold(), "")


def test_nothing_is_written(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    checked(folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_every_fault_is_told_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY", "short")
    (folder / "logo.png").write_bytes(b"no picture")
    (folder / "radcal.toml").write_text(
        '[input]\npaths = ["gone/*.csv"]\n[reports]\nlogo = "logo.png"\npassphrases = "who.csv"\n'
    )
    told = json.loads(checked(folder, "--json").output)
    faults = {each["subject"] for each in told["findings"] if each["state"] == "fault"}
    assert faults == {"vault key", "logo", "passphrases", "sources"}
    assert checked(folder).exit_code == 2


def test_key_of_another_vault_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "workspace/raw").mkdir(parents=True)
    Vault.create(folder / "workspace/raw/vault.sqlite").close()
    assert "opens this workspace's vault" in checked(folder).output
    monkeypatch.setenv("RADCAL_VAULT_KEY", new_key())
    told = checked(folder)
    assert "the key given is not this vault's key" in told.output
    assert told.exit_code == 2


def test_pages_that_could_not_be_delivered_are_a_fault_before_anything_is_read(
    folder: Path,
) -> None:
    lines = [HEAD, *(row(i) for i in range(20))]
    (folder / "ris.csv").write_text("\n".join(lines))
    assert checked(folder).exit_code == 0
    (folder / "radcal.toml").write_text('[input]\npaths = ["ris.csv"]\n')
    told = checked(folder)
    assert told.exit_code == 2
    assert "reports.contact and reports.returns_by: name whom readers answer" in told.output
    assert "ris.csv (csv): 20 rows read" in told.output


def test_messages_are_not_said_to_be_read_from_columns_of_tables(folder: Path) -> None:
    parts = ["MSH|^~\\&|R|H|R|R|20260304110000||ORU^R01|1|P|2.3", "PID|1||1^^^H^MR"]
    parts += ["OBR|1||A1|X^CHEST|||202603041000|||||||||||||||202603041100||CR|F|||||||KS1"]
    (folder / "feed.hl7").write_text("\r".join([*parts, "OBX|1|TX|GDT||Clear.||||||F"]))
    (folder / "radcal.toml").write_text(
        f'{WHOM}[input]\npaths = ["feed.hl7"]\n[input.columns]\naccession = "AUFTRAG"\n'
    )
    told = checked(folder).output
    assert "feed.hl7 (hl7v2): 1 rows read" in told
    assert "AUFTRAG" not in told


def test_folder_without_a_file_is_told(folder: Path) -> None:
    (folder / "feed").mkdir()
    (folder / "radcal.toml").write_text('[input]\npaths = ["feed"]\nformat = "hl7v2"\n')
    assert "feed holds no file" in checked(folder).output


def test_a_pattern_that_misses_its_files_is_told_how_many_lie_near(folder: Path) -> None:
    (folder / "feed/2026").mkdir(parents=True)
    (folder / "ris.csv").rename(folder / "feed/2026/ris.csv")
    (folder / "radcal.toml").write_text('[input]\npaths = ["feed/*.csv"]\n')
    told = " ".join(checked(folder).output.split())
    assert "no file matches feed/*.csv" in told
    assert "; 1 file(s) lie in" in told


def test_an_export_of_which_no_exam_would_be_kept_is_a_fault(folder: Path) -> None:
    (folder / "ris.csv").write_text("\n".join([HEAD, row(1, modality="MG")]))
    told = checked(folder)
    assert told.exit_code == 2
    assert "no exam in 1 rows read" in told.output


def test_an_old_workbook_is_refused_with_the_way_to_save_it_and_a_new_one_is_looked_at(
    folder: Path,
) -> None:
    (folder / "ris.xls").write_bytes(b"PK")
    (folder / "radcal.toml").write_text('[input]\npaths = ["ris.xls"]\n')
    assert "ris.xls: workbooks of this kind are not read" in checked(folder).output
    pd.read_csv(folder / "ris.csv", dtype=str).to_excel(folder / "ris.xlsx", index=False)
    (folder / "radcal.toml").write_text(f'{WHOM}[input]\npaths = ["ris.xlsx"]\n')
    assert "ris.xlsx" in checked(folder).output
    assert checked(folder).exit_code in (0, 3)


def test_a_query_is_asked_for_its_first_rows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"sqlite:///{folder / 'ris.sqlite'}"
    engine = sqlalchemy.create_engine(address)
    pd.read_csv(folder / "ris.csv", dtype=str).to_sql("exams", engine, index=False)
    engine.dispose()
    monkeypatch.setenv("RADCAL_SQL_URL", address)
    (folder / "radcal.toml").write_text(
        '[input]\nformat = "sql"\nquery = "SELECT * FROM exams ORDER BY accession"\n'
    )
    told = json.loads(checked(folder, "--json").output)
    assert told["sources"][0]["rows"] == 29
    assert told["sources"][0]["kept_as"]["modality"] == {"XR": 22}


def test_a_long_export_is_read_in_part_and_its_rows_are_estimated(folder: Path) -> None:
    rows = 12_000
    (folder / "ris.csv").write_text("\n".join([HEAD, *map(row, range(rows))]))
    (source,) = json.loads(checked(folder, "--json").output)["sources"]
    assert not source["whole"]
    assert source["rows"] == 5_000
    assert source["rows_in_all"] == pytest.approx(rows, rel=0.1)


@pytest.mark.parametrize(("least", "is_told"), [(18, True), (0, False)])
def test_xrays_of_unknown_age_are_counted_where_an_age_is_asked_for(
    folder: Path, least: int, is_told: bool
) -> None:
    ageless = [row(i).replace(",50,", ",,") for i in range(3)]
    (folder / "ris.csv").write_text("\n".join([HEAD, *ageless, row(9)]))
    with (folder / "radcal.toml").open("a") as config:
        config.write(f"[pairing]\nmin_age_years = {least}\n")
    output = " ".join(checked(folder).output.split())
    assert ("3 of 4 X-rays have neither an age nor a birth date" in output) == is_told


def test_a_birth_date_that_cannot_be_read_is_told_from_none(folder: Path) -> None:
    head = f"{HEAD},patient_birth_date"
    rows = [
        f"{row(i).replace(',50,', ',,')},{born}" for i, born in enumerate(["13/02/60", "", "1960"])
    ]
    (folder / "ris.csv").write_text("\n".join([head, *rows]))
    findings = json.loads(checked(folder, "--json").output)["findings"]
    told = {each["subject"]: each["told"] for each in findings}["ages"]
    assert told.startswith(
        "2 of 3 X-rays have neither an age nor a birth date that can be read (1 have"
    )


def test_an_age_that_is_nobodys_is_told_from_none(folder: Path) -> None:
    rows = [row(0), row(1).replace(",50,", ",300,")]
    (folder / "ris.csv").write_text("\n".join([HEAD, *rows]))
    findings = json.loads(checked(folder, "--json").output)["findings"]
    told = {each["subject"]: each["told"] for each in findings}["ages"]
    assert "(in 1 rows what is stated is nobody's, or cannot be read)" in told


def test_sources_of_one_name_in_several_folders_are_all_read(folder: Path) -> None:
    for n, each in enumerate(("north", "south")):
        (folder / each).mkdir()
        (folder / each / "ris.csv").write_text(f"{HEAD}\n{row(n)}\n")
    (folder / "radcal.toml").write_text('[input]\npaths = ["north", "south", "ris.csv"]\n')
    told = json.loads(checked(folder, "--json").output)["sources"]
    assert {Path(each["name"]).parent.name for each in told} == {folder.name, "north", "south"}


def test_a_file_of_which_nothing_is_kept_stands_beside_good_ones(folder: Path) -> None:
    (folder / "stray.csv").write_text(f"{HEAD}\nA1,471\n")
    (folder / "radcal.toml").write_text(f'{WHOM}[input]\npaths = ["*.csv"]\n')
    told = checked(folder)
    assert told.exit_code == 3
    assert "wrong_field_count 1" in told.output


@pytest.mark.parametrize(
    ("paths", "barred"),
    [('["in"]', "in"), ('["in"]', "south"), ('["in/*/*.csv"]', "in"), ('["in/*/*.csv"]', "south")],
)
def test_a_folder_of_exports_that_this_user_may_not_read_is_a_fault(
    folder: Path, monkeypatch: pytest.MonkeyPatch, paths: str, barred: str
) -> None:
    for name in ("north", "south", "lost+found", ".snapshot"):
        (folder / "in" / name).mkdir(parents=True)
        (folder / "in" / name / "ris.csv").write_text("\n".join([HEAD, row(1)]))
    (folder / "radcal.toml").write_text(f"{WHOM}[input]\npaths = {paths}\n")
    hidden = {barred, "lost+found", ".snapshot"}
    monkeypatch.setattr("os.access", lambda path, _rights: Path(path).name not in hidden)
    told = checked(folder)
    assert told.exit_code == 2
    assert f"{barred}: may not be read by this user" in told.output
    hidden.remove(barred)
    assert "may not be read" not in checked(folder).output


def test_words_that_nothing_is_read_as_and_a_program_that_is_not_there_are_noted(
    folder: Path,
) -> None:
    with (folder / "radcal.toml").open("a") as config:
        config.write(
            '[phrases]\nreserved = ["consistant with"]\nrecommended = ["likly", "likely"]\n'
            'borrow = { "concerning fro" = "suspicious for" }\n'
            '[notify]\ncommand = ["/nowhere/mailer", "-s"]\n'
        )
    told = json.loads(checked(folder, "--json").output)
    notes = {each["subject"]: each["told"] for each in told["findings"] if each["state"] == "note"}
    assert "read as it: concerning fro, consistant with, likly" in notes["phrase table"]
    assert notes["notify.command"].startswith("/nowhere/mailer: no program of this user's")


@pytest.mark.parametrize("beside", ["", 'builtin = "diagnostic-certainty-scale"\n'])
def test_a_table_of_the_sites_own_stands_in_place_of_the_survey_that_is_there_by_default(
    folder: Path, beside: str
) -> None:
    """And a word that is spelt otherwise than the vocabulary spells it is told on both sides."""
    rows = "phrase,kind,alpha,beta,at,n\nabsent,atom,,,0,\nlikly,beta,3.2,0.6,,42\n"
    (folder / "own.csv").write_text(rows)
    with (folder / "radcal.toml").open("a") as config:
        config.write(f'[phrases]\n{beside}table = "own.csv"\nborrow = {{}}\n')
    told = {
        each["subject"]: each["told"]
        for each in json.loads(checked(folder, "--json").output)["findings"]
    }
    assert told["phrase table"].startswith("own, 2 words; ")
    idle, _, unscored = told["phrase table"].partition("; read and left out")
    assert "likly" in idle
    assert "lends one): very unlikely, unlikely, " in unscored
    assert Site.open(str(folder / "radcal.toml")).phrases.phrases == ("absent", "likly")


def test_a_dask_scheduler_that_does_not_answer_is_told_before_anything_is_read(
    folder: Path,
) -> None:
    with (folder / "radcal.toml").open("a") as config:
        config.write('[execution]\ndask_address = "tcp://127.0.0.1:9"\n')
    told = checked(folder)
    assert told.exit_code == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in " ".join(told.output.split())
    assert not (folder / "workspace").exists()


def test_an_exam_code_of_two_meanings_is_refused(folder: Path) -> None:
    (folder / "codes.csv").write_text("exam_code,chest\n71046,true\n71046,false\n71250,true\n")
    config = f'{WHOM}[input]\npaths = ["ris.csv"]\nexam_codes = "codes.csv"\n'
    (folder / "radcal.toml").write_text(config)
    told = checked(folder)
    assert told.exit_code == 2
    assert "input.exam_codes: 2 of 3 rows say of a code what another row denies" in told.output
