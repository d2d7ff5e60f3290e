"""Hospitals, clinics, towns, addresses and postcodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.grammar import NAME_WORD
from pipeline.deidentify.lexicon import Lexicon
from pipeline.deidentify.rules.found import Found

__all__ = ["find"]

_WORD: Final = rf"(?:St\.?|Ste\.?|Mt\.?|{NAME_WORD}(?:['’]s)?)"
_KIND: Final = (
    r"(?:Hospitals?|Medical[ \t](?:Center|Centre|Group|Associates|College|Campus|Plaza|Park)|Clinics?|Health(?:care|[ \t]?Care)?"
    r"(?:[ \t](?:System|Center|Centre|Network|Partners|Services|Sciences))?|Regional(?:[ \t](?:Medical[ \t]Center|Hospital))?|Infirmary|Hospice|Sanatorium"
    r"|Imaging(?:[ \t](?:Associates|Center|Centre|Group|Partners|Services|Consultants))?|Radiology[ \t](?:Associates|Group|Partners|Consultants|Specialists)"
    r"|Nursing[ \t](?:Home|Facility)|Rehab(?:ilitation)?(?:[ \t](?:Center|Hospital|Facility))?|Care[ \t]Center|Surgery[ \t]Center|Surgical[ \t]Center|Cancer[ \t](?:Center|Institute)"
    r"|Heart[ \t](?:Center|Institute)|Institute|Urgent[ \t]Care|Memorial|Infirmary|University|College|School|Manor|Assisted[ \t]Living|Village|Associates|VA|VAMC|Trust|General)"
)
_NOT_FIRST: Final = (
    r"(?!(?:The|This|Transferred|Admitted|From|At|Department|Comparison|Outside|Prior|No|Per|Seen|And|In|To|Of|For|An?|With"
    r"|Emergency|Urgent|Interventional|Diagnostic|Lung|Current|Primary|Chest|CT|XR|PET|Cardiac|Radiology|Imaging|Medical|Nursing|Cross|Limited|Standard|Further|Clinical)\b)"
)
_HOSPITAL: Final = re.compile(
    rf"(?<![\w^]){_NOT_FIRST}{_WORD}(?:[ \t](?:(?:of|the|and|&|for|at)[ \t])?{_WORD}){{0,4}}?[ \t]{_KIND}\b"
    rf"(?:[ \t](?:of[ \t])?{NAME_WORD}(?:[ \t]{NAME_WORD}){{0,2}})?"
)
_OF: Final = re.compile(
    rf"\b(?:Hospitals?|University|Clinic|Medical[ \t]Center)[ \t](?:of|at)[ \t](?:the[ \t])?{_WORD}(?:[ \t](?:of[ \t])?{_WORD}){{0,3}}"
)
_FROM: Final = re.compile(
    r"\b(?:[Tt]ransfer(?:red)?(?:[ \t](?:in|here))?[ \t](?:from|to)|[Aa]dmitted[ \t](?:to|at|from)|[Rr]eferred[ \t]from|[Ff]rom[ \t]outside[ \t]hospital,?"
    r"|[Oo]utside[ \t](?:hospital|facility|study|exam|CT|films?|images?)[ \t]?(?:from|at|,|\(|-)|(?:performed|obtained|acquired|seen|treated|hospitali[sz]ed|evaluated|done|imaged|presented|discharged|followed|scanned)[ \t](?:at|from)"
    r"|[Ff]acility[ \t]?:|[Ss]ite[ \t]?:|[Ll]ocation[ \t]?:|[Hh]ospital[ \t]?:|[Ii]nstitution[ \t]?:|OSH[ \t]?[(,:-]|study[ \t]from|CT[ \t]from|radiograph[ \t](?:from|at))[ \t]{0,3}(?:the[ \t])?"
    rf"((?:{_WORD})(?:[ \t](?:(?:of|the|and|at|&)[ \t])?{_WORD}){{0,5}})"
)
_STATE: Final = (
    r"(?:AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|OR|PA|RI|SC|SD"
    r"|TN|TX|UT|VT|VA|WA|WV|WI|WY|PR|ON|QC|BC|AB|MB|SK|NS|NB|NL|PE|NSW|VIC|QLD|UK)"
)
_SAFE_STATE: Final = r"(?:AZ|CA|FL|GA|IL|IA|KS|KY|MN|MO|NV|NH|NJ|NM|NY|NC|OH|RI|SC|SD|TN|TX|UT|VT|WA|WV|WI|WY|ON|QC|BC|SK|NS)"
_STATE_NAME: Final = (
    r"(?:Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky"
    r"|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New[ \t](?:Hampshire|Jersey|Mexico|York)"
    r"|North[ \t](?:Carolina|Dakota)|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode[ \t]Island|South[ \t](?:Carolina|Dakota)|Tennessee|Texas|Utah|Vermont|Virginia"
    r"|Washington|West[ \t]Virginia|Wisconsin|Wyoming|Ontario|Quebec|British[ \t]Columbia|Alberta|Manitoba|Saskatchewan|Nova[ \t]Scotia)"
)
_POST: Final = (
    r"(?:\d{5}(?:-\d{4})?(?!\d)|[A-Z]\d[A-Z][ ]?\d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]?[ ]\d[A-Z]{2})"
)
_CITY: Final = rf"{_NOT_FIRST}(?:(?:St|Ft|Mt)\.?[ \t])?{NAME_WORD}(?:[ \t]{NAME_WORD}){{0,2}}"
_TOWN: Final = re.compile(
    rf"(?<![\w^]){_CITY},[ \t]{{0,2}}(?:{_STATE},?[ \t]{{1,2}}{_POST}|{_SAFE_STATE}\b(?![ \t][a-z]{{3}})|{_STATE_NAME}\b(?:,?[ \t]{_POST})?)"
)
_ANY_STATE: Final = re.compile(rf"(?<![\w^])({_CITY}),[ \t]{{0,2}}{_STATE}\b")
_HEADER: Final = re.compile(
    rf"^(?:[^\n]{{0,80}}?,)?[ \t]*({_CITY}),[ \t]{{0,2}}{_STATE}[ \t]*$", re.M
)
_STREET: Final = re.compile(
    rf"(?<![\w.])\d{{1,5}}[A-Z]?[ \t](?:[NSEW]\.?[ \t]|North[ \t]|South[ \t]|East[ \t]|West[ \t])?(?:{NAME_WORD}|\d{{1,3}}(?:st|nd|rd|th))(?:[ \t]{NAME_WORD}){{0,2}}[ \t]"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Way|Court|Ct|Parkway|Pkwy|Place|Pl|Circle|Cir|Terrace|Highway|Hwy|Plaza|Square|Sq)\b\.?"
    r"(?:,?[ \t](?:Suite|Ste|Apt|Apartment|Unit|Floor|Fl|Rm|Room|#)\.?[ \t]?[\w-]{1,6})?"
)
_BOX: Final = re.compile(r"\bP\.?[ \t]?O\.?[ \t]Box[ \t]\d{1,6}\b", re.IGNORECASE)
_ZIP: Final = re.compile(
    rf"\b(?:ZIP|zip|Zip|postcode|Postcode|postal code)(?:[ \t]code)?[ \t]?[:#]?[ \t]{{0,2}}({_POST})"
)
_CANADIAN: Final = re.compile(
    r"(?<!\w)[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z] \d[ABCEGHJ-NPRSTV-Z]\d(?!\w)"
)
_LIVES: Final = re.compile(
    rf"\b(?:lives|living|resides|residing|resident|native|travel(?:led|ed)?|visiting|moved|relocated|home|born|immigrated|emigrated)[ \t](?:in|of|from|to)[ \t]"
    rf"((?:{_WORD})(?:[ \t]{_WORD}){{0,2}}(?:,[ \t](?:{_STATE}|{_STATE_NAME})\b)?)"
)
_CAPITALISED: Final = re.compile(rf"(?<![\w^.-]){NAME_WORD}(?:[ \t]{NAME_WORD})?")


def find(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find hospitals first, for they hold the names of towns."""
    for pattern in (_HOSPITAL, _OF):
        for match in pattern.finditer(text):
            yield Found(match.start(), match.end(), "HOSPITAL", "hospital-kind", sure=False)
    for match in _FROM.finditer(text):
        if not _is_word(match.group(1), lexicon):
            yield Found(*match.span(1), "HOSPITAL", "hospital-from", sure=False)
    for pattern, rule in (
        (_TOWN, "town-state"),
        (_STREET, "street"),
        (_BOX, "box"),
        (_CANADIAN, "postcode"),
    ):
        for match in pattern.finditer(text):
            yield Found(match.start(), match.end(), "LOCATION", rule, sure=False)
    for match in _ZIP.finditer(text):
        yield Found(*match.span(1), "LOCATION", "postcode")
    for match in _HEADER.finditer(text):
        if not _is_word(match.group(1), lexicon):
            yield Found(match.start(1), match.end(), "LOCATION", "town-header", sure=False)
    for match in _ANY_STATE.finditer(text):
        if match.group(1).casefold() in lexicon.cities:
            yield Found(match.start(), match.end(), "LOCATION", "town-state", sure=False)
    for match in _LIVES.finditer(text):
        if not _is_word(match.group(1), lexicon):
            yield Found(*match.span(1), "LOCATION", "town-lives", sure=False)
    yield from _listed(text, lexicon)


def _listed(text: str, lexicon: Lexicon) -> Iterator[Found]:
    for match in _CAPITALISED.finditer(text):
        folded = match.group().casefold()
        first = folded.split()[0]
        if folded in lexicon.hospitals:
            yield Found(match.start(), match.end(), "HOSPITAL", "hospital-listed", sure=False)
        elif folded in lexicon.cities:
            yield Found(match.start(), match.end(), "LOCATION", "town-listed", sure=False)
        elif first in lexicon.cities:
            yield Found(
                match.start(), match.start() + len(first), "LOCATION", "town-listed", sure=False
            )


def _is_word(found: str, lexicon: Lexicon) -> bool:
    first = found.split()[0]
    return first.casefold() in lexicon.not_names
