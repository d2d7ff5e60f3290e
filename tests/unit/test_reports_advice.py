"""Which sentence and which actions are chosen from given results; all numbers by hand."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import numpy as np
import pytest

from calibration.estimate import Estimate
from calibration.substitution import HeldOutEffect, Suggestion, Suppressed
from calibration.substitution.guardrails import SuppressionReason
from reports.advice import MOST_ACTIONS, Standing, actions, headline, standing
from reports.content import PathologyAdvice, RadiologistContent, SuppressedCell
from reports.figures.phrase_rows import RowState, phrase_rows
from reports.strings import Strings, StringsError


def _samples() -> ModuleType:
    path = Path(__file__).parents[1] / "fixtures/reports/sample_contents.py"
    spec = importlib.util.spec_from_file_location("sample_contents", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sample_contents"] = module
    spec.loader.exec_module(module)
    return module


samples = _samples()
WORDS = Strings.load()
SPACE = "\u00a0"


def effect(difference: float, low: float, high: float) -> HeldOutEffect:
    change = Estimate(difference, low, high, 100, "test")
    return HeldOutEffect(50, 50, 0.1, 0.1 + difference, change, 0.2, 0.19, change)


def swap(source: str = "likely", target: str = "may represent", **changes: Any) -> Suggestion:
    values: dict[str, Any] = {
        "source": source,
        "target": target,
        "n": 64.0,
        "observed": 0.48,
        "low": 0.36,
        "high": 0.60,
        "expected": 0.774,
        "target_expected": 0.441,
        "share": 0.1,
        "stability": 0.93,
        "effect": effect(-0.06, -0.09, -0.03),
    }
    return Suggestion(**(values | changes))


def reader(*parts: tuple[str | None, Suggestion], **changes: Any) -> RadiologistContent:
    filled = samples.radiologist(n=600, shift={})
    advice = filled.actions[0].advice
    given = tuple(
        PathologyAdvice(pathology, replace(advice, suggestions=(s,), suppressed=()))
        for pathology, s in parts
    )
    return replace(filled, **({"actions": given, "discouraged": frozenset()} | changes))


def with_phrase(filled: RadiologistContent, phrase: str, n: float, mass: float) -> Any:
    """Make the overall table hold one phrase only, with its Wilson interval."""
    from calibration.phrase_calibration import wilson

    overall = filled.overall
    assert not isinstance(overall, SuppressedCell)
    table = overall.phrases
    k = table.phrases.index(phrase)
    counts, sums = np.zeros(len(table.n)), np.zeros(len(table.n))
    counts[k], sums[k] = n, mass
    low, high = wilson(sums, counts)
    rate = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    changed = replace(table, n=counts, label_mass=sums, observed=rate, low=low, high=high)
    return replace(filled, overall=replace(overall, phrases=changed))


def test_evidence_says_rate_interval_exams_and_both_expectations() -> None:
    (action,) = actions(reader(("pleural effusion", swap())), words=WORDS)
    assert action.title == "“likely” → “may represent”"
    assert action.evidence == (
        "**Pleural effusion.** When you wrote “likely”, CT showed the finding "
        f"**48{SPACE}%** of the time (36–60{SPACE}%, 64 exams). Readers of the phrase expect about "
        f"**77{SPACE}%**, of “may represent” about 44{SPACE}%. On exams not used to find it, the "
        "swap brought words and CT 6.0 points closer (3.0 to 9.0). In "
        f"93{SPACE}% of resampled data it stayed the better word."
    )


def test_headline_names_the_phrase_the_pathology_and_the_better_phrase() -> None:
    sentence = headline(reader(("pleural effusion", swap())), words=WORDS)
    assert sentence == (
        "When you write **“likely”** for pleural effusion, CT shows the finding "
        f"**48{SPACE}%** of the time; readers of the phrase expect about 77{SPACE}%. "
        "**“may represent”** comes closer to what CT shows."
    )


def test_a_held_out_gain_that_may_be_zero_is_not_given_in_points() -> None:
    unsure = replace(swap(), effect=effect(-0.01, -0.03, 0.01))
    (action,) = actions(reader((None, unsure)), words=WORDS)
    assert "points closer" not in action.evidence
    assert "a good bet, not a proof" in action.evidence


def test_consistent_with_is_said_to_be_for_established_diagnoses() -> None:
    (action,) = actions(reader((None, swap(target="consistent with"))), words=WORDS)
    assert "“consistent with” is meant for established diagnoses only." in action.evidence


def test_at_most_three_actions_most_exams_behind_the_gap_first() -> None:
    # n·|observed − expected|: 10·.3 = 3 is below the minimum n; 40·.1 = 4, 30·.5 = 15, ...
    parts = [
        ("a", swap("likely", n=40.0, observed=0.674)),
        ("b", swap("possibly", n=30.0, observed=0.274)),
        ("c", swap("probably", n=100.0, observed=0.574)),
        ("d", swap("maybe", n=50.0, observed=0.674)),
    ]
    chosen = actions(reader(*parts), words=WORDS)
    assert len(chosen) == MOST_ACTIONS
    assert [a.suggestion.source for a in chosen] == ["probably", "possibly", "maybe"]


def test_a_suggestion_for_all_findings_stands_in_for_those_of_single_findings() -> None:
    chosen = actions(reader((None, swap(n=90.0)), ("pneumonia", swap(n=60.0))), words=WORDS)
    assert [a.pathology for a in chosen] == [None]


def test_a_discouraged_phrase_is_never_advised() -> None:
    filled = reader((None, swap(target="possibly")), discouraged=frozenset({"possibly"}))
    assert actions(filled, words=WORDS) == ()


def test_a_suggestion_from_too_few_exams_is_never_shown() -> None:
    assert actions(reader((None, swap(n=19.0))), words=WORDS) == ()


def test_an_interval_that_covers_the_expectation_means_nothing_to_change() -> None:
    filled = with_phrase(reader(), "likely", n=60.0, mass=44.0)
    assert headline(filled, words=WORDS) == (
        "**Nothing to change.** You used one phrase often enough to judge, and CT bore it out "
        "about as often as readers expect."
    )


def test_without_computed_advice_nothing_is_said_about_changing() -> None:
    filled = with_phrase(reader(actions=None), "likely", n=60.0, mass=44.0)
    assert "Nothing to change" not in headline(filled, words=WORDS)


def test_a_phrase_off_the_mark_without_a_better_one_is_named_with_the_reason() -> None:
    filled = with_phrase(reader((None, swap())), "likely", n=60.0, mass=24.0)
    part = filled.actions[0]
    silent = (Suppressed("likely", "may represent", "unstable", "chosen in 63%"),)
    quiet = replace(part, advice=replace(part.advice, suggestions=(), suppressed=silent))
    sentence = headline(replace(filled, actions=(quiet,)), words=WORDS)
    assert sentence.startswith("**Nothing to change on this evidence.** Keep an eye on")
    assert sentence.endswith("but no single replacement came out clearly best.")


def test_statements_of_certainty_are_not_judged() -> None:
    filled = with_phrase(reader(), "absent", n=400.0, mass=20.0)
    overall = filled.overall
    rows = phrase_rows(overall.phrases, minimum_n=20)
    row = next(r for r in rows if r.phrase == "absent")
    assert row.state is RowState.SHOWN
    assert standing(row) is Standing.NOT_JUDGED


def test_every_reason_for_silence_has_its_sentence() -> None:
    silent_by_nature = {"too few uses", "protected"}
    for reason in set(get_args(SuppressionReason)) - silent_by_nature:
        assert f"headline.reason.{reason.replace(' ', '_')}" in WORDS.sentences, reason


def test_too_few_exams_are_said_to_be_too_few() -> None:
    filled = replace(reader(), overall=SuppressedCell(20))
    assert headline(filled, words=WORDS).startswith("Too few of your X-rays had a CT")


@pytest.mark.parametrize(
    ("mass", "expected"),
    [(20.0, Standing.BELOW), (46.0, Standing.AS_EXPECTED), (60.0, Standing.ABOVE)],
)
def test_standing_follows_the_interval(mass: float, expected: Standing) -> None:
    # "likely" is expected in 77 %; of 60: 20 → Wilson (.23, .46), 46 → (.65, .86), 60 → (.94, 1)
    filled = with_phrase(reader(), "likely", n=60.0, mass=mass)
    rows = phrase_rows(filled.overall.phrases, minimum_n=20)
    assert standing(next(r for r in rows if r.phrase == "likely")) is expected


def test_a_missing_sentence_is_an_error_that_names_its_key() -> None:
    with pytest.raises(StringsError, match="no_such_key"):
        WORDS("no_such_key")
    with pytest.raises(StringsError, match="target"):
        WORDS("action.swap", source="x")


def test_another_catalogue_replaces_single_sentences(tmp_path: Path) -> None:
    path = tmp_path / "deutsch.toml"
    path.write_text('[radiologist]\ntitle = "Ihre Worte und das CT"\n', encoding="utf-8")
    words = Strings.load(path)
    assert words("radiologist.title") == "Ihre Worte und das CT"
    assert words("radiologist.actions") == "What to try"
