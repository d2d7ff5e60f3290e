"""The learned judge: hand-made weights, what it may and may not touch, its file."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pipeline.cli.deidentify import Lists
from pipeline.config.sections import Deidentification
from pipeline.deidentify import Clean, Deidentifier, KnownIdentifiers, LeakScan, Options
from pipeline.deidentify.judge import CAUTION, Weights, model
from pipeline.deidentify.judge.evidence import FACTS, VOTES, Ballot, gather, hold
from pipeline.deidentify.judge.model import (
    INPUTS,
    LABELS,
    STEPS,
    Case,
    Rows,
    calibrated,
    load_weights,
    probabilities,
    reasons,
)
from pipeline.deidentify.judge.tokens import (
    KINDS,
    Describer,
    lay_out,
    number_kinds,
    shape,
)
from pipeline.deidentify.locks import is_no_name
from pipeline.deidentify.spans import Claims
from pipeline.names.grammar import RUNS, half, letters, spelling_features
from pipeline.names.lexicon import load

NAME = LABELS.index("NAME")
REST = (
    " The lungs are clear and the heart is of normal size. There is no effusion and no pneumothorax"
    " on either side. The bones are old."
)
"""So much that a text counts as a report."""


def zeros(*words: str) -> dict[str, object]:
    """Give a network of one unit that knows some words and has no opinion on any."""
    facts = sum(size for _, size in FACTS)
    return {
        "token_features": tuple(f"w:{word}" for word in words), "gap_features": ("k:blank",),
        "rules": ("name-uncued",), "tokens": np.zeros((1, len(words), 1), np.float32),
        "gaps": np.zeros((1, 1, 1), np.float32), "token_mix": np.zeros((1, 3, 1, 1), np.float32),
        "gap_mix": np.zeros((1, 2, 1, 1), np.float32),
        "votes": np.zeros((1, len(VOTES), 1), np.float32), "own": np.zeros((1, 1, 1), np.float32),
        "facts": np.zeros((1, facts, 1), np.float32), "bias": np.zeros((1, 1), np.float32),
        "enter": np.ones((1, 1, 1), np.float32), "enter_bias": np.zeros((1, 1), np.float32),
        "steps": np.zeros((1, len(STEPS), 3, 1), np.float32),
        "steps_bias": np.zeros((1, len(STEPS), 1), np.float32),
        "middle": np.array([[[1], [0], [0]]], np.float32),
        "middle_bias": np.zeros((1, 1), np.float32),
        "out": np.zeros((1, 1, len(LABELS)), np.float32),
        "out_bias": np.eye(1, len(LABELS), dtype=np.float32) * 10,
        "calibration": np.array([[1, 0]] * len(KINDS), np.float32),
        "runs": np.eye(1, len(load_weights().runs), 1, dtype=np.float32)[0],
    }  # fmt: skip


def taking(*words: str, weight: float = 30) -> Weights:
    """Give a network that takes some words for names wherever they stand, and nothing else."""
    tables = zeros(*words)
    tables["tokens"][:] = 1  # type: ignore[index]
    tables["token_mix"][0, 0] = 1  # type: ignore[index]
    tables["out"][0, 0, NAME] = weight  # type: ignore[index]
    return Weights(**tables)  # type: ignore[arg-type]


def cleaned(text: str, weights: Weights, **known: tuple[str, ...]) -> str:
    outcome = Deidentifier(weights=weights).clean(text + REST, known=KnownIdentifiers(**known))
    assert isinstance(outcome, Clean)
    return outcome.text.removesuffix(REST)


def test_a_word_with_the_weight_of_a_name_is_taken() -> None:
    text = "No change since Drain saw the film."
    assert cleaned(text, taking("drain")) == "No change since [NAME] saw the film."
    assert cleaned(text, taking("nobody")) == text


def test_words_of_certainty_are_never_asked_whatever_their_weight() -> None:
    text = "May represent edema. Likely old. V. Young cannot be excluded."
    outcome = cleaned(text, taking("may", "represent", "likely", "cannot", "excluded"))
    assert outcome.startswith("May represent edema. Likely old.")
    assert outcome.endswith("cannot be excluded.")


def test_guarded_clinical_names_are_never_asked_whatever_their_weight() -> None:
    text = "A Foley catheter and Kerley B lines at T7."
    assert cleaned(text, taking("foley", "kerley", "b", "t7")) == text


def test_makers_and_drugs_stay_and_people_of_their_name_do_not() -> None:
    text = "Konica Minolta film, Boston Scientific lead."
    words = taking("konica", "minolta", "boston", "scientific")
    assert cleaned(text, words) == text
    assert cleaned("Mr Boston was seen.", words) == "Mr [NAME] was seen."
    drugs = taking("riociguat", "veletri", "selexa")
    assert cleaned("On Veletri, then riociguat.", drugs) == "On Veletri, then riociguat."
    assert cleaned("On Selexa, then. Told Dr. Veletri.", drugs) == (
        "On [NAME], then. Told Dr. [NAME]."
    )


def test_no_thing_is_anybodys_name_or_a_towns() -> None:
    lists = load()
    places = {word for place in lists.cities | lists.towns for word in place.split()}
    assert not lists.things & (lists.all_names | lists.unreported | lists.common_words | places)
    assert not [name for name in lists.names | places if is_no_name(name, lists)]


def test_litres_of_oxygen_are_a_measure() -> None:
    text = "Saturation 98% on 2 L. No effusion was seen."
    assert cleaned(text, taking("l")) == text
    assert (
        cleaned("Seen by L. No effusion was seen.", taking("l"))
        != "Seen by L. No effusion was seen."
    )


def test_a_doubtful_find_that_nothing_speaks_for_is_given_back() -> None:
    text = "Clear film. Feeding tube seen on Monday."
    rules = Deidentifier(Options(caution=0)).clean(text + REST)
    assert isinstance(rules, Clean)
    assert rules.text.startswith("Clear film. Feeding tube seen on [DATE].")
    assert cleaned(text, taking("nobody")) == text


def test_of_a_text_of_a_few_words_only_what_is_nearly_sure_goes() -> None:
    text, gone = "No change since Drain saw it.", "No change since [NAME] saw it."
    sure, likely = taking("drain"), taking("drain", weight=8)
    assert cleaned(text, sure) == cleaned(text, likely) == gone
    assert [Deidentifier(weights=each).clean(text).text for each in (sure, likely)] == [gone, text]  # type: ignore[union-attr]


def test_figures_and_small_words_are_weighed_like_any_other() -> None:
    text = "Seen 98.6 by kev and a7."
    assert cleaned(text, taking("kev", "a7")) == "Seen 98.6 by [NAME] and [NAME]."


def test_a_name_that_a_disease_bears_too_goes_where_it_is_likelier_a_persons() -> None:
    text = "Wilson disease. Read with G. Wilson, no relation."
    gone = "Wilson disease. Read with [NAME], no relation."
    assert cleaned(text, taking("wilson", weight=15)) == gone
    assert cleaned(text, taking("wilson", weight=9)) == text


def test_a_run_is_taken_by_the_line_that_weighs_it_as_a_whole() -> None:
    plain, gone = "It is mouth here.", "It is [NAME] here."
    known = zeros("mouth", "drain")
    known["tokens"][:] = 1  # type: ignore[index]
    known["token_mix"][0, 0] = 1  # type: ignore[index]
    known["out"][0, 0, NAME] = 9  # type: ignore[index]
    # log-odds 9 - 10; a label's number and a kind's stand behind seven others in the line
    kinds = 7 + len(LABELS) - 1
    known["runs"][kinds + KINDS.index("idle")] = -2  # type: ignore[index]
    assert cleaned(plain, taking("mouth", weight=9)) == gone
    assert cleaned(plain, Weights(**known)) == plain  # type: ignore[arg-type]
    assert cleaned("It is Drain here.", Weights(**known)) == "It is [NAME] here."  # type: ignore[arg-type]
    known["out"][0, 0, NAME] = 15  # type: ignore[index]
    assert cleaned(plain, Weights(**known)) == gone  # type: ignore[arg-type]


def test_a_plain_word_goes_beside_what_is_taken_only_as_more_of_the_same() -> None:
    tables = zeros("week", "mouth")
    # log-odds 6.6 - 10 for a date of week and mouth: p = .03, between 1/55 and 1/13
    tables["tokens"][:] = 1  # type: ignore[index]
    tables["token_mix"][0, 0] = 1  # type: ignore[index]
    tables["out"][0, 0, LABELS.index("DATE")] = 6.6  # type: ignore[index]
    text = "Film of 3 May 2021 week. Dr. Amanda Huang week, a mouth."
    told = cleaned(text, Weights(**tables))  # type: ignore[arg-type]
    assert told == "Film of [DATE] [DATE]. Dr. [NAME] week, a mouth."


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        (
            "Indication: known patient of Glenn Huang here.",
            "Indication: known patient of [NAME] here.",
        ),
        ("Results told Trevor Glenn at noon.", "Results told [NAME] at [TIME]."),
        ("Patient: Aino, Glenn 52M", "Patient: [NAME] 52M"),
        ("Resident of Glenn Manor Nursing Home.", "Resident of [HOSPITAL]."),
        ("Foley catheter removed by Dr Foley.", "Foley catheter removed by Dr [NAME]."),
    ],
)
def test_the_shipped_judge_tells_a_person_from_the_shunt_of_that_name(text: str, gone: str) -> None:
    outcome = Deidentifier().clean(f"{text}\n\nFINDINGS:{REST}")
    assert isinstance(outcome, Clean)
    assert outcome.text.startswith(f"{gone}\n")


@pytest.mark.parametrize("word", ["MBBS", "I", "Frau"])
def test_a_credential_a_title_and_a_pronoun_are_no_names_whatever_their_weight(word: str) -> None:
    text = f"It is {word} here."
    assert cleaned(text, taking(word.casefold())) == text


def test_what_the_record_names_stays_taken_though_the_judge_gives_it_back() -> None:
    text = "The film was shown to Zanzibar, Quillfeather agreed."
    clean = cleaned(text, taking("nobody"), names=("Quillfeather^Zed",))
    assert "Quillfeather" not in clean


def test_a_known_number_goes_whole_before_the_judge_takes_its_parts() -> None:
    weights = taking("a", "123", "456")
    assert cleaned("See A-123 456 again.", weights, numbers=("A123456",)) == "See [ID] again."


@pytest.mark.parametrize(
    ("caution", "taken"), [(1.0, False), (3.0, True), (0.0, False)], ids=["1", "3", "rules alone"]
)
def test_a_chance_of_one_in_three_is_taken_where_a_miss_weighs_three(
    caution: float, *, taken: bool
) -> None:
    tables = zeros("drain")
    tables["tokens"][:] = 1  # type: ignore[index]
    tables["token_mix"][0, 0] = 1  # type: ignore[index]
    tables["out"][0, 0, NAME] = 1  # type: ignore[index]
    # softmax over eleven labels: e^(b) against e^1 + 9, so that 1 - p(NONE) = 1/3
    tables["out_bias"] = np.eye(1, len(LABELS), dtype=np.float32) * np.log(2 * (np.e + 9))
    weights = Weights(**tables)  # type: ignore[arg-type]
    outcome = Deidentifier(Options(caution=caution), weights=weights).clean(
        "Seen, Drain noted." + REST
    )
    assert isinstance(outcome, Clean)
    assert ("[NAME]" in outcome.text) is taken


def test_a_word_is_likelier_taken_beside_one_that_is_taken() -> None:
    tables = zeros("drain", "hale")
    # log-odds 30 - 10 of Drain, and 6.5 - 10 of Hale: p = .03, between 1/65 and 1/17
    tables["tokens"][0, :, 0] = 1, 6.5 / 30  # type: ignore[index]
    tables["token_mix"][0, 0] = 1  # type: ignore[index]
    tables["out"][0, 0, NAME] = 30  # type: ignore[index]
    text = "Told Drain Hale, then Hale Morrow left; Hale: (Drain)"
    told = cleaned(text, Weights(**tables))  # type: ignore[arg-type]
    assert told == "Told [NAME], then Hale Morrow left; Hale: ([NAME])"


def test_networks_side_by_side_are_heard_by_the_mean_of_their_logits() -> None:
    two = {
        name: table if name in ("rules", "calibration", "runs", "token_features", "gap_features")
        else np.concatenate([table, table])  # type: ignore[list-item]
        for name, table in zeros("drain").items()
    }  # fmt: skip
    # both know Drain; the first is sure of a name (30 - 10), the second is not asked (-10)
    two["tokens"][:] = 1  # type: ignore[index]
    two["token_mix"][:, 0] = 1  # type: ignore[index]
    two["out"][0, 0, NAME] = 30  # type: ignore[index]
    told = "Told Drain here."  # (20 - 10) / 2 = 5 for a name
    assert cleaned(told, Weights(**two)) == "Told [NAME] here."  # type: ignore[arg-type]
    two["out"][0, 0, NAME] = 14  # type: ignore[index]  # (4 - 10) / 2 = -3: p = .047
    assert cleaned(told, Weights(**two)) == told  # type: ignore[arg-type]


def test_calibration_moves_the_logit_by_slope_and_shift() -> None:
    tables = zeros("drain") | {"calibration": np.array([[1, 0], [2, 1]], np.float32)}
    chances = np.array([0.5, 0.5, 0.8], np.float32)
    moved = calibrated(chances, np.array([0, 1, 1]), Weights(**tables))  # type: ignore[arg-type]
    # logit .5 = 0 -> 0 and 1; logit .8 = log 4 -> 2 log 4 + 1
    expected = [0.5, 1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-(2 * np.log(4) + 1)))]
    assert moved == pytest.approx(expected, rel=1e-5)


def heard(*texts: str, weights: Weights) -> tuple[Case, list[str]]:
    """Give what is known of the tokens of some texts, and the tokens; no rule takes anything."""
    describer = Describer(load())
    words, gaps = describer.glossaries()
    shard = lay_out(texts, words, gaps)
    size = len(shard.words)
    ballot = Ballot(np.zeros(size, np.int64), np.full(size, -1))
    evidence = gather(shard, ballot, words=words, gaps=gaps)
    case = Case(
        evidence, Rows(weights.token_features, weights.tokens, describer.tokens).of(words.strings),
        Rows(weights.gap_features, weights.gaps, partial(map, describer.gap)).of(gaps.strings),
        np.full(len(evidence.slots), -1), np.arange(len(evidence.slots)),
    )  # fmt: skip
    return case, [words.strings[at] for at in evidence.words[:, 0]]


def chances(*texts: str, **tables: np.ndarray) -> list[float]:
    """Give each token's log-odds of a name where a network of one unit knows the word Zed."""
    given = zeros("zed") | {"tokens": np.ones((1, 1, 1), np.float32)} | tables
    given["token_mix"][0, 0] = 1  # type: ignore[index]
    given["out"][0, 0, NAME] = 1  # type: ignore[index]
    given["out_bias"] = np.zeros((1, len(LABELS)), np.float32)
    weights = Weights(**given)  # type: ignore[arg-type]
    shares = probabilities(weights, heard(*texts, weights=weights)[0])
    return [round(float(each), 4) for each in np.log(shares[:, NAME] / shares[:, 0])]


