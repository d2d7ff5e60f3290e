"""Which numbers are one patient's, against a slow twin and whatever the order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.people import Said, joined

NUMBER = st.sampled_from("ABCDEFG")
MERGE = st.tuples(NUMBER, NUMBER).map(lambda each: (each, False))
LISTED = st.lists(NUMBER, min_size=2, max_size=4).map(lambda each: (tuple(each), True))


def ends(number: str, merges: list[Said], path: tuple[str, ...] = ()) -> set[str]:
    """Walk every way that merges lead; a circle leads to 'nowhere' beside where else."""
    if number in path:
        return {"nowhere"}
    after = {new for (old, new), _ in merges if old == number != new}
    return set().union(*(ends(n, merges, (*path, number)) for n in after)) if after else {number}


@given(st.lists(MERGE, max_size=9))
def test_a_number_is_followed_where_all_ways_lead_to_one_end(merges: list[Said]) -> None:
    found = joined(merges)
    for number in "ABCDEFG":
        end = ends(number, merges)
        expected = end.pop() if len(end) == 1 and end != {"nowhere"} else number
        assert found.stands.get(number, number) == expected


@given(st.lists(MERGE | LISTED, max_size=9), st.randoms(use_true_random=False))
def test_order_and_repetition_change_nothing(said: list[Said], rng: object) -> None:
    mixed = [*said, *said[:3]]
    rng.shuffle(mixed)  # type: ignore[attr-defined]
    assert joined(mixed) == joined(said)


@given(st.lists(MERGE | LISTED, max_size=9))
def test_nobody_is_joined_whom_no_message_names_together(said: list[Said]) -> None:
    found = joined(said)
    clear = [set(numbers) for numbers, kind in said if (numbers, kind) not in found.unclear]
    for number, one in found.stands.items():
        reached, before = {number}, set[str]()
        while reached != before:
            before = set(reached)
            reached |= set().union(*(each for each in clear if each & before))
        assert one in reached
        assert found.stands.get(one, one) == one
