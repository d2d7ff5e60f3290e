"""The promises of the whole instrument: phrases untouched, known people found, leaks withheld."""

from __future__ import annotations

from datetime import date

import pytest

from pipeline.deidentify import (
    Clean,
    Deidentifier,
    KnownIdentifiers,
    LeakScan,
    Options,
    Quarantined,
    Surrogates,
)
from pipeline.deidentify.surrogates import _names

CLEANER = Deidentifier()
MAY = KnownIdentifiers(names=("MAY^GRACE", "White, Will"))


def clean(text: str, known: KnownIdentifiers = MAY) -> Clean:
    outcome = CLEANER.clean(text, known=known)
    assert isinstance(outcome, Clean)
    return outcome


@pytest.mark.parametrize(
    "text",
    [
        "May represent edema.",
        "IMPRESSION:\n3. May represent scarring.",
        "IMPRESSION: 1 May represent scarring.",
        "MAY REPRESENT EDEMA. LIKELY SMALL EFFUSION.",
        "White matter is normal. Likely benign. Will follow.",
        "Possible edema; 5 may be infectious.",
    ],
)
def test_a_certainty_phrase_survives_people_of_that_name(text: str) -> None:
    outcome = clean(text)
    assert outcome.text == text
    assert outcome.removed == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mail chest.possible@films.example.ie at once.", "Mail [EMAIL] at once."),
        ("Mail unlikely-lim@films.example.ie at once.", "Mail [EMAIL] at once."),
        ("Mail j.probable@likely.example.org. Likely benign.", "Mail [EMAIL]. Likely benign."),
        ("At https://films.example/possible/case?q=likely.", "At [URL]."),
        ("At www.probable-films.example/x.", "At [URL]."),
        ("Likely/possible edema. Likely @ base.", "Likely/possible edema. Likely @ base."),
    ],
)
def test_an_address_goes_whole_though_it_holds_words_of_certainty(text: str, expected: str) -> None:
    assert clean(text, KnownIdentifiers()).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "R/V Dr. Tiernan? See notes.",
        "Tip in the V. jugularis.",
        "In the Report? No. Heisei films.",
        "Resident: None. Attending: Ann Tiernan, MD",
    ],
    ids=["abbreviation", "vessel", "answer", "none"],
)
def test_the_letter_of_an_abbreviation_or_a_vessel_and_an_answer_are_locked(text: str) -> None:
    assert clean(text, KnownIdentifiers()).phrases_locked == 1


def test_phrases_are_counted_before_and_after() -> None:
    assert clean("Likely edema, seen by Dr. May. No evidence of effusion.").phrases_locked == 2


def test_the_no_of_a_label_is_no_part_of_the_number() -> None:
    assert clean("DOB 690214 ID NO 6902145089083\nChest.").text.endswith("ID NO [ID]\nChest.")


def test_an_initial_v_is_a_name_and_not_versus() -> None:
    assert clean("Seen with Dr. V. Young at once.").text == "Seen with Dr. [NAME] at once."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Prior of Kowalski reviewed.", "Prior of [NAME] reviewed."),
        ("Prior of Kowalksi reviewed.", "Prior of [NAME] reviewed."),
        ("Prior of kowalski reviewed.", "Prior of kowalski reviewed."),
        ("Kowalskifoo reviewed.", "Kowalskifoo reviewed."),
        ("See A-123 456 again.", "See [ID] again."),
    ],
    ids=[
        "exact",
        "one typing error",
        "small letters",
        "token boundary",
        "number in other spelling",
    ],
)
def test_known_identifiers_are_found(text: str, expected: str) -> None:
    known = KnownIdentifiers(names=("KOWALSKI^JO",), numbers=("A123456",))
    rules = Deidentifier(Options(caution=0))
    outcome = rules.clean(text, known=known, scan=LeakScan.from_known([]))
    assert isinstance(outcome, Clean)
    assert outcome.text == expected


BODY = "Chest, two views. The heart is normal in size. {} The lungs are clear. No effusion."


def known_gone(said: str, *names: str) -> str:
    """Clean what is said inside a report whose record names these people."""
    before, after = BODY.split("{}")
    text = clean(BODY.format(said), KnownIdentifiers(names=names)).text
    return text.removeprefix(before).removesuffix(after)