def looking(layer: int, row: int) -> dict[str, np.ndarray]:
    """Give a layer that adds what stands before (0), at (1) or behind (2) a token."""
    steps = np.zeros((1, len(STEPS), 3, 1), np.float32)
    steps[0, layer, row] = 1
    return {"steps": steps}


@pytest.mark.parametrize(("layer", "step"), list(enumerate(STEPS)))
def test_a_layer_looks_as_far_as_its_step_and_into_no_other_text(layer: int, step: int) -> None:
    text = " ".join(["a"] * 9 + ["Zed"] + ["a"] * 9)
    own = [0.0] * 19
    own[9] = 1
    before, behind = list(own), list(own)
    before[9 + step], behind[9 - step] = 1, 1
    assert chances(text, "a a a a a a a a", **looking(layer, 0)) == before + [0] * 8
    assert chances("a a a a a a a a", text, **looking(layer, 2)) == [0] * 8 + behind
    ends = chances("a Zed", "a a", "Zed a", **looking(layer, 0))
    assert ends == [0, 1, 0, 0, 1, float(step == 1)]


def test_a_word_hears_what_its_other_uses_in_the_text_are() -> None:
    # the layer adds to each word what stood before it; the middle weighs the mean of the others
    tables = looking(0, 0) | {"middle": np.array([[[0], [1], [0]]], np.float32)}
    text = "Zed Roe left, later roe and Roe came."
    # Roe hears 0 and 0, the other two half of the first's 1; Zed stands alone
    assert chances(text, "Roe came", **tables) == [0, 0, 0, 0, 0.5, 0, 0.5, 0, 0, 0]


