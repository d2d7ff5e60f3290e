"""Any language model reads through this: a report becomes a prompt, a completion an outcome.

Engines that ask a model differ in how they ask; what they ask, and what they believe, is here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from extraction.engines.account import Answer, AnswerLine
from extraction.engines.completer import Question
from extraction.engines.completion import MAX_LINES, CompletionReader
from extraction.engines.witness import Guided, Testimony, Witness, margins
from extraction.finding import NOT_EVALUABLE, OTHER, Extracted, Failed, Modality, Outcome
from extraction.prompt import template
from extraction.prompt.examples import Example, Prompts
from extraction.prompt.examples import load as load_prompts
from extraction.report import Place, SectionReader
from extraction.vocabulary import Vocabulary, load


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a model, as text or as turns, and what is needed to read the answer.

    Attributes
    ----------
    question
        What is put; how its answer is to be bound is not said yet.
    text
        The report without markup; as long as the report given, so that offsets agree.
    sections
        The stretches of it that the prompt shows.
    sentences
        Its sentences in the order of their numbers; none where they are quoted by words.
    """

    question: Question
    text: str
    sections: tuple[Place, ...]
    sentences: tuple[Place, ...] = ()


class PromptedReader:
    """Writes prompts and reads completions for one vocabulary and one set of examples.

    Parameters
    ----------
    vocabulary, prompts
        None for the shipped ones.
    context_tokens
        What the model can hold, prompt and answer together.
    answer_tokens
        Most tokens of an answer; a second question allows twice as many where they fit.
    manner
        As one text or in turns, and the form of the answers.
    """

    def __init__(
        self,
        vocabulary: Vocabulary | None = None,
        prompts: Prompts | None = None,
        *,
        context_tokens: int,
        answer_tokens: int,
        manner: template.Manner = template.RAW,
    ) -> None:
        self.vocabulary, self.manner = vocabulary or load(), manner
        self._prompts = prompts or load_prompts()
        self.context_tokens, self.answer_tokens = context_tokens, answer_tokens
        self._template = template.Template(self.vocabulary, manner)
        self._sections = SectionReader(self.vocabulary)
        self._completions = CompletionReader(self.vocabulary, manner.form)
        self._witness = Witness(self.vocabulary)
        self._worked = {
            modality: [self._example(example) for example in template.ordered(examples)]
            for modality, examples in self._prompts.examples.items()
        }
        self._blocks = {
            modality: [self._template.worked(example) for example in examples]
            for modality, examples in self._worked.items()
        }
        self._costs = {
            modality: [template.estimated_tokens(block) for block in blocks]
            for modality, blocks in self._blocks.items()
        }

    @property
    def digest(self) -> str:
        """Hash of everything that decides how a model is asked, and its answer believed."""
        asked = (
            template.REVISION,
            self._prompts.digest,
            str(self.context_tokens),
            str(self.answer_tokens),
        )
        parts = (*asked, self.manner.name, self._witness.digest)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def guide(self, texts: Sequence[object]) -> list[Guided | None]:
        """Read reports by the rules where these guide the model; None for each where they do not.

        A report with no sentence in doubt needs no question.
        """
        return [*self._witness.guide(texts)] if self.manner.guided else [None] * len(texts)

    def ask(
        self, text: object, *, modality: Modality, again: bool = False, only: Collection[Place] = ()
    ) -> Asked | Failed:
        """Write the question about a report.

        Parameters
        ----------
        text
            The report as given.
        modality
            Which examples to show.
        again
            A second question after a failed answer: the examples in the opposite order, because a
            greedy model asked the same question says the same, and twice the room.
        only
            Sentences to ask about; none for the whole report.
        """
        opened = self._sections.opened(text)
        if isinstance(opened, Failed):
            return opened
        clean, sections = opened[0], list(only) or opened[1]
        shown, sentences = self._shown(clean, sections, only)
        asked = self._template.instruction(modality) + self._template.asked(shown)
        room = self.context_tokens - template.estimated_tokens(asked) - self.answer_tokens
        costs = self._costs[modality]
        number = template.fitting(costs, budget=room)
        if not number:
            return Failed("text too long")
        order = slice(number - 1, None, -1) if again else slice(number)
        more = min(self.answer_tokens, room - sum(costs[:number])) if again else 0
        tokens = self.answer_tokens + more
        if self.manner.chat:
            turns = self._template.turns(shown, self._worked[modality][order], modality)
            question = Question("", tokens, turns=turns)
        else:
            prompt = self._template.prompt(shown, self._blocks[modality][order], modality)
            question = Question(prompt, tokens)
        return Asked(question, clean, tuple(sections), sentences)

    def hear(self, asked: Sequence[Asked]) -> list[Testimony | None]:
        """Give what the vocabulary finds said where a model was asked, to hold answers against."""
        heard = self._witness.hear([each.text for each in asked])
        if not self.manner.guided:
            return heard
        return [
            said and said.within(each.sections) for said, each in zip(heard, asked, strict=True)
        ]

    def read(
        self,
        asked: Asked,
        completion: str,
        heard: Testimony | None,
        *,
        cut: bool,
        logprobs: Sequence[Mapping[str, float]] = (),
    ) -> Answer:
        """Read the completion of a question; see `CompletionReader.read`."""
        answer = self._completions.read(
            completion,
            text=asked.text,
            sections=asked.sections,
            cut=cut,
            testimony=heard,
            sentences=asked.sentences,
        )
        if not logprobs:
            return answer
        said = completion.partition(template.MARK)[0]
        known = margins(said, self.manner.form, logprobs, most=MAX_LINES)
        lines = [
            replace(line, margin=margin) for line, margin in zip(answer.lines, known, strict=False)
        ]
        return replace(answer, lines=(*lines, *answer.lines[len(lines) :]))

    def recalled(
        self, said: Sequence[tuple[object, Collection[Place]]], outcomes: Sequence[Outcome]
    ) -> list[Answer]:
        """Give the answers of an earlier run, held anew against what was asked about."""
        heard = self._witness.hear([text if isinstance(text, str) else "" for text, _ in said])
        return [
            _recalled(outcome, each.within(only) if each and only else each)
            for outcome, each, (_, only) in zip(outcomes, heard, said, strict=True)
        ]

    def _shown(
        self, text: str, sections: Sequence[Place], only: Collection[Place] = ()
    ) -> tuple[str, tuple[Place, ...]]:
        """Show a report: its sections under their names, or sentence by sentence with numbers."""
        if self.manner.form.quoted == "words":
            parts = [(s.section.upper(), text[s.start : s.end].strip()) for s in sections]
            if only:
                named = groupby(parts, key=itemgetter(0))
                parts = [(name, " ".join(said for _, said in of)) for name, of in named]
            return "\n".join(f"{name}: {said}" for name, said in parts), ()
        sentences = tuple(only or self._witness.sentences(text))
        lines, section = [], ""
        for number, place in enumerate(sentences, start=1):
            if place.section != section:
                section = place.section
                lines.append(f"{section.upper()}:")
            lines.append(f"{number}. {' '.join(text[place.start : place.end].split())}")
        return "\n".join(lines), sentences

    def _example(self, example: Example) -> template.Worked:
        """Show an example as a report is shown; words that are not asked for are left out."""
        shown, sentences = self._shown(example.report, self._sections.read(example.report))
        listed = {*self.vocabulary.phrases, OTHER, NOT_EVALUABLE}
        lines = [
            line
            for line in example.lines
            if line.pathology in self.vocabulary.pathologies and line.certainty in listed
        ]
        if self.manner.form.quoted == "number":
            numbers = [_number(line.sentence, example.report, sentences) for line in lines]
            lines = [replace(line, sentence=n) for line, n in zip(lines, numbers, strict=True)]
        return template.Worked(shown, self.manner.form.written(lines))


def _number(sentence: str, report: str, sentences: Sequence[Place]) -> str:
    """Give the number of the sentence in which a quotation begins."""
    at = report.index(sentence)
    after = (n for n, place in enumerate(sentences, start=1) if at < place.end)
    return str(next(after, len(sentences)))


def _recalled(outcome: Outcome, heard: Testimony | None) -> Answer:
    if heard is None or isinstance(outcome, Failed):
        return Answer(outcome)
    findings = outcome.findings if isinstance(outcome, Extracted) else ()
    places = [(Place(f.section, f.start, f.end), f.pathology) for f in findings]
    lines = tuple(
        _recalled_line(heard, place, name, found.phrase or OTHER)
        for (place, name), found in zip(places, findings, strict=True)
    )
    return Answer(outcome, lines, heard.coverage(places))


def _recalled_line(heard: Testimony, place: Place, pathology: str, certainty: str) -> AnswerLine:
    verdict = heard.verdict(place, pathology, certainty)
    return AnswerLine(verdict, place.start, place.end, pathology, certainty)