@pytest.mark.parametrize(
    "name", ["Wilson", "Miller", "Clark", "Lewis", "Turner", "Baker", "Foley", "Graves", "Wells"]
)
def test_a_known_name_goes_though_diseases_and_devices_bear_it(name: str) -> None:
    person = f"{name}, Roxanne"
    assert known_gone(f"Films of {name} are seen.", person) == "Films of [NAME] are seen."
    assert known_gone(f"{name} declined contrast.", person) == "[NAME] declined contrast."
    assert known_gone(f"It was seen in {name} before.", person) == "It was seen in [NAME] before."
    for stays in (f"{name} disease.", f"{name}'s disease.", f"{name}' disease, {name} B lines."):
        assert known_gone(stays, person) == stays


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Foley catheter in place.", "Foley, Ann"),
        ("Wells score 4. Baker cyst, Graves ophthalmopathy.", "Wells, Baker Graves"),
        ("Wolff-Parkinson-White syndrome.", "Parkinson, Ann"),
        ("Swan-Ganz in place.", "Swan, Ann"),
    ],
)
def test_a_clinical_name_stays_though_the_record_s_person_bears_it(said: str, name: str) -> None:
    assert known_gone(said, name) == said


def test_a_double_name_of_the_record_goes_though_both_halves_are_eponyms() -> None:
    assert known_gone("Miller-Lewis declined.", "Miller-Lewis, Ann") == "[NAME] declined."


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("Köhlert, U", "Kohlert"), ("Köhlert, U", "Koehlert"), ("Koehlert, U", "Köhlert"),
        ("Köhlert, U", "Ko\u0308hlert"), ("Ko\u0308hlert, U", "Köhlert"), ("Kohlert, U", "Köhlert"),
        ("Çelik, A", "Celik"), ("Sørensen, A", "Soerensen"), ("Sørensen, A", "Sorensen"),
        ("Pawłowska, A", "PAWLOWSKA"), ("O'Hanlon, B", "O’Hanlon"), ("Haakonsen, C", "Hakonsen"),
    ],
)  # fmt: skip
def test_a_known_name_is_one_whatever_its_accents(field: str, written: str) -> None:
    assert known_gone(f"Films of {written} are seen.", field) == "Films of [NAME] are seen."
    assert LeakScan.from_known([KnownIdentifiers(names=(field,))]).hits(f"Films of {written}.") == 1


@pytest.mark.parametrize(
    "written",
    [
        "<b>{}</b>czewski", "<b>{}</b><i class='x'>czewski</i>", "{}-czewski", "{}.czewski",
        "{}*czewski", "{}\u00adczewski", "{}_czewski",
    ],
)  # fmt: skip
def test_a_known_name_goes_whole_with_markup_or_a_mark_inside(written: str) -> None:
    left = known_gone(f"Films of {written.format('Kowal')} are seen.", "Kowalczewski, Jo")
    assert not any(part in left for part in ("Kowal", "czew", "ski"))
    assert left.startswith("Films of ")
    assert left.endswith(" are seen.")


@pytest.mark.parametrize("between", [".", "-", "*", " ", ". ", "<u></u>", "\u200b"])
@pytest.mark.parametrize("name", ["Kowalczewski", "KOWALCZEWSKI", "Köhler"])
def test_a_known_name_goes_whole_with_marks_between_its_letters(between: str, name: str) -> None:
    told = f"Seen by {between.join(name)} in the R/V lobe, V-P shunt, follow-up."
    people = ("Kowalczewski, Jo", "Koehler, Up")
    assert known_gone(told, *people) == "Seen by [NAME] in the R/V lobe, V-P shunt, follow-up."


@pytest.mark.parametrize("written", ["0konkwo", "Ok0nkwo", "Okonkw0", "0k0nkw0"])
def test_a_known_name_goes_with_figures_read_for_its_letters(written: str) -> None:
    assert (
        known_gone(f"Films of {written} are seen.", "Okonkwo, Ada") == "Films of [NAME] are seen."
    )


def test_a_long_known_name_goes_with_a_figure_and_measures_stay() -> None:
    people = ("Thistlethwaite, Jo", "Smith, Ann")
    assert known_gone("Seen by Thistlethwa1te.", *people) == "Seen by [NAME]."
    assert known_gone("At T5, 15mm, L1S1.", *people) == "At T5, 15mm, L1S1."