def test_networks_take_one_thread_in_a_program_that_gives_them_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def threads() -> set[int]:
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    seen: list[set[int]] = []
    softmax = model._softmax
    monkeypatch.setattr(model, "_softmax", lambda x: seen.append(threads()) or softmax(x))
    with threadpool_limits(2, user_api="blas"):
        assert chances("Zed") == [1]
        assert threads() == {2}
    assert seen == [{1}]


def test_what_speaks_for_a_token_is_what_its_chance_falls_by_without_it() -> None:
    weights = taking("drain")
    case, tokens = heard("Told Drain here, drain.", weights=weights)
    worth = reasons(weights, case)
    assert tokens == ["Told", "Drain", "here", "drain"]
    assert worth.shape == (4, len(INPUTS))
    assert worth[1, INPUTS.index("word")] > 0.9
    assert np.abs(np.delete(worth, INPUTS.index("word"), axis=1)).max() < 1e-6


def test_a_shard_lays_out_tokens_gaps_and_places_of_every_text() -> None:
    texts = ["Dr. O'Brien-Smith, 3/4: MRN 00A12\n", "", "Änne’s film"]
    words, gaps = Describer(load()).glossaries()
    shard = lay_out(texts, words, gaps)
    tokens = [
        [words.strings[at] for at in shard.words[first : first + count]]
        for first, count in zip(shard.firsts, shard.counts, strict=True)
    ]
    assert tokens == [["Dr", "O'Brien", "Smith", "3", "4", "MRN", "00A12"], [], ["Änne’s", "film"]]
    joined = "".join(f"{text}\0" for text in texts)
    full = shard.words > 0
    places = zip(shard.starts[full], shard.ends[full], strict=True)
    assert [joined[start:end] for start, end in places] == [
        word for each in tokens for word in each
    ]
    between = [gaps.strings[at] for at in shard.gaps[shard.firsts[0] : shard.firsts[0] + 8]]
    assert between == ["", ". ", "-", ", ", "/", ": ", " ", "\n"]


