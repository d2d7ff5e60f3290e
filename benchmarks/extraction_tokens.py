"""Tokens of prompts and answers, by Llama 3's own tokenizer.

Run: ``python benchmarks/extraction_tokens.py [--reports FILE...]``, once ``make install-vllm
install-vllm-test`` was run. Counts the worked examples with the instruction, the reports of our
gold (or of files), and the answers that say what the rules read in them, quoted by words and by
number, of whole reports and where the rules guide; and how far the estimate of three characters a
token, by which examples are chosen, lies above.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from extraction.engines.prompted import Asked, PromptedReader
from extraction.finding import OTHER, Extracted, Modality
from extraction.prompt.examples import Line
from extraction.prompt.forms import AnswerForm
from extraction.prompt.template import Manner, estimated_tokens
from extraction.rules.engine import RuleEngine

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-vllm" / "bin" / "python"
QUOTED: tuple[Literal["words", "number"], ...] = ("words", "number")
MODALITIES: tuple[Modality, ...] = ("XR", "CT")


def counted(texts: Sequence[str]) -> list[int]:
    """Count tokens."""
    program = [PYTHON, "-I", Path(__file__).parent / "vllm" / "tokens.py"]
    done = subprocess.run(
        program, input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout))


def answer(asked: Asked, form: AnswerForm) -> str:
    """Write what the rules read where the model was asked, as the model would."""
    (outcome,) = RULES.extract([asked.text], modality="XR")
    lines = []
    for f in outcome.findings if isinstance(outcome, Extracted) else ():
        if not any(s.start <= f.start < s.end for s in asked.sections):
            continue
        sentence = asked.text[f.start : f.end]
        if form.quoted == "number":
            places = enumerate(asked.sentences, start=1)
            sentence = str(next(n for n, place in places if f.start < place.end))
        lines.append(Line(sentence, f.pathology, f.phrase or OTHER))
    return form.written(lines)


RULES = RuleEngine()


def questions(texts: Sequence[str], modality: Modality, manner: Manner) -> list[Asked]:
    """Put the questions that an engine would put, of this manner."""
    reader = PromptedReader(context_tokens=8192, answer_tokens=1536, manner=manner)
    asked = [
        reader.ask(text, modality=modality, only=tuple(read.doubts) if read else ())
        for text, read in zip(texts, reader.guide(texts), strict=True)
        if read is None or read.doubts
    ]
    return [each for each in asked if isinstance(each, Asked)]


def shown(texts: Sequence[str], modality: Modality, manner: Manner) -> None:
    """Print a row of the table."""
    put = questions(texts, modality, manner)
    parts = [each.question.prompt.rpartition("###") for each in put]
    (prefix,) = counted([parts[0][0]])
    reports = counted(["".join(part[1:]) for part in parts])
    answers = counted([answer(each, manner.form) for each in put])
    true = counted([put[0].question.prompt])[0]
    name = f"{modality} by {manner.form.quoted}{' guided' if manner.guided else ''}"
    print(
        f"  {name:<20} {len(put) / len(texts):>7.3f} {prefix:>14,} "
        f"{statistics.mean(reports):>8.0f} {statistics.mean(answers):>8.0f} "
        f"{sum(answers) / len(texts):>10.1f} "
        f"{estimated_tokens(put[0].question.prompt) / true:>16.2f}"
    )


def gold(modality: Modality) -> list[str]:
    """Give the texts of our gold."""
    file = ROOT / "tests" / "fixtures" / "extraction" / f"gold_{modality.lower()}.jsonl"
    return [json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Count, and print a table."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--reports", type=Path, nargs="*", help="CSV with modality and text")
    given = arguments.parse_args()
    if not PYTHON.is_file():
        print("extraction_tokens: not run; `make install-vllm install-vllm-test` first")
        return
    texts: dict[Modality, list[str]] = {modality: gold(modality) for modality in MODALITIES}
    if given.reports:
        frame = pd.concat([pd.read_csv(path) for path in given.reports])
        texts = {m: frame.loc[frame["modality"] == m, "text"].tolist() for m in MODALITIES}
    print(f"tokens by Llama 3's tokenizer (means), {sum(map(len, texts.values())):,} reports")
    print(
        f"  {'':<20} {'asked':>7} {'shared prefix':>14} {'report':>8} {'answer':>8} "
        f"{'answer/all':>10} {'estimate / true':>16}"
    )
    for modality in MODALITIES:
        for quoted in QUOTED if texts[modality] else ():
            for guided in (False, True):
                shown(texts[modality], modality, Manner(form=AnswerForm(quoted), guided=guided))


if __name__ == "__main__":
    main()
