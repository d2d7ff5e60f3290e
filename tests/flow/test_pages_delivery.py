"""Delivery: one folder a recipient, whole, once, and locked where asked for."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pikepdf
import pypdf
import pytest
from reportlab.pdfgen import canvas

from pipeline.cli.common import Output
from pipeline.cli.run import pages
from pipeline.errors import ConfigurationError, InputError, StorageError
from pipeline.site.site import Site
from pipeline.stages import deliver
from pipeline.stages.deliver import DELIVER, Delivery
from pipeline.stages.pages import File, Pages
from pipeline.vault.codes import study_identifiers
from pipeline.vault.vault import Vault
from reports.content import Case
from reports.pages.return_sheet import build
from reports.strings import Strings

ISSUE, PERIOD = "0f1e2d3c4b5a6978", "2026-09"
WHOM = 'contact = "quality@hospital.example"\nreturns_by = "15 December 2026"\n'


def pdf(text: str) -> bytes:
    out = io.BytesIO()
    page = canvas.Canvas(out, invariant=1)
    page.drawString(72, 720, text)
    page.save()
    return out.getvalue()


class Place:
    """A workspace with drafts to deliver."""

    def __init__(self, folder: Path, extra: str = "", whom: str = WHOM) -> None:
        self.folder = folder
        self.config = folder / "radcal.toml"
        self.config.write_text(f'[input]\npaths = ["a.csv"]\n[reports]\n{whom}{extra}\n')
        self.drafts = folder / "workspace" / "analysis" / "pages"
        self.drafts.mkdir(parents=True)

    def page(self, recipient: str, text: str, sheet: str = "answer\n") -> Pages:
        drafts = {"return.csv": sheet.encode(), "feedback.pdf": pdf(text)}
        files = []
        for name, content in drafts.items():
            draft = f"{recipient}.{name.rpartition('.')[2]}"
            (self.drafts / draft).write_bytes(content)
            files.append(File(name, draft, hashlib.sha256(content).hexdigest()))
        return Pages(recipient, tuple(files))

    def deliver(self, *pages: Pages) -> tuple[int, int]:
        done = DELIVER.do(Site.open(str(self.config)), Delivery(ISSUE, PERIOD, pages)).found
        return done.delivered, done.unchanged

    def of(self, recipient: str) -> Path:
        return self.folder / "workspace" / "delivery" / PERIOD / recipient

    def ledger(self) -> list[dict[str, object]]:
        path = self.folder / "workspace" / "delivery" / "ledger.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_damaged_ledger_is_refused_with_what_to_do(place: Place) -> None:
    place.deliver(place.page("R-A", "one"))
    ledger = place.folder / "workspace" / "delivery" / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes()[:-20])
    with pytest.raises(StorageError, match=r"ledger\.jsonl is damaged\. Restore it"):
        place.deliver(place.page("R-A", "one"))


def test_each_recipient_gets_one_private_folder_and_a_line_a_file(place: Place) -> None:
    assert place.deliver(place.page("R-A", "one"), place.page("R-B", "two")) == (2, 0)
    assert sorted(p.name for p in place.of("R-A").iterdir()) == ["feedback.pdf", "return.csv"]
    assert place.of("R-A").stat().st_mode & 0o777 == 0o700
    assert all(p.stat().st_mode & 0o777 == 0o600 for p in place.of("R-A").iterdir())
    assert [(e["recipient"], e["file"]) for e in place.ledger()] == [
        ("R-A", "return.csv"), ("R-A", "feedback.pdf"),
        ("R-B", "return.csv"), ("R-B", "feedback.pdf"),
    ]  # fmt: skip


def test_nothing_is_delivered_twice_even_if_the_recipient_filled_the_sheet_in(
    place: Place,
) -> None:
    page = place.page("R-A", "one")
    place.deliver(page)
    (place.of("R-A") / "return.csv").write_text("answer\nwrong pair\n")
    (place.of("R-A") / "feedback.pdf").unlink()
    assert place.deliver(page) == (0, 1)
    assert (place.of("R-A") / "return.csv").read_text() == "answer\nwrong pair\n"
    assert len(place.ledger()) == 2


def test_changed_issue_replaces_ours_and_keeps_what_the_recipient_did(place: Place) -> None:
    place.deliver(place.page("R-A", "one"))
    (place.of("R-A") / "return.csv").write_text("answer\ndiscordant\n")
    (place.of("R-A") / "notes.txt").write_text("mine")
    (place.of("R-A") / "sent" / "back").mkdir(parents=True)
    (place.of("R-A") / "sent" / "back" / "return.csv").write_text("answer\nwrong pair\n")
    (place.of("R-A") / "sent" / "return.csv").write_bytes(b"answer\n")
    assert place.deliver(place.page("R-A", "two")) == (1, 0)
    names = sorted(p.name for p in place.of("R-A").iterdir())
    assert names == ["feedback.pdf", "notes.txt", "return-kept-1.csv", "return.csv", "sent"]
    sent = place.of("R-A") / "sent"
    assert (sent / "back" / "return.csv").read_text() == "answer\nwrong pair\n"
    assert (sent / "return.csv").read_text() == "answer\n"
    assert (place.of("R-A") / "return-kept-1.csv").read_text() == "answer\ndiscordant\n"
    assert (place.of("R-A") / "feedback.pdf").read_bytes() == pdf("two")


def test_a_link_laid_into_a_folder_brings_nothing_of_the_workspace_there(
    place: Place, tmp_path: Path
) -> None:
    place.deliver(place.page("R-A", "one"))
    (secret := tmp_path / "vault.key").write_text("k3y")
    (place.of("R-A") / "notes.txt").symlink_to(secret)
    (place.of("R-A") / "return.csv").unlink()
    (place.of("R-A") / "return.csv").symlink_to(secret)
    (place.of("R-A") / "all").symlink_to(tmp_path, target_is_directory=True)
    assert place.deliver(place.page("R-A", "two")) == (1, 0)
    left = list(place.of("R-A").rglob("*"))
    assert sorted(path.name for path in left) == ["feedback.pdf", "return.csv"]
    assert not any(path.is_symlink() or b"k3y" in path.read_bytes() for path in left)
    assert secret.read_text() == "k3y"


@pytest.mark.parametrize("moment", ["_write", "add", "_place"])
def test_delivery_killed_at_any_moment_is_made_whole_by_the_next(
    place: Place, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    place.deliver(place.page("R-A", "one"))
    page = place.page("R-A", "two")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    owner = deliver._Ledger if moment == "add" else deliver
    with monkeypatch.context() as patch:
        patch.setattr(owner, moment, killed)
        with pytest.raises(KeyboardInterrupt):
            place.deliver(page)
    assert (place.of("R-A") / "feedback.pdf").read_bytes() == pdf("one")
    place.deliver(page)
    assert (place.of("R-A") / "feedback.pdf").read_bytes() == pdf("two")
    assert [p.name for p in place.of("R-A").parent.iterdir()] == ["R-A"]
    assert [e["page"] for e in place.ledger()].count("feedback.pdf") == 2


def test_old_folder_comes_back_if_the_swap_was_cut_in_half(place: Place) -> None:
    page = place.page("R-A", "one")
    place.deliver(page)
    place.of("R-A").rename(place.of("R-A").with_name(".R-A.old"))
    assert place.deliver(page) == (0, 1)
    assert (place.of("R-A") / "feedback.pdf").is_file()


def locks(folder: Path, text: str, mode: int = 0o600) -> None:
    (folder / "locks.csv").write_text(text)
    (folder / "locks.csv").chmod(mode)


def test_locked_pages_open_with_their_passphrase_only_and_hold_the_sheet(tmp_path: Path) -> None:
    place = Place(tmp_path, 'passphrases = "locks.csv"')
    locks(tmp_path, "recipient,passphrase\nR-A,correct horse battery\n")
    page = place.page("R-A", "plainly said", sheet="answer\n")
    assert place.deliver(page) == (1, 0)
    (file,) = place.of("R-A").iterdir()
    assert b"plainly said" not in file.read_bytes()
    reader = pypdf.PdfReader(file)
    assert reader.is_encrypted
    assert not reader.decrypt("wrong")
    with pytest.raises(pikepdf.PasswordError):
        pikepdf.open(file)
    with pikepdf.open(file, password="correct horse battery") as opened:
        assert opened.encryption.R == 6
        assert opened.encryption.bits == 256
        assert opened.attachments["return.csv"].get_file().read_bytes() == b"answer\n"
    assert place.deliver(page) == (0, 1)
    assert {e["encrypted"] for e in place.ledger()} == {True}
    assert not any("battery" in json.dumps(e) for e in place.ledger())


def test_delivery_killed_when_pages_are_first_locked_is_made_whole_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path)
    page = place.page("R-A", "one")
    place.deliver(page)
    place.config.write_text(f"{place.config.read_text()}passphrases = 'locks.csv'\n")
    locks(tmp_path, "recipient,passphrase\nR-A,correct horse battery\n")
    with monkeypatch.context() as patch:
        patch.setattr(deliver, "_place", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            place.deliver(page)
    assert place.deliver(page) == (0, 1)
    assert [file.name for file in place.of("R-A").iterdir()] == ["feedback.pdf"]
    assert pypdf.PdfReader(place.of("R-A") / "feedback.pdf").is_encrypted


def test_only_a_changed_passphrase_delivers_that_readers_file_again(tmp_path: Path) -> None:
    place = Place(tmp_path, 'passphrases = "locks.csv"')
    locks(tmp_path, "recipient,passphrase\nR-A,correct horse battery\nR-B,another long one\n")
    pages = place.page("R-A", "one"), place.page("R-B", "two")
    assert place.deliver(*pages) == (2, 0)
    locks(tmp_path, "recipient,passphrase\nR-A,correct horse battery\nR-B,entirely new one\n")
    assert place.deliver(*pages) == (1, 1)
    with pikepdf.open(place.of("R-B") / "feedback.pdf", password="entirely new one"):
        pass
    with pikepdf.open(place.of("R-A") / "feedback.pdf", password="correct horse battery"):
        pass
    assert place.deliver(*pages) == (0, 2)
    assert not any("one" in str(e["lock"]) for e in place.ledger())


def test_readers_identifier_finds_its_code_in_the_vault(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY", "f3Jq9-Lw0ZbT7xVn2RkYcH5uAePd8sGmQi4oKtBy")
    place = Place(tmp_path, 'passphrases = "locks.csv"')
    (tmp_path / "workspace" / "raw").mkdir()
    with Vault.ensure(tmp_path / "workspace" / "raw" / "vault.sqlite") as vault:
        (code,) = vault.codes("reader", ["u4711"])
    locks(tmp_path, "recipient,passphrase\nu4711,correct horse battery\nu9,another long one\n")
    assert place.deliver(place.page(code, "one")) == (1, 0)


def test_passphrase_is_found_by_an_identifier_that_is_read_as_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY", "f3Jq9-Lw0ZbT7xVn2RkYcH5uAePd8sGmQi4oKtBy")
    rules = '[input.reader_ids]\ncase_sensitive = false\naliases = "ids.csv"'
    place = Place(tmp_path, f'passphrases = "locks.csv"\n{rules}')
    (tmp_path / "ids.csv").write_text("reader_id,reader\nstone.k,KS1\n")
    (tmp_path / "workspace" / "raw").mkdir()
    with Vault.ensure(tmp_path / "workspace" / "raw" / "vault.sqlite") as vault:
        aliased, folded = vault.codes("reader", ["ks1", "roe.j"])
    locks(
        tmp_path,
        "recipient,passphrase\nStone.K,correct horse battery\nRoe.J,another long one\n",
    )
    assert place.deliver(place.page(aliased, "one"), place.page(folded, "two")) == (2, 0)
    for code, passphrase in ((aliased, "correct horse battery"), (folded, "another long one")):
        with pikepdf.open(place.of(code) / "feedback.pdf", password=passphrase):
            pass


def test_accession_numbers_travel_locked_up_with_the_readers_own_cases_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY", "f3Jq9-Lw0ZbT7xVn2RkYcH5uAePd8sGmQi4oKtBy")
    link = 'pacs_link = "https://pacs.example/?a={accession}"'
    place = Place(
        tmp_path, f'passphrases = "locks.csv"\naccessions = true\n{link}\nlanguage = "de"'
    )
    (tmp_path / "workspace" / "raw").mkdir()
    studies = pd.DataFrame({"accession": ["A 1", "A2", "B3"], "accession_domain": "NORTH"})
    with Vault.ensure(tmp_path / "workspace" / "raw" / "vault.sqlite") as vault:
        one, two, other = vault.codes("study", study_identifiers(studies))
    locks(tmp_path, "recipient,passphrase\nR-A,correct horse battery\nR-B,another long one\n")
    case = Case(one, two, "effusion", "likely", "absent", showed=False)
    mine = place.page("R-A", "one", sheet=build((case,), words=Strings.load()).bytes().decode())
    foreign = replace(case, xray_code=other, ct_code=other)
    place.deliver(
        mine,
        place.page("R-B", "two", sheet=build((foreign,), words=Strings.load()).bytes().decode()),
    )
    assert [file.name for file in place.of("R-A").iterdir()] == ["feedback.pdf"]
    with pikepdf.open(place.of("R-A") / "feedback.pdf", password="correct horse battery") as pdf:
        held = pdf.attachments["accessions.csv"].get_file().read_bytes().decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(held), delimiter=";")) == [
        ["Untersuchungscode", "Auftragsnummer", "Link"],
        [one, "A 1", "https://pacs.example/?a=A%201"],
        [two, "A2", "https://pacs.example/?a=A2"],
    ]
    logged = (tmp_path / "workspace" / "audit.jsonl").read_text()
    assert '"readers": 2' in logged or '"readers":2' in logged
    assert "A2" not in logged
    assert "A2" not in json.dumps(place.ledger())
    assert place.deliver(mine) == (0, 1)
    place.config.write_text(place.config.read_text().replace("accessions = true", ""))
    assert place.deliver(mine) == (1, 0)
    with pikepdf.open(place.of("R-A") / "feedback.pdf", password="correct horse battery") as pdf:
        assert list(pdf.attachments) == ["return.csv"]
    assert place.deliver(mine) == (0, 1)
    place.config.write_text(f"{place.config.read_text()}accessions = true\n")
    assert place.deliver(mine) == (1, 0)
    assert place.deliver(mine) == (0, 1)


def test_accession_numbers_without_a_lock_are_refused(tmp_path: Path) -> None:
    place = Place(tmp_path, "accessions = true")
    with pytest.raises(ConfigurationError, match="needs `passphrases`"):
        place.deliver(place.page("R-A", "one"))


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("recipient,passphrase\nR-B,correct horse battery\n", 0o600, "1 of 1 recipients have no"),
        ("recipient,passphrase\nR-A,short\n", 0o600, "fewer than 12 characters; first at line 2"),
        ("recipient,passphrase\nR-A,correct horse battery\n", 0o644, "read by others; chmod 600"),
        ("who,what\nR-A,x\n", 0o600, "needs the columns recipient and passphrase"),
    ],
)
def test_unusable_passphrases_stop_everything_before_anything_is_delivered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, mode: int, said: str
) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY", "f3Jq9-Lw0ZbT7xVn2RkYcH5uAePd8sGmQi4oKtBy")
    place = Place(tmp_path, 'passphrases = "locks.csv"')
    (tmp_path / "workspace" / "raw").mkdir()
    Vault.ensure(tmp_path / "workspace" / "raw" / "vault.sqlite").close()
    locks(tmp_path, text, mode)
    with pytest.raises(ConfigurationError, match=said):
        place.deliver(place.page("R-A", "one"))
    assert not place.of("R-A").exists()


def test_nothing_is_delivered_that_does_not_say_whom_to_answer_and_until_when(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path, whom='contact = "quality@hospital.example"\n')
    with pytest.raises(ConfigurationError, match=r"reports\.returns_by: name whom readers answer"):
        place.deliver(place.page("R-A", "one"))
    assert not place.of("R-A").exists()
    (tmp_path / "shown").mkdir()
    shown = Place(tmp_path / "shown", extra="demonstration = true", whom="")
    assert shown.deliver(shown.page("R-A", "one")) == (1, 0)


def test_pages_that_were_deleted_are_said_to_be_gone_and_how_they_come_again(place: Place) -> None:
    mine = place.page("R-A", "one")
    place.deliver(mine)
    shutil.rmtree(place.of("R-A").parent)
    assert place.deliver(mine) == (0, 1)
    with pytest.raises(InputError, match=r"Restore the folder; .* delete delivery/ledger\.jsonl"):
        pages(place.config, Output())
    (place.of("R-A").parents[1] / "ledger.jsonl").unlink()
    assert place.deliver(mine) == (1, 0)


def test_the_pages_of_the_newest_issue_are_listed_with_the_file_to_open(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=r"no page lies below .* may read; nothing was delivered"):
        pages(place.config, Output())
    place.deliver(place.page("R-A", "one"), place.page("R-B", "two"))
    (place.of("R-A").parents[1] / "2026-06" / "R-C").mkdir(parents=True)
    pages(place.config, Output())
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "Issue 2026-09: 2 recipients."
    assert [line.split() for line in rest] == [
        [who, str(place.of(who) / name)]
        for who in ("R-A", "R-B")
        for name in ("feedback.pdf", "return.csv")
    ]
    pages(place.config, Output(as_json=True))
    told = json.loads(capsys.readouterr().out)
    assert [each["recipient"] for each in told["pages"]] == ["R-A", "R-A", "R-B", "R-B"]
    assert told["older_files"] == 0


def test_pages_of_readers_who_left_the_issue_are_counted_and_not_listed(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.deliver(place.page("R-A", "one"), place.page("R-B", "two"))
    place.deliver(place.page("R-A", "one"), place.page("R-C", "two"))
    pages(place.config, Output())
    first, *rest, last = capsys.readouterr().out.splitlines()
    assert first == "Issue 2026-09: 2 recipients."
    assert [line.split()[0] for line in rest] == ["R-A", "R-A", "R-C", "R-C"]
    assert last == "2 older files of others lie beside them: do not hand them on."
    assert (place.of("R-B") / "feedback.pdf").is_file()


@pytest.mark.parametrize("store", ['workspace = "own"', 'workspace = "s3://b/x"\nlocal = "own"'])
def test_pages_are_listed_from_wherever_the_workspace_keeps_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], store: str
) -> None:
    config = tmp_path / "radcal.toml"
    config.write_text(f'[input]\npaths = ["a.csv"]\n[store]\n{store}\n')
    page = tmp_path / "own" / "delivery" / PERIOD / "R-1" / "feedback.pdf"
    page.parent.mkdir(parents=True)
    page.write_bytes(pdf("one"))
    pages(config, Output())
    assert str(page) in capsys.readouterr().out