@pytest.mark.parametrize(
    ("token", "expected"),
    [("Szczepański", "Aaaaa"), ("MCGEE", "AAAA"), ("McGee", "AaAaa"), ("CT21", "AA00"),
     ("1987", "year"), ("0815", "0x4"), ("123456789012", "0x10")],
)  # fmt: skip
def test_a_shape_tells_letters_capitals_and_figures(token: str, expected: str) -> None:
    assert shape(token) == expected


def test_the_ballot_tells_locks_guards_and_the_rule_of_each_token() -> None:
    claims = Claims("Likely Kerley Doe 5", [(0, 6)])
    claims.guard(7, 13)
    claims.take(14, 17, "NAME", "name-title", sure=True)
    removed = claims.removed()
    shard = lay_out([claims.text], *Describer(load()).glossaries())
    spans = [(each.start, each.end) for each in removed]
    ballot = hold(shard, claims.marks, spans, [each.category for each in removed])
    there = slice(int(shard.firsts[0]), int(shard.firsts[0]) + 4)
    assert [VOTES[vote] for vote in ballot.votes[there]] == ["lock", "guard", "NAME", "none"]
    assert ballot.owners[there].tolist() == [-1, -1, 0, -1]
    assert {VOTES[vote] for vote in ballot.votes[shard.words == 0]} == {"outside"}