@pytest.mark.parametrize("names", [(), ("Pemberton, Harriet",)], ids=["no field", "field"])
def test_a_name_goes_whole_though_a_line_ends_inside(names: tuple[str, ...]) -> None:
    said = "Discussed with Dr. Harriet Pember-\nton today."
    assert "ton" not in known_gone(said, *names)
    assert known_gone("CC: PEMBER-\nTON", *names) == "CC: [NAME]"


def test_a_line_s_end_behind_a_name_takes_no_word_with_it() -> None:
    said = "Seen by Dr. Harriet Pember-\nlikely benign, with Dr. Kowalski-\nlungs are clear."
    assert (
        known_gone(said) == "Seen by Dr. [NAME]-\nlikely benign, with Dr. [NAME]-\nlungs are clear."
    )


def test_a_known_name_that_is_a_word_goes_only_where_it_stands_as_a_name() -> None:
    text = "The white matter is normal. Shown to White today, and May White agreed."
    gone = "The white matter is normal. Shown to [NAME] today, and [NAME] agreed."
    assert clean(text).text == gone


BATCH = [
    KnownIdentifiers(names=("Szymborska^Wisława",), numbers=("PX-998877",)),
    KnownIdentifiers(names=("WHITE^MAY", "Parkinson, Long")),
    KnownIdentifiers(names=("Fields, Art", "Mansfield, Jo"), numbers=("440-555-0101",)),
]


@pytest.mark.parametrize(
    "text",
    [
        "White matter. May represent edema. Long segment. Lung Fields. Art.",
        "Parkinson disease. Parkinson's disease is known.",
        "PX and 998 and 555.",
    ],
)
def test_the_leak_scan_does_not_fire_on_words(text: str) -> None:
    assert LeakScan.from_known(BATCH).hits(text) == 0


@pytest.mark.parametrize(
    "text",
    [
        "as szymborska said: Szymborska",
        "number PX998877",
        "number PX 998-877",
        "by May White",
        "White, May",
        "440 555 0101",
        "440\u2011555\u20130101",
        "number PX9988\u200b77",
        "number PX\uff19\uff19\uff18\uff18\uff17\uff17",
        "by Szym\u00adborska",
        "by \uff33\uff5a\uff59\uff4d\uff42\uff4f\uff52\uff53\uff4b\uff41",
        "by \u202eSzymbo\u2060rska",
        "by Mansﬁeld",
    ],
)
def test_the_leak_scan_finds_what_anyone_in_the_batch_left(text: str) -> None:
    assert LeakScan.from_known(BATCH).hits(text) > 0


def test_a_leak_withholds_the_report() -> None:
    known = [KnownIdentifiers(), KnownIdentifiers(names=("Szymborska^Wisława",))]
    texts = ["Szymborska stable as before", "clear"]
    first, second = CLEANER.batch(texts, known=known)
    assert first == Quarantined("leak")
    assert isinstance(second, Clean)


def test_a_text_over_the_cap_is_withheld_unread() -> None:
    short = Deidentifier(Options(max_characters=10))
    assert short.clean("x" * 11) == Quarantined("text-too-long")


def test_texts_and_known_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="shorter"):
        CLEANER.batch(["a", "b"], known=[KnownIdentifiers()])


def test_spans_point_into_the_original() -> None:
    text = "MRN: 12345678. Likely edema."
    (removed,) = clean(text).removed
    assert text[removed.start : removed.end] == "12345678"


def test_surrogates_are_consistent_and_dates_keep_their_distance() -> None:
    writer = Deidentifier(Options(replacement="surrogate"))
    people = Surrogates(b"k" * 32, patient="P-1", shift_days=-10)
    text = "Dr. Kowalski, 3 March 2021. Dr. Kowalski, March 13, 2021. A 97-year-old man."
    outcome = writer.clean(text, surrogates=people)
    assert isinstance(outcome, Clean)
    names = {word.strip(",") for word in outcome.text.split() if word.istitle()} - {"Dr."}
    names = {name for name in names if len(name) > 1}
    assert len(names) == 1
    assert "Kowalski" not in outcome.text
    assert "2021-02-21" in outcome.text
    assert "2021-03-03" in outcome.text
    assert "90+ years" in outcome.text


def test_an_invented_name_that_is_somebodys_in_the_batch_withholds_nothing() -> None:
    writer = Deidentifier(Options(replacement="surrogate"))
    everybody = [KnownIdentifiers(names=(name,)) for name in _names()]
    texts = ["Seen with Dr. Okonkwo. Likely pneumonia."] * len(everybody)
    outcomes = writer.batch(texts, known=everybody)
    assert {type(each) for each in outcomes} == {Clean}
    left = Deidentifier(Options(caution=0)).batch(["Carmichael of bed 7."], known=[MAY])[0]
    assert isinstance(left, Clean)
    assert LeakScan.from_known([KnownIdentifiers(names=("Carmichael",))]).hits(left.text) == 1


