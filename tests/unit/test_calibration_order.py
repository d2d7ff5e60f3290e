"""The order rail on three phrases whose order can be seen."""

from __future__ import annotations

import numpy as np

from calibration.distributions import Beta
from calibration.substitution import GuardRails, advise
from calibration.substitution.advice import hold_order
from calibration.substitution.suggestion import Suggestion
from calibration.survey import PhraseTable
from calibration.tally import Tally

TABLE = PhraseTable(
    "three",
    ("low", "middle", "high"),
    (Beta(4.0, 6.0), Beta(6.0, 4.0), Beta(8.0, 2.0)),
    (None, None, None),
    {},
    "invented",
)


def swap(source: str, target: str) -> Suggestion:
    means = dict(zip(TABLE.phrases, TABLE.means, strict=True))
    return Suggestion(
        source, target, 50.0, 0.5, 0.4, 0.6, means[source], means[target], 0.3, 1.0, None
    )


def test_swap_past_another_phrase_in_use_is_held_back() -> None:
    kept, held = hold_order((swap("high", "low"),), n=np.array([5.0, 5.0, 5.0]), phrase_table=TABLE)
    assert kept == ()
    assert [(h.source, h.target, h.reason) for h in held] == [("high", "low", "out of order")]


def test_swap_past_a_phrase_nobody_used_stays() -> None:
    kept, held = hold_order((swap("high", "low"),), n=np.array([0.0, 0.0, 5.0]), phrase_table=TABLE)
    assert len(kept) == 1
    assert held == ()


def test_swap_onto_a_neighbour_keeps_the_order() -> None:
    kept, _ = hold_order((swap("high", "middle"),), n=np.array([5.0, 5.0, 5.0]), phrase_table=TABLE)
    assert [s.target for s in kept] == ["middle"]


def test_later_swap_is_judged_beside_those_already_taken() -> None:
    both = (swap("middle", "low"), swap("high", "low"))
    kept, _ = hold_order(both, n=np.array([5.0, 5.0, 5.0]), phrase_table=TABLE)
    assert [s.source for s in kept] == ["middle", "high"]


def test_rail_is_off_unless_asked_for_and_then_reported() -> None:
    # "high" (mean .8) is right 40 % of the time, which is what "low" says; "middle" is right.
    tally = Tally.from_moments([100.0, 100.0, 200.0], [40.0, 60.0, 80.0])
    free, railed = (
        advise(
            tally,
            phrase_table=TABLE,
            guard_rails=GuardRails(keep_order=keep, informativeness_floor=0.0),
            rng=np.random.default_rng(0),
        )
        for keep in (False, True)
    )
    assert [(s.source, s.target) for s in free.suggestions] == [("high", "low")]
    assert railed.suggestions == ()
    assert [h.source for h in railed.suppressed] == ["low", "middle", "high"]
    assert railed.suppressed[-1].reason == "out of order"