def test_reports_come_out_alike_however_their_batch_is_split() -> None:
    texts = [
        "Seen by Drain Zanzibar. " + REST, "", "KQZX77121: MARISOL AGREED." + REST.upper(),
        "Marisol:\nshown, Marisol agreed and marisol left." + REST, REST, "A few words.",
        "Told Okonkwo at 14.30, seen by Okonkwo." + REST, "Okonkwo / Zanzibar\n" + REST,
    ] * 3  # fmt: skip
    known = [KnownIdentifiers(names=("Drain^Zed",) if at % 5 else ()) for at in range(24)]
    cleaner = Deidentifier(Options(caution=30))
    scan = LeakScan.from_known(known)
    whole = cleaner.batch(texts, known=known, scan=scan)
    rng = np.random.default_rng(3)
    for pieces in (1, 2, 3, 5, 7, 9, 11, 15, 20, 24):
        order = rng.permutation(24)
        parts = [
            (some, cleaner.batch([texts[at] for at in some], known=[known[at] for at in some],
                                 scan=scan))
            for some in np.array_split(order, pieces)
        ]  # fmt: skip
        again = {int(at): each for some, part in parts for at, each in zip(some, part, strict=True)}
        assert [again[at] for at in range(24)] == whole


def test_rows_are_the_sums_of_their_features_however_the_table_grew() -> None:
    weights = np.arange(6, dtype=np.float32).reshape(1, 3, 2)
    rows = Rows(("a", "b", "pad"), weights, list)
    strings = ["", "a", "b", "ab", "zz"]
    grown = [rows.of(strings[:many])[0, many - 1].tolist() for many in range(1, 6)]
    assert grown == [[4, 5], [0, 1], [2, 3], [2, 4], [0, 0]]
    assert rows.of(strings)[0, :5].tolist() == grown