def test_a_surrogate_differs_between_patients() -> None:
    one = Surrogates(b"k" * 32, patient="P-1").replace("MR123456", "ID")
    two = Surrogates(b"k" * 32, patient="P-2").replace("MR123456", "ID")
    assert one != two
    assert len(one) == len(two) == len("MR123456")


def test_a_surrogate_is_never_the_name_it_replaces() -> None:
    for patient in range(300):
        made = Surrogates(b"k" * 32, patient=str(patient)).replace("ABERNETHY", "NAME")
        assert made != "ABERNETHY"


def test_a_date_without_a_shift_stays_a_token() -> None:
    assert Surrogates(b"k" * 32).replace("3 March 2021", "DATE") == "[DATE]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("05/06/27", "[DATE]"), ("12/25/99", "1999-12-26"), ("05/06/26", "2026-05-07"),
        ("1929-04-03", "[DATE]"), ("1937-04-03", "1937-04-04"), ("12/31/9999", "[DATE]"),
    ],
)  # fmt: skip
def test_a_surrogate_date_is_none_of_the_future_or_of_a_great_age(text: str, expected: str) -> None:
    made = Surrogates(b"k" * 32, shift_days=1, today=date(2026, 6, 1)).replace(text, "DATE")
    assert made == expected


def test_a_date_at_the_calendar_s_begin_stays_a_token() -> None:
    made = Surrogates(b"k" * 32, shift_days=-9).replace("0001-01-01", "DATE")
    assert made == "[DATE]"


@pytest.mark.parametrize("text", ["J.K.M.", "A.B. / C.D.", "w. l."])
def test_surrogate_initials_are_others(text: str) -> None:
    for patient in range(50):
        made = Surrogates(b"k" * 32, patient=str(patient)).replace(text, "NAME")
        assert len(made) == len(text)
        pairs = zip(made.casefold(), text.casefold(), strict=True)
        assert all((a == b) != b.isalpha() for a, b in pairs)


@pytest.mark.parametrize("text", ["doe-jane-1931", "jkowalski2", "１２３４５", "١٢٣٤٥٦٧"])
def test_surrogate_numbers_keep_nothing_of_the_original(text: str) -> None:
    made = Surrogates(b"k" * 32, patient="P-1").replace(text, "ID")
    assert len(made) == len(text)
    assert made.isascii()
    parts = text.split("-")
    assert not any(part in made for part in parts)
    assert [c.isdigit() for c in made] == [c.isdigit() for c in text]


@pytest.mark.parametrize(
    "text",
    [
        "Name: Frau Dr. [NAME], Kardiologie.",
        "Reader A: no nodule. Reader B: no nodule.",
        "Sent to A&E for a V/Q scan. Phoned to S/N on the ward.",
        "The mother speaks Somali, interpreter Tamil.",
        "Referred by Occupational Health, Thoracic Surgery.",
        "Film at 28/40, repeat in 6/52. Control in 24 h, ordered as R91.1.",
        "Drain at the 4th posterior rib, 1.1 L of fluid, 5000 IU heparin.",
        "PE, thrombophilia screen: factor V Leiden heterozygous. FACTOR V LEIDEN.",
    ],
)
def test_what_names_nobody_stays(text: str) -> None:
    found = CLEANER.clean(f"CT CHEST. {text} No nodule, no effusion, no oedema of the lungs.")
    assert isinstance(found, Clean)
    assert found.removed == ()


def test_words_that_name_nobody_go_as_the_rest_of_a_place() -> None:
    text = "Seen at St. Benedict's Hospice & Oncology yesterday, no oedema, no effusion, no nodule."
    assert "Oncology" not in clean(text, KnownIdentifiers()).text


@pytest.mark.parametrize("text", ["Cough x 2/12, GCS 12/15.", "Lund-Mackay 11/24.", "2/7 fever"])
def test_spans_of_time_and_scores_are_no_dates_to_the_rules(text: str) -> None:
    outcome = Deidentifier(Options(caution=0)).clean(text)
    assert isinstance(outcome, Clean)
    assert outcome.removed == ()
