"""The vault gives random codes that only its key can read back."""

from __future__ import annotations

import multiprocessing
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.errors import ConfigurationError, InputError, RadcalError
from pipeline.vault.codes import domain_of
from pipeline.vault.key import Box, Key, new_key
from pipeline.vault.vault import Vault

KEY = "k3y-of-these-tests-9876543210-abcdefghij"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault.create(tmp_path / "vault.sqlite", KEY)


def test_the_same_identifier_keeps_its_code(vault: Vault) -> None:
    first, again, other, nothing = vault.codes("patient", ["MR 1", " mr  1 ", "MR 2", ""])
    assert first == again
    assert first != other
    assert nothing == ""


def test_domains_do_not_share_codes(vault: Vault) -> None:
    assert vault.codes("patient", ["7"])[0][:2] == "P-"
    assert vault.codes("study", ["7"])[0][:2] == "S-"


def test_a_code_leads_back_to_its_identifier(vault: Vault) -> None:
    (code,) = vault.codes("study", ["ACC 77"])
    assert vault.identifier_for("study", code) == "ACC 77"
    with pytest.raises(InputError, match="not in this vault"):
        vault.identifier_for("patient", code)


def test_codes_are_random_and_not_derived(tmp_path: Path) -> None:
    one = Vault.create(tmp_path / "a.sqlite", KEY).codes("patient", ["MR1"])
    two = Vault.create(tmp_path / "b.sqlite", KEY).codes("patient", ["MR1"])
    assert one != two


def test_a_shift_is_constant_and_never_zero(vault: Vault) -> None:
    shifts = vault.shift_days([str(n) for n in range(2000)])
    assert shifts == vault.shift_days([str(n) for n in range(2000)])
    assert 0 not in shifts
    assert min(shifts) >= -365
    assert max(shifts) <= 365
    assert min(shifts) < -300 < 300 < max(shifts)


def test_nothing_readable_is_in_the_file(vault: Vault, tmp_path: Path) -> None:
    vault.codes("patient", ["CANARY-PATIENT-4711"])
    vault.shift_days(["CANARY-PATIENT-4711"])
    vault.close()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"CANARY" not in content.upper()


def test_the_file_is_its_owners_alone(vault: Vault, tmp_path: Path) -> None:
    vault.codes("patient", ["1"])
    mode = (tmp_path / "vault.sqlite").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_another_key_is_refused(vault: Vault, tmp_path: Path) -> None:
    vault.close()
    with pytest.raises(ConfigurationError, match="not this vault's key"):
        Vault.open(tmp_path / "vault.sqlite", new_key())


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("short", "has 5 bytes"),
        ("", "empty"),
        ("a" * 64, "repeats too few"),
        ("changeme-changeme-changeme-changeme-1234", "placeholder"),
    ],
)
def test_an_unusable_key_is_refused(tmp_path: Path, key: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Vault.create(tmp_path / "v.sqlite", key)
    assert not (tmp_path / "v.sqlite").exists()


def test_a_missing_key_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RADCAL_VAULT_KEY", raising=False)
    monkeypatch.delenv("RADCAL_VAULT_KEY_FILE", raising=False)
    with pytest.raises(ConfigurationError, match="RADCAL_VAULT_KEY_FILE"):
        Key.of()


def test_a_key_file_that_cannot_be_read_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RADCAL_VAULT_KEY_FILE", str(tmp_path / "absent"))
    with pytest.raises(ConfigurationError, match="RADCAL_VAULT_KEY_FILE: the file cannot be read"):
        Key.of()


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o602])
def test_a_key_file_open_to_everybody_is_refused_and_the_mend_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: int
) -> None:
    file = tmp_path / "vault.key"
    file.write_text(KEY)
    monkeypatch.setenv("RADCAL_VAULT_KEY_FILE", str(file))
    file.chmod(mode)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        Key.of()
    file.chmod(0o440)
    assert Key.of().material == KEY.encode()


def test_a_key_never_shows() -> None:
    assert KEY not in repr(Key.of(KEY))


def test_no_vault_is_said_and_no_vault_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no vault here. Restore it"):
        Vault.open(tmp_path / "none.sqlite", KEY)
    assert not list(tmp_path.iterdir())


def test_a_second_vault_is_not_laid_over_the_first(vault: Vault, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="already"):
        Vault.create(tmp_path / "vault.sqlite", KEY)


