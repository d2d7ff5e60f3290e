"""Distributions, bins and phrase tables, by hand arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.bins import bin_edges, bin_tables
from calibration.distributions import Atom, Beta, moments_of_ranges
from calibration.errors import CalibrationError, SurveyError
from calibration.scores import label_values
from calibration.survey import BUILTIN, PhraseTable, builtin


def test_beta_mean_and_variance_follow_from_its_parameters() -> None:
    # 2/(2+8) = .2; 2·8/(10²·11) = 16/1100
    beta = Beta(2, 8)
    assert beta.mean == pytest.approx(0.2)
    assert beta.variance == pytest.approx(16 / 1100)


def test_respondents_of_ranges_have_the_moments_of_their_pieces() -> None:
    # half on (0, .5], half on (.5, 1]: the uniform itself, mean 1/2, variance 1/12
    mean, variance = moments_of_ranges(np.array([0.0, 0.5, 1.0]), np.array([4.0, 4.0]))
    assert mean == pytest.approx(0.5)
    assert variance == pytest.approx(1 / 12)


@pytest.mark.parametrize(
    ("at", "expected"),
    [(0.0, 0), (0.25, 0), (0.2500001, 1), (0.5, 1), (1.0, 3)],
)
def test_an_atom_lies_in_the_bin_closed_at_its_right(at: float, expected: int) -> None:
    mass, moment = Atom(at).interval_tables(bin_edges(4))
    assert np.flatnonzero(mass).tolist() == [expected]
    assert moment[expected] == at


def test_decimal_atoms_fall_on_their_own_edge_for_every_bin() -> None:
    for m in range(1, 101):
        mass, _ = Atom(m / 100).interval_tables(bin_edges(100))
        assert int(np.argmax(mass)) == m - 1


def test_midpoint_rule_loses_an_atom_and_the_paper_rule_keeps_it() -> None:
    edges = bin_edges(100)
    lost = bin_tables([Atom(1.0)], edges=edges, rule="midpoint")
    kept = bin_tables([Atom(1.0)], edges=edges, rule="paper")
    assert lost.mass.sum() == 0.0
    assert kept.mass.sum() == 1.0


def test_midpoint_rule_loses_half_of_a_peaked_phrase() -> None:
    table = builtin("diagnostic-certainty-scale")
    peaked = table.distributions[table.index("compatible with")]
    tables = bin_tables([peaked], edges=bin_edges(100), rule="midpoint")
    assert 1.0 - float(tables.mass.sum()) == pytest.approx(0.55, abs=0.01)


def test_label_of_likely_hardens_under_the_probability_rule() -> None:
    table = builtin("diagnostic-certainty-scale")
    likely = table.distributions[table.index("likely")]
    assert label_values([likely]).round(3).tolist() == [0.918]
    assert label_values([likely], rule="mean").round(3).tolist() == [0.774]


@pytest.mark.parametrize("name", BUILTIN)
def test_builtin_tables_load_and_survive_their_own_table_format(name: str) -> None:
    table = builtin(name)
    again = PhraseTable.from_frame(table.to_frame().astype("string"), name=name)
    assert again.phrases == table.phrases
    assert np.allclose(again.means, table.means, rtol=1e-12)


def test_certain_phrases_are_atoms_and_other_is_not_a_phrase() -> None:
    table = builtin("diagnostic-certainty-scale")
    assert table.distributions[table.index("absent")] == Atom(0.0)
    assert table.distributions[table.index("present")] == Atom(1.0)
    assert "other" not in table.phrases


def test_borrowed_phrase_uses_the_lender_and_says_so() -> None:
    table = builtin("diagnostic-certainty-scale").with_borrowed(
        {"concerning for": "suspicious for"}
    )
    mine, lender = table.index("concerning for"), table.index("suspicious for")
    assert table.distributions[mine] == table.distributions[lender]
    assert table.borrowed == {"concerning for": "suspicious for"}
    assert table.respondents[mine] is None


def test_a_phrase_that_borrows_from_a_borrower_has_the_survey_s_error() -> None:
    scale = builtin("diagnostic-certainty-scale")
    table = scale.with_borrowed({"a": "likely"}).with_borrowed({"b": "a"})
    lender = scale.index("likely")
    assert table.borrowed == {"a": "likely", "b": "likely"}
    assert table.asked[-2:].tolist() == [scale.asked[lender]] * 2
    assert table.errors[-2:].tolist() == [scale.errors[lender]] * 2


def test_unknown_phrase_is_an_error_that_names_it() -> None:
    with pytest.raises(SurveyError, match="'perhaps' is not in the phrase table"):
        builtin("diagnostic-certainty-scale").index("perhaps")


def test_unusable_parameters_are_refused() -> None:
    with pytest.raises(CalibrationError, match="must be positive"):
        Beta(0.0, 1.0)
    with pytest.raises(CalibrationError, match="must lie in"):
        Atom(1.5)
    for edges in ([0.0, 0.0, 1.0], [0.0, np.nan, 1.0], [0.0, 1.0]):
        with pytest.raises(CalibrationError, match="increasing edges"):
            moments_of_ranges(np.array(edges), np.array([0.5, 0.5]))
    for edges, people in (([0.0, 0.5, 1.1], [1, 1]), ([0.0, 0.5, 1.0], [2, -1])):
        with pytest.raises(CalibrationError, match=r"lie in \[0, 1\], and respondents are"):
            moments_of_ranges(np.array(edges), np.array(people))
    with pytest.raises(CalibrationError, match="not all 0"):
        moments_of_ranges(np.array([0.0, 0.5, 1.0]), np.zeros(2))
    with pytest.raises(CalibrationError, match="probability must lie in"):
        Beta(1.0, 2.0).quantile(-1.0)
    for bins in (0, 2.5, "10"):
        with pytest.raises(CalibrationError, match=f"bins: {bins!r} is not a whole number from 1"):
            bin_edges(bins)  # type: ignore[arg-type]
    for edges in ([], [0.0, np.nan, 1.0]):
        with pytest.raises(CalibrationError, match="increase from 0 to 1"):
            bin_tables([Beta(1.0, 1.0)], edges=np.array(edges))


def test_repeated_or_missing_phrases_are_refused() -> None:
    with pytest.raises(SurveyError, match="more than once: likely"):
        PhraseTable("t", ("likely", "likely"), (Atom(0), Atom(1)), (None, None))
    with pytest.raises(SurveyError, match="empty"):
        PhraseTable("t", (), (), ())


def test_every_unusable_row_of_a_phrase_table_is_named() -> None:
    frame = builtin("language-model-phrases").to_frame().astype({"kind": "string"})
    frame.loc[0, "kind"] = "gamma"
    frame.loc[1, "alpha"] = -1.0
    frame["n"] = ["", "", "many", *[""] * (len(frame) - 3)]
    with pytest.raises(SurveyError, match=r"3 unusable row\(s\): row 1 .* row 2 .* row 3 .*many"):
        PhraseTable.from_frame(frame, name="t")


def test_variance_of_extreme_parameters_neither_overflows_nor_divides_by_zero() -> None:
    assert Beta(1e300, 1e300).variance == pytest.approx(1.25e-301)
    assert Beta(5e-324, 5e-324).variance == 0.25
    assert Beta(2.0, 3.0).variance == pytest.approx(0.04)
