"""Names of patients, relatives and staff, by what stands around them.

A **cue** (title, role label, communication verb, relative, credential) says that a name is next
to it; `grammar.name_end` says how far it goes. Names that stand alone are left to the
known-identifier pass and to the word lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.grammar import LOWER, NAME_WORD, UPPER, name_end
from pipeline.deidentify.lexicon import Lexicon
from pipeline.deidentify.rules.found import Found

__all__ = ["find"]

_TITLE: Final = (
    r"(?:Drs?|DRS?|Doctors?|DOCTORS?|Prof(?:essor)?|PROF(?:ESSOR)?|Mr|MR|Mrs|MRS|Ms|MS|Miss|MISS|Mx|MX"
    r"|Messrs|Sr|Sra|Mme|Herr|Frau|Fr|Rev|Sister|Nurse|NURSE|RN|NP|PA-C|PA|APRN|CRNP|Capt|Lt|Sgt|Col|Maj)"
)
_TITLED: Final = re.compile(rf"(?<![\w^-]){_TITLE}(?:\.[ \t]{{0,3}}|[ \t]{{1,3}})(?=[{UPPER}vd])")
_LOWER_TITLED: Final = re.compile(
    rf"(?<![\w-])(?:dr|drs|mr|mrs|prof|doctor)(?:\.[ \t]{{0,3}}|[ \t]{{1,3}})([{LOWER}][{LOWER}'’-]{{1,30}})"
)
_ROLE: Final = (
    r"(?:(?:report[ \t]|electronically[ \t]|digitally[ \t]|preliminary[ \t]|final[ \t]|e-?)?"
    r"(?:dictated|transcribed|signed|e-?signed|read|reported|interpreted|reviewed|verified|approved"
    r"|authenticated|finali[sz]ed|prepared|typed|entered|edited|performed|ordered|requested|referred"
    r"|released|validated|authored|cosigned|co-signed|attested|supervised|acknowledged|taken|received|confirmed|written|completed|created|generated|discussed)"
    r"(?:[ \t](?:and|&)[ \t](?:\w{4,14}[ \t]){1,3}?)?[ \t]?by"
    r"|(?:(?:ordering|referring|requesting|attending|interpreting|reading|dictating|primary[ \t]care"
    r"|responsible|supervising|consulting|admitting|signing|reporting|performing|authorizing|principal"
    r"|treating|covering|on-call|staff|teaching|faculty|approving|verifying|result|assistant|transcribing)[ \t])?"
    r"(?:physician|provider|clinician|radiologist|doctor|consultant|registrar|practitioner|md|surgeon"
    r"|resident|fellow|attending|technologist|technician|tech|sonographer|transcriptionist|radiographer"
    r"|interpreter|signatory|author|typist|recipient|nurse)(?:[ \t](?:name|signature|of[ \t]record))?"
    r"|(?:patient|pt|referring|ordering|requesting|dictating)(?:[ \t]?['’]?s)?(?:[ \t]name)?|(?:full[ \t]|legal[ \t]|last[ \t]|first[ \t])?name|attn|attention|cc|copy[ \t]to|copies[ \t]to|to|re|from|signature|signed"
    r"|pcp|contact|next[ \t]of[ \t]kin|emergency[ \t]contact|guardian|electronic[ \t]signature)"
)
_LABELLED: Final = re.compile(
    rf"(?<![\w-]){_ROLE}(?:\(s\)|[ \t]?\([^)\n]{{1,20}}\))?[ \t]?[:=>][ \t]{{0,12}}(?:\n[ \t]{{0,8}})?"
    rf"(?:{_TITLE}\.?[ \t]{{1,3}})?(?=[{UPPER}vd])",
    re.IGNORECASE,
)
_BY: Final = re.compile(
    r"(?<![\w-])(?:dictated|transcribed|(?:electronically|digitally)?[ \t]?(?:e-)?signed(?:[ \t]off)?|read|interpreted"
    r"|reviewed|verified|approved|authenticated|finali[sz]ed|typed|supervised|cosigned|co-signed|attested"
    r"|acknowledged|reported|performed|ordered|requested|referred|placed|prepared|edited|confirmed|released|seen|obtained|accompanied|validated)"
    rf"(?:[ \t](?:and|&|with)[ \t]\w{{4,14}})?[ \t]by[ \t]{{1,3}}(?:{_TITLE}\.?[ \t]{{1,3}})?(?=[{UPPER}])",
    re.IGNORECASE,
)
_TOLD: Final = re.compile(
    r"(?<![\w-])(?:discuss(?:ed)?(?:[ \t]\w{2,10}){0,5}[ \t](?:with|by)|d/w|dw|disc(?:ussed)?[ \t]?w/"
    r"|communicat(?:ed|ion)(?:[ \t]\w{2,12}){0,4}[ \t](?:to|with)|called(?:[ \t](?:in|over))?[ \t]to|call(?:ed)?"
    r"|report(?:ed)?(?:[ \t]\w{2,10}){0,2}[ \t]to|relayed(?:[ \t]\w{2,10}){0,2}[ \t]to"
    r"|conveyed(?:[ \t]\w{2,10}){0,3}[ \t]to|told|phoned(?:[ \t]to)?|telephoned(?:[ \t]to)?|paged(?:[ \t]to)?"
    r"|texted(?:[ \t]to)?|messaged|emailed(?:[ \t]to)?|faxed(?:[ \t]to)?|spoke(?:n)?[ \t](?:with|to)|notified|notif(?:y|ied)|informed|alerted"
    r"|given(?:[ \t]verbally)?[ \t]to|sent[ \t]to|message(?:[ \t]left)?[ \t](?:to|for|with)|conversation[ \t]with"
    r"|consult(?:ed|ation)?[ \t]with|per|reviewed[ \t]with|under[ \t]the[ \t]care[ \t]of|care[ \t]of|on[ \t]behalf[ \t]of|read[ \t]back[ \t]by"
    rf"|read-back[ \t]by|receipt[ \t]by|received[ \t]by|thank[ \t]you,?|sincerely,?|regards,?)[ \t]{{1,3}}(?:\n)?(?:{_TITLE}\.?[ \t]{{1,3}})?(?=[{UPPER}])",
    re.IGNORECASE,
)
_RELATIVE: Final = re.compile(
    r"(?<![\w-])(?:wife|husband|spouse|partner|son|daughter|mother|father|mom|dad|brother|sister|aunt|uncle"
    r"|niece|nephew|cousin|grandson|granddaughter|grandmother|grandfather|caregiver|guardian|friend|named|neighbou?r"
    rf"|family[ \t]member)(?:-in-law)?[ \t]?[,:(]?[ \t]{{0,2}}(?:{_TITLE}\.?[ \t])?(?=[{UPPER}])"
)
_ATTEST: Final = re.compile(rf"(?<!\w)I,?[ \t]{{1,3}}(?:{_TITLE}\.?[ \t]{{1,3}})?(?=[{UPPER}])")
_ATTESTED: Final = re.compile(
    r"[, \t]{1,3}(?:[A-Z][\w.]{0,9}[, \t]{1,3}){0,4}(?:have|has|was|am|attest|certify|personally|agree|reviewed|the|did|performed|interpreted|HAVE|WAS)\b"
)
_AND: Final = re.compile(
    rf"(?:[ \t]?,[ \t]{{0,2}}(?:and[ \t]|&[ \t]?)?|[ \t]and[ \t]|[ \t]?[&/][ \t]?)(?:{_TITLE}\.?[ \t])?(?=[{UPPER}])"
)
_CREDENTIAL: Final = (
    r"(?:M\.?D\.?|D\.?O\.?|R\.?N\.?|N\.?P\.?|P\.?A\.?(?:-C)?|Ph\.?D\.?|MB[ ,]?B\.?Ch\.?|MBBS|MBChB|FRC[RSP]C?|FACR"
    r"|F?ARNP|APRN|CRNP|DNP|CRNA|LPN|BSN|MSN|FNP(?:-C)?|R\.?T\.?(?:\(R\))?|RRT|DDS|DMD|DPM|PGY-?\d|MPH|CNM)"
)
_INITIALLED: Final = rf"(?:[{UPPER}]\.?[ \t-]?){{0,3}}"
_NAME: Final = rf"(?:[{UPPER}]\.[ \t]?){{0,2}}{NAME_WORD}(?:[ \t](?:[{UPPER}]\.?|{NAME_WORD}|(?:van|von|de|der|den|del|la|da|dos|al|bin)(?=[ \t]))){{0,4}}"
_CREDENTIALLED: Final = re.compile(
    rf"(?<![\w.'’^-])({_NAME}(?:,[ \t]?{NAME_WORD}(?:[ \t][{UPPER}]\.?)?)?),?[ \t]{{0,2}}"
    rf"(?:\(?{_CREDENTIAL})(?![\w'’])"
)
_SLASHED: Final = re.compile(
    rf"^[ \t]*({_NAME}(?:,[ \t]?{NAME_WORD}(?:[ \t][{UPPER}]\.?)?)?)(?:,?[ \t](?:M\.?D\.?|D\.?O\.?))?[ \t]?[/|][ \t]?(?:NPI|#|\d|M\.?D|D\.?O)",
    re.M,
)
_CARET: Final = re.compile(
    rf"(?<![\w^])[{UPPER}{LOWER}'’-]{{2,40}}\^[{UPPER}{LOWER}'’ .^-]{{0,60}}(?<![\s^.])"
)
_OPENING: Final = re.compile(
    rf"(?:(?<=[:.\n])[ \t]{{0,6}}|^[ \t]{{0,6}})(?:(?:the|this)[ \t]patient,?[ \t])?({_NAME}(?:,[ \t]?{NAME_WORD}(?:[ \t][{UPPER}]\.?)?)?)"
    r"(?:,?[ \t](?:is|was)[ \t](?:an?[ \t])?|,?[ \t](?:an?[ \t])?|[ \t]?\()"
    r"(?:(?:very[ \t])?(?:pleasant|elderly|young|known)[ \t])?(?:\d{1,3}[ \t-]?(?:y|M\b|F\b|mo|wk|week|day|d\b)"
    r"|(?:woman|man|male|female|lady|gentleman|boy|girl|patient|smoker|infant|child|nonagenarian|centenarian|former|retired)\b|(?:\[AGE\]))",
    re.M,
)
_PRESENTING: Final = re.compile(
    rf"(?:(?<=[:.\n])[ \t]{{0,6}}|^[ \t]{{0,6}})({_NAME})[ \t](?:presents|presented|reports|complains|denies|states|underwent|returns|fell|has[ \t]a[ \t]history|was[ \t](?:admitted|seen|referred|transferred|brought|notified|informed|called|paged|contacted))\b",
    re.M,
)
_INITIALS_LINE: Final = re.compile(
    r"^[ \t]*([A-Za-z]{2,4}[ \t]?[/:][ \t]?[A-Za-z]{2,4})(?=[ \t]*(?:\d|\[|$))", re.M
)
_INITIALS_LABEL: Final = re.compile(
    r"(?<!\w)(?:transcribed(?:[ \t]by)?|typed(?:[ \t]by)?|transcriptionist|transcriber|initials|dictated(?:[ \t]by)?|tech(?:nologist)?(?:[ \t]initials)?|trans(?:cription)?|typist|job|d/t|by|read[ \t]by|qa)"
    r"[ \t]?:[ \t]{0,4}([A-Za-z]{2,4}(?:[ \t]?[/:][ \t]?[A-Za-z]{2,4})?)(?![\w'’]|[ \t][a-z])",
    re.IGNORECASE,
)
_BARE_SIGNED: Final = re.compile(
    rf"(?:^|(?<=[.;]\s))[ \t]*(?:Electronically[ \t])?(?:Signed|SIGNED|Signature|/s/|/S/|E-signed)[ \t]{{1,3}}(?={_NAME})",
    re.M,
)
_CUES: Final = (
    (_LABELLED, "name-label", True),
    (_BY, "name-by", False),
    (_BARE_SIGNED, "name-signed", True),
    (_TITLED, "name-title", False),
    (_TOLD, "name-told", False),
    (_RELATIVE, "name-relative", False),
)
_SHAPES: Final = (
    (_SLASHED, "name-slash"),
    (_CREDENTIALLED, "name-credential"),
    (_OPENING, "name-opening"),
    (_PRESENTING, "name-presenting"),
)


def find(text: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find names by their cues, then by their shapes, then initials."""
    for match in _CARET.finditer(text):
        yield Found(match.start(), match.end(), "NAME", "name-caret")
    for pattern, rule, comma in _CUES:
        for match in pattern.finditer(text):
            yield from _names_from(text, match.end(), lexicon, rule, comma=comma)
    for match in _ATTEST.finditer(text):
        end = name_end(text, match.end(), lexicon, comma=False)
        if end > match.end() and _ATTESTED.match(text, end):
            yield Found(match.end(), end, "NAME", "name-attest")
    for pattern, rule in _SHAPES:
        for match in pattern.finditer(text):
            yield from _shaped(text, match, lexicon, rule)
    for match in _LOWER_TITLED.finditer(text):
        if match.group(1) not in lexicon.not_names:
            yield Found(*match.span(1), "NAME", "name-title-lower")
    for pattern in (_INITIALS_LINE, _INITIALS_LABEL):
        for match in pattern.finditer(text):
            if match.group(1).casefold() not in lexicon.not_names:
                yield Found(*match.span(1), "NAME", "initials")


def _names_from(
    text: str, start: int, lexicon: Lexicon, rule: str, *, comma: bool
) -> Iterator[Found]:
    for _ in range(4):
        end = name_end(text, start, lexicon, comma=comma)
        if end == start:
            return
        yield Found(start, end, "NAME", rule)
        following = _AND.match(text, end) if rule in ("name-title", "name-told") else None
        if following is None:
            return
        start = following.end()


def _shaped(text: str, match: re.Match[str], lexicon: Lexicon, rule: str) -> Iterator[Found]:
    """Accept a shape from its first word that can be a name."""
    start, stop = match.span(1)
    while start < stop:
        end = name_end(text, start, lexicon, comma=True)
        if end > start:
            yield Found(start, min(end, stop), "NAME", rule)
            return
        space = text.find(" ", start, stop)
        if space < 0:
            return
        start = space + 1
