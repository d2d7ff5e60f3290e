"""The audit log notices every change but its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.errors import InputError
from pipeline.vault.audit_log import AuditLog, verify


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "audit.jsonl"
    for number in range(4):
        AuditLog(path).append("run finished", number=number, outcome="delivered")
    return path


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


def test_an_untouched_log_is_intact(log: Path) -> None:
    assert verify(log).is_intact
    assert verify(log).entries == 4


def test_entries_carry_actor_event_and_details(log: Path) -> None:
    entry = next(iter(AuditLog(log).entries()))
    assert entry["event"] == "run finished"
    assert entry["details"] == {"number": 0, "outcome": "delivered"}
    assert entry["actor"]


@pytest.mark.parametrize("name", ["LOGNAME", "USER", "LNAME", "USERNAME"])
def test_nobody_acts_under_a_name_from_the_environment(
    log: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "somebody else")
    AuditLog(log).append("reidentify")
    assert len({entry["actor"] for entry in AuditLog(log).entries()} - {"somebody else"}) == 1
    assert "somebody else" not in log.read_text(encoding="utf-8")


@pytest.mark.parametrize("at", [0, 1, 3])
def test_a_changed_line_is_noticed(log: Path, at: int) -> None:
    lines = _lines(log)
    entry = json.loads(lines[at])
    entry["details"]["outcome"] = "nothing happened"
    lines[at] = json.dumps(entry, sort_keys=True, separators=(",", ":")) + "\n"
    log.write_text("".join(lines), encoding="utf-8")
    assert not verify(log).is_intact


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_line_taken_out_is_noticed(log: Path, at: int) -> None:
    lines = _lines(log)
    log.write_text("".join(lines[:at] + lines[at + 1 :]), encoding="utf-8")
    assert not verify(log).is_intact


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_lines_cut_from_the_end_are_noticed(log: Path, kept: int) -> None:
    log.write_text("".join(_lines(log)[:kept]), encoding="utf-8")
    state = verify(log)
    assert state.breaks == (f"the last recorded entry is 4, the file ends with {kept}",)


def test_a_log_rolled_back_with_its_head_lacks_the_head_that_was_noted(log: Path) -> None:
    noted = AuditLog(log).head
    head = log.with_name("audit.jsonl.head")
    older, older_head = log.read_bytes(), head.read_bytes()
    AuditLog(log).append("reidentify")
    later = AuditLog(log).head
    assert verify(log).holds(noted)
    assert verify(log).head == later
    log.write_bytes(older)
    head.write_bytes(older_head)
    state = verify(log)
    assert state.is_intact
    assert state.holds(noted)
    assert not state.holds(later)


def test_half_a_line_is_noticed(log: Path) -> None:
    log.write_bytes(log.read_bytes()[:-20])
    assert not verify(log).is_intact


def test_an_inserted_line_is_noticed(log: Path) -> None:
    lines = _lines(log)
    log.write_text("".join([*lines[:2], lines[1], *lines[2:]]), encoding="utf-8")
    assert not verify(log).is_intact


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    AuditLog(path).append("note", text="x" * 5000)
    assert len(path.read_text(encoding="utf-8")) < 1000


def test_no_log_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no audit log"):
        verify(tmp_path / "none.jsonl")


def test_an_entry_whose_writer_was_killed_before_the_head_is_told_and_the_chain_goes_on(
    log: Path,
) -> None:
    head = log.with_name(log.name + ".head")
    before = head.read_text(encoding="ascii")
    AuditLog(log).append("interrupted")
    head.write_text(before, encoding="ascii")
    assert not verify(log).is_intact
    AuditLog(log).append("later")
    assert verify(log).is_intact
    events = [entry["event"] for entry in AuditLog(log).entries()]
    assert events[-3:] == ["interrupted", "head restored", "later"]