def test_a_foreign_file_is_no_vault(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    sqlite3.connect(path).close()
    path.write_bytes(b"not a database, but long enough to be one" * 10)
    with pytest.raises(ConfigurationError, match="not a vault"):
        Vault.open(path, KEY)


def test_a_row_moved_to_another_code_does_not_open(vault: Vault, tmp_path: Path) -> None:
    one, two = vault.codes("patient", ["1", "2"])
    vault.close()
    database = sqlite3.connect(tmp_path / "vault.sqlite")
    with database:
        database.execute(
            "UPDATE codes SET sealed = (SELECT sealed FROM codes WHERE code = ?) WHERE code = ?",
            (one, two),
        )
    database.close()
    with pytest.raises(RadcalError, match="does not open"):
        Vault.open(tmp_path / "vault.sqlite", KEY).identifier_for("patient", two)


def test_two_readers_whose_lookups_change_places_get_no_code(vault: Vault, tmp_path: Path) -> None:
    vault.codes("reader", ["KS1", "DR2"])
    vault.close()
    database = sqlite3.connect(tmp_path / "vault.sqlite")
    (one, hers), (two, his) = database.execute("SELECT code, lookup FROM codes").fetchall()
    with database:
        for code, lookup in ((one, b""), (two, hers), (one, his)):
            database.execute("UPDATE codes SET lookup = ? WHERE code = ?", (lookup, code))
    database.close()
    for each in ("KS1", "DR2"):
        with (
            Vault.open(tmp_path / "vault.sqlite", KEY) as changed,
            pytest.raises(RadcalError, match="changed or moved"),
        ):
            changed.codes("reader", [each])


def test_a_read_only_vault_gives_no_new_code(vault: Vault, tmp_path: Path) -> None:
    vault.codes("patient", ["1"])
    vault.close()
    reader = Vault.open(tmp_path / "vault.sqlite", KEY, read_only=True)
    assert reader.codes("patient", ["1"])
    with pytest.raises(RadcalError, match="read-only"):
        reader.codes("patient", ["2"])


def test_a_new_epoch_gives_readers_new_codes_and_keeps_the_old_ones(vault: Vault) -> None:
    (old,) = vault.codes("reader", ["D1"])
    vault.rotate_readers()
    (new,) = vault.codes("reader", ["D1"])
    assert old != new
    assert vault.identifier_for("reader", old) == vault.identifier_for("reader", new) == "D1"


def changed(path: Path, *statements: str) -> None:
    """Let somebody who has no key write into the file."""
    database = sqlite3.connect(path)
    with database:
        for each in statements:
            database.execute(each)
    database.close()


LOWER = "UPDATE meta SET value = CAST('0' AS BLOB) WHERE name = 'reader_epoch'"
MOVE = (
    "DELETE FROM codes WHERE domain = 'reader' AND epoch = 1",
    "UPDATE codes SET epoch = 1 WHERE domain = 'reader'",
)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("what", [(LOWER,), MOVE, ("INSERT INTO meta VALUES ('keys', 1)",)])
def test_who_has_no_key_brings_no_old_reader_codes_back(
    vault: Vault, tmp_path: Path, what: tuple[str, ...], *, read_only: bool
) -> None:
    vault.codes("reader", ["D1"])
    vault.rotate_readers()
    vault.codes("reader", ["D1"])
    vault.close()
    path = tmp_path / "vault.sqlite"
    Vault.open(path, KEY, read_only=read_only).close()
    changed(path, *what)
    with (
        pytest.raises(RadcalError, match="changed or moved"),
        Vault.open(path, KEY, read_only=read_only) as opened,
    ):
        opened.codes("reader", ["D1"])


@pytest.mark.parametrize("read_only", [False, True])
def test_vault_of_a_former_version_opens_with_its_codes_and_is_bound_from_then_on(
    vault: Vault, tmp_path: Path, *, read_only: bool
) -> None:
    (old,) = vault.codes("reader", ["D1"])
    vault.rotate_readers()
    (new,) = vault.codes("reader", ["D1"])
    box, path = Box(Key.of(KEY)), tmp_path / "vault.sqlite"
    with vault._db as rows:  # as 0.5 wrote them
        check, reader = box.seal(b"radcal vault", "check"), box.seal(b"D1", f"reader/{new}")
        rows.execute("UPDATE meta SET value = ? WHERE name = 'check'", (check,))
        rows.execute("UPDATE codes SET sealed = ? WHERE code = ?", (reader, new))
    vault.close()
    with Vault.open(path, KEY, read_only=read_only) as opened:
        assert opened.codes("reader", ["D1"]) == [new]
        assert opened.identifier_for("reader", old) == "D1"
    changed(path, LOWER)
    with pytest.raises(RadcalError, match="changed or moved"):
        Vault.open(path, KEY, read_only=read_only)


def test_the_epoch_is_told_without_the_key(vault: Vault, tmp_path: Path) -> None:
    vault.rotate_readers()
    assert Vault.stated(tmp_path / "vault.sqlite")[0] == 1
    (tmp_path / "other").write_text("no vault")
    with pytest.raises(ConfigurationError, match="not a vault"):
        Vault.stated(tmp_path / "other")


def test_what_is_forgotten_does_not_come_back(vault: Vault) -> None:
    (code,) = vault.codes("patient", ["1"])
    (before,) = vault.shift_days(["1"])
    assert vault.forget("patient", ["1"]) == 1
    with pytest.raises(InputError):
        vault.identifier_for("patient", code)
    assert vault.codes("patient", ["1"]) != [code]
    assert isinstance(before, int)


def test_a_code_tells_its_domain() -> None:
    assert domain_of("P-AAAA") == "patient"
    with pytest.raises(InputError, match="not a code"):
        domain_of("12345")


def _read(path: str, key: str, queue: multiprocessing.Queue[list[str]]) -> None:
    with Vault.open(Path(path), key, read_only=True) as vault:
        queue.put(vault.codes("patient", ["1", "2"]))


def _write(path: str, key: str, queue: multiprocessing.Queue[list[str]]) -> None:
    with Vault.ensure(Path(path), key) as vault:
        queue.put([vault.codes("patient", [str(n)])[0] for n in range(40)])


def test_processes_that_make_and_write_one_vault_at_once_agree(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    arguments = (str(tmp_path / "new.sqlite"), KEY, queue)
    workers = [context.Process(target=_write, args=arguments) for _ in range(2)]
    for worker in workers:
        worker.start()
    first, second = [queue.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    queue.close()
    queue.join_thread()
    assert first == second
    assert len(set(first)) == 40
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


KILLED = """
import os, signal, sys
from pathlib import Path
from pipeline.vault.vault import Vault
vault = Vault.open(Path(sys.argv[1]), sys.argv[2])
vault._db.execute("PRAGMA cache_size = 1")  # so that rows reach the file before the end
vault._db.execute("BEGIN")
rows = (("patient", 0, os.urandom(32), f"P-{n}", os.urandom(200)) for n in range(5000))
vault._db.executemany("INSERT INTO codes VALUES (?, ?, ?, ?, ?)", rows)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_writer_killed_in_the_middle_leaves_the_vault_as_it_was(
    vault: Vault, tmp_path: Path
) -> None:
    codes = vault.codes("patient", ["1", "2"])
    vault.close()
    path = tmp_path / "vault.sqlite"
    subprocess.run([sys.executable, "-c", KILLED, str(path), KEY], check=False)
    assert path.with_name("vault.sqlite-journal").stat().st_size > 0
    with Vault.open(path, KEY, read_only=True) as again:
        assert again.codes("patient", ["1", "2"]) == codes
        assert again.identifier_for("patient", codes[0]) == "1"
        (rows,) = again._db.execute("SELECT count(*) FROM codes").fetchone()
    assert rows == 2


def test_a_copy_made_while_another_writes_is_whole(vault: Vault, tmp_path: Path) -> None:
    codes = vault.codes("patient", ["1", "2"])
    with Vault.open(tmp_path / "vault.sqlite", KEY) as writer:
        writer._db.execute("BEGIN")
        writer._db.execute("DELETE FROM codes")
        vault.copy_to(tmp_path / "copy.sqlite")
        writer._db.rollback()
    assert (tmp_path / "copy.sqlite").stat().st_mode & 0o777 == 0o600
    with Vault.open(tmp_path / "copy.sqlite", KEY, read_only=True) as copy:
        assert copy.codes("patient", ["1", "2"]) == codes
    with pytest.raises(ConfigurationError, match="a file is there"):
        vault.copy_to(tmp_path / "copy.sqlite")
    with pytest.raises(ConfigurationError, match="drive: no such folder"):
        vault.copy_to(tmp_path / "drive" / "copy.sqlite")
    assert not (tmp_path / "drive").exists()


def test_processes_read_at_once(vault: Vault, tmp_path: Path) -> None:
    expected = vault.codes("patient", ["1", "2"])
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    arguments = (str(tmp_path / "vault.sqlite"), KEY, queue)
    workers = [context.Process(target=_read, args=arguments) for _ in range(2)]
    for worker in workers:
        worker.start()
    answers = [queue.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    queue.close()
    queue.join_thread()
    assert answers == [expected, expected]


def test_a_damaged_vault_is_told_with_what_to_do(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "cut.sqlite"
    vault.copy_to(path)
    path.write_bytes(path.read_bytes()[:5000])
    for read in (lambda: Vault.open(path, KEY), lambda: Vault.stated(path)):
        with pytest.raises(ConfigurationError, match="Restore its newest copy"):
            read()
