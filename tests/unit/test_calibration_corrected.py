"""Unit: correcting a tally by an audit gives back the errors of what was really written."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.errors import CalibrationError
from calibration.estimate import Options
from calibration.extraction_errors import Audit, corrected_errors
from calibration.result import calibrate
from calibration.survey import PhraseTable, builtin
from calibration.tally import Tally

TABLE = builtin("diagnostic-certainty-scale")
PHRASES = len(TABLE)


def written() -> Tally:
    """Every phrase used 100 times, its finding there a tenth less often than it says."""
    n = np.full(PHRASES, 100.0)
    return Tally.from_moments(n, n * TABLE.means * 0.9)


def confusion() -> np.ndarray:
    """One statement in five of the first phrase is read as the second."""
    counts = np.eye(PHRASES) * 100.0
    counts[0, 0], counts[0, 1] = 80.0, 20.0
    return counts


def read(tally: Tally, counts: np.ndarray) -> Tally:
    rates = counts / counts.sum(axis=1, keepdims=True)
    return Tally.from_moments(rates.T @ tally.n, rates.T @ tally.label_mass)


def errors(tally: Tally, table: PhraseTable = TABLE) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    result = calibrate(tally, phrase_table=table, options=Options(bootstrap=0), rng=rng)
    return result.ece.value, result.phrase_error.value


def test_the_errors_of_the_true_words_come_back() -> None:
    extracted = read(written(), confusion())
    assert errors(extracted) != pytest.approx(errors(written()), abs=1e-6)
    audit, rng = Audit(confusion()), np.random.default_rng(1)
    found = corrected_errors(
        extracted, audit=audit, phrase_table=TABLE, options=Options(bootstrap=20), rng=rng
    )
    assert (found.ece.value, found.phrase_error.value) == pytest.approx(errors(written()))
    assert found.moved == pytest.approx(0.0)


def test_an_audit_without_mistakes_changes_nothing() -> None:
    audit, rng = Audit(np.eye(PHRASES) * 50.0), np.random.default_rng(1)
    found = corrected_errors(
        written(), audit=audit, phrase_table=TABLE, options=Options(bootstrap=20), rng=rng
    )
    assert (found.ece.value, found.phrase_error.value) == pytest.approx(errors(written()))


def test_a_small_audit_widens_the_interval() -> None:
    def width(checks: float) -> float:
        audit, rng = Audit(confusion() * checks), np.random.default_rng(1)
        found = corrected_errors(
            read(written(), confusion()),
            audit=audit,
            phrase_table=TABLE,
            options=Options(bootstrap=300),
            rng=rng,
        )
        return found.phrase_error.high - found.phrase_error.low

    assert width(0.1) > width(100.0)


def test_interval_of_a_calibrated_reader_s_phrase_error_begins_at_nothing_after_correction() -> (
    None
):
    g, audit, held = np.random.default_rng(6), Audit(confusion() / 2.0), 0
    n = np.full(PHRASES, 30)
    for _ in range(20):
        extracted = read(Tally.from_moments(n, g.binomial(n, TABLE.means)), confusion())
        found = corrected_errors(
            extracted, audit=audit, phrase_table=TABLE, options=Options(bootstrap=100), rng=g
        )
        held += found.phrase_error.low == 0.0
    assert held >= 17  # 95 % of 20 is 19; below 17 has probability 2 %


def test_phrases_confused_completely_cannot_be_corrected() -> None:
    counts = confusion()
    counts[0, 0], counts[0, 1] = 0.0, 100.0
    rng = np.random.default_rng(1)
    with pytest.raises(CalibrationError, match="confuses some phrases completely"):
        corrected_errors(written(), audit=Audit(counts), phrase_table=TABLE, rng=rng)