def test_the_shipped_weights_are_small_and_know_every_fact() -> None:
    weights = load_weights()
    place = Path(__file__).parents[2] / "pipeline" / "deidentify" / "judge" / "weights.npz"
    assert place.stat().st_size < 2_000_000
    assert weights.facts.shape[1] == sum(size for _, size in FACTS)
    assert weights.votes.shape[1] == len(VOTES)
    assert weights.steps.shape[1] == len(STEPS)


@pytest.mark.parametrize(
    ("gap", "shown"),
    [("  \n   b", "g:\nb"), (" \n \r\n ", "g:\n\n"), (" - ", "g: - "), ("a    b", "g:a  b")],
)
def test_a_gap_is_shown_without_the_blanks_beside_its_breaks(gap: str, shown: str) -> None:
    assert list(Describer.gap(gap))[-1] == shown


def test_only_words_in_small_letters_that_are_no_names_are_plain() -> None:
    words, _ = Describer(load()).glossaries()
    strings = ["lung", "the", "Zed", "4a", "xyq", "Lung", "12"]
    numbers = words.numbers(strings)
    plain = words.trait("plain")[numbers]
    assert dict(zip(strings, map(bool, plain), strict=True)) == {
        "lung": True, "the": True, "Zed": False, "4a": False, "xyq": False, "Lung": False,
        "12": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("figures", "kinds"),
    [("7", {"day", "month", "hour"}), ("31", {"day"}), ("2359", {"clock"}), ("2360", set()),
     ("94", {"old"}), ("0", {"hour"}), ("1234567890123", set())],
)  # fmt: skip
def test_a_number_tells_what_it_may_be(figures: str, kinds: set[str]) -> None:
    assert {each.removeprefix("n:") for each in number_kinds(figures)} == kinds


@pytest.mark.parametrize("of", [Options, Deidentification, Lists])
def test_the_caution_where_nothing_is_said_is_the_judges_own(of: type) -> None:
    defaults = {
        each.name: each.default for each in getattr(of, "__dataclass_fields__", {}).values()
    } or {name: each.default for name, each in of.model_fields.items()}  # type: ignore[attr-defined]
    assert defaults["caution"] == CAUTION


@pytest.mark.parametrize(
    ("word", "least", "most"),
    [
        ("zwierzynska", 7, 9), ("marchettini", 7, 9), ("vandermolen", 7, 9),
        ("hyperlucency", 0, 1), ("intervascular", 0, 1), ("overinflated", 0, 1),
    ],
)  # fmt: skip
def test_a_strangers_name_is_spelt_as_names_are(word: str, least: int, most: int) -> None:
    ((name, _),) = spelling_features([word])
    assert name[:3] == "m:n"
    assert least <= int(name[3:]) <= most


def test_a_strangers_town_is_spelt_as_a_place_rather_than_a_name() -> None:
    (_, town), (_, person) = spelling_features(["wexborough", "marchettini"])
    assert int(town.removeprefix("m:p")) > int(person.removeprefix("m:p"))


def test_each_half_of_our_names_is_spelt_as_names_for_the_other() -> None:
    names = sorted(name for name in load().rare_names if name.isascii() and len(name) > 5)[::50]
    for side in (0, 1):
        ours = spelling_features([each for each in names if half(each) == side])
        steps = [int(name[3:]) for name, _ in ours]
        assert len(steps) > 500
        assert np.mean(np.array(steps) > 4) > 0.75


def test_a_word_has_all_its_runs_of_letters() -> None:
    numbers, ends = letters(["oe", "or", ""])
    own, other, none = (numbers[start:end] for start, end in pairwise(ends))
    assert sorted(own) == sorted(
        crc32(run) % RUNS for run in (b"^o", b"oe", b"e$", b"^oe", b"oe$", b"^oe$")
    )
    assert set(own) & set(other) == {crc32(b"^o") % RUNS}
    assert none.tolist() == [crc32(b"^$") % RUNS]
