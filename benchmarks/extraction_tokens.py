"""Tokens of prompts and answers, by Llama 3's own tokenizer.

Run: ``python benchmarks/extraction_tokens.py`` after ``make install-vllm install-vllm-test``.
Counts the worked examples with the instruction, the reports of our gold, and the answers that say
what the rules read in them, quoted by words and by number; and how far the estimate of three
characters a token, by which examples are chosen, lies above.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from extraction.engines.prompted import Asked, PromptedReader
from extraction.finding import Extracted, Modality
from extraction.prompt import OTHER, AnswerForm, Line, Manner, estimated_tokens
from extraction.rules import RuleEngine

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
    """Write what the rules read as a model would."""
    (outcome,) = RULES.extract([asked.text], modality="XR")
    lines = []
    for f in outcome.findings if isinstance(outcome, Extracted) else ():
        sentence = asked.text[f.start : f.end]
        if form.quoted == "number":
            places = enumerate(asked.sentences, start=1)
            sentence = str(next(n for n, place in places if f.start < place.end))
        lines.append(Line(sentence, f.pathology, f.phrase or OTHER))
    return form.written(lines)


RULES = RuleEngine()


def main() -> None:
    """Count, and print a table."""
    if not PYTHON.is_file():
        print("extraction_tokens: not run; `make install-vllm install-vllm-test` first")
        return
    print("tokens by Llama 3's tokenizer (mean over the gold's reports)")
    print(f"  {'':<14} {'shared prefix':>14} {'report':>8} {'answer':>8} {'estimate / true':>16}")
    for modality in MODALITIES:
        gold = ROOT / "tests" / "fixtures" / "extraction" / f"gold_{modality.lower()}.jsonl"
        texts = [json.loads(line)["text"] for line in gold.read_text().splitlines()]
        for quoted in QUOTED:
            form = AnswerForm(quoted)
            reader = PromptedReader(
                context_tokens=8192, answer_tokens=1536, manner=Manner(form=form)
            )
            asked = [reader.ask(text, modality=modality) for text in texts]
            put = [each for each in asked if isinstance(each, Asked)]
            parts = [each.prompt.rpartition("###") for each in put]
            (prefix,) = counted([parts[0][0]])
            reports = counted(["".join(part[1:]) for part in parts])
            answers = counted([answer(each, form) for each in put])
            true = counted([put[0].prompt])[0]
            print(
                f"  {modality} by {quoted:<8} {prefix:>14,} {statistics.mean(reports):>8.0f} "
                f"{statistics.mean(answers):>8.0f} {estimated_tokens(put[0].prompt) / true:>16.2f}"
            )


if __name__ == "__main__":
    main()
