"""What the extraction commands share: their options, reports and labels, an engine made and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from pydantic import ValidationError

from extraction.errors import ExtractionError, VocabularyError
from pipeline.cli.common import Output, flag, one_of, option
from pipeline.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from extraction.audit.gold import GoldReport
    from extraction.engines.account import Answer
    from extraction.engines.model import ModelEngine
    from extraction.finding import Engine, Outcome
    from extraction.rules.engine import RuleEngine
    from extraction.vocabulary import Vocabulary
    from pipeline.config.sections import Extraction

_HERE = "A model on this machine (--engine vllm or transformers)"
_AT_ONCE: Final = 1_000
"""Reports read in one call, between two words of progress."""
_SERVED = "A model behind a server (--engine server)"

VocabularyOption = Annotated[
    Path | None, typer.Option("--vocabulary", help="Folder with vocabulary files of your own.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """What a command line says about the model, named as in the configuration's section."""

    model: str | None = option(
        None,
        "What the server serves, a model's folder here, or a recording.",
        metavar="NAME|FOLDER|FILE",
    )
    structured_output: bool | None = option(
        None,
        "Bind answers to the line grammar: vllm's are unless told otherwise; of servers, "
        "vLLM's can.",
        "--structured-output/--free-output",
        show_default=False,
    )
    json_schema: bool = flag("--json-schema", "Bind a server's answers by a JSON schema instead.")
    template: str = option(
        "auto", "raw: one text to continue; chat: turns; auto: as the model's folder or name says."
    )
    quote_by: str = option(
        "words", "words: the sentence as written; number: its number, fewer tokens."
    )
    guided: bool = flag(
        "--guided", "Ask only about sentences in which the rules hedge or are in doubt."
    )
    examples: list[Path] | None = option(
        None, "Folder with worked examples of your own; an audit takes several."
    )
    record: Path | None = option(
        None,
        "Keep every answer for --engine replay --model FILE; it quotes the reports.",
        metavar="FILE",
    )
    context_tokens: int = option(8192, "Tokens that the model can hold.", min=1)
    server_url: str | None = option(
        None,
        "An OpenAI-compatible server; a key is read from RADCAL_SERVER_KEY.",
        "--server",
        metavar="URL",
        rich_help_panel=_SERVED,
    )
    server_concurrency: int | None = option(
        None,
        "Questions to the server at once; by default as many as it answers more for.",
        "--concurrency",
        min=1,
        rich_help_panel=_SERVED,
    )
    vllm_python: Path | None = option(
        None,
        "Python of the model's environment; by default the one of make install-vllm.",
        metavar="FILE",
        rich_help_panel=_HERE,
    )
    dtype: str = option("auto", "auto, bfloat16, float16 or float32.", rich_help_panel=_HERE)
    tensor_parallel: int = option(1, "GPUs that share it.", min=1, rich_help_panel=_HERE)
    data_parallel: int = option(1, "Copies side by side.", min=1, rich_help_panel=_HERE)
    memory_share: float = option(0.9, "Share of a GPU's memory.", rich_help_panel=_HERE)

    @property
    def given(self) -> bool:
        """Whether a server, a model or its output was spoken of."""
        paths = (self.server_url, self.model, self.vllm_python, self.examples)
        return any(paths) or bool(self.structured_output) or self.json_schema or self.guided

    @property
    def local(self) -> bool:
        """Whether anything was said that only a model on this machine has."""
        cards = (self.tensor_parallel, self.data_parallel, self.memory_share)
        return (self.vllm_python, self.dtype, *cards) != (None, "auto", 1, 1, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How a model's answers are held against the words, and what is kept of them."""

    answers: Path | None = option(
        None,
        "Also write a model's answers line by line, and what became of each; no report text.",
        metavar="FILE",
    )
    queue: Path | None = option(
        None,
        "Also write the reports whose answers want a person's look, most doubtful first.",
        metavar="FILE",
    )
    max_disagreement: float = option(
        0.2,
        "Share of statements and sentences over which model and vocabulary may part.",
        min=0.0,
        max=1.0,
    )


ENGINES: Final = ("rules", "server", "vllm", "transformers", "replay")
"""Engines a command can be asked for."""

NEEDED: Final[Mapping[str, str]] = {
    "report_id": "a unique name for the report",
    "modality": "XR or CT",
    "text": "the report's text",
}


def rule_engine(vocabulary: Path | None) -> RuleEngine:
    """Build the rule engine with the shipped vocabulary or a folder's."""
    from extraction.rules.engine import RuleEngine
    from extraction.vocabulary import load

    try:
        return RuleEngine(load(vocabulary))
    except VocabularyError as error:
        raise ConfigurationError(f"--vocabulary: {error}") from None


def named_engine(
    name: str, choice: ModelChoice, *, vocabulary: Path | None, remember: Path | None = None
) -> RuleEngine | ModelEngine:
    """Build the engine a command asks for; options of another engine are refused."""
    from extraction.vocabulary import load
    from pipeline.site import engines
    from pipeline.site.engines import OutcomeMemory

    if name == "rules" and not choice.given and not choice.local:
        return rule_engine(vocabulary)
    settings = model_settings(name, choice)
    memory = OutcomeMemory(remember) if remember else None
    try:
        return engines.engine(settings, load(vocabulary), folder=Path.cwd(), memory=memory)
    except ExtractionError as error:
        raise ConfigurationError(f"--engine {name}: {error}") from None


def model_settings(name: str, choice: ModelChoice) -> Extraction:
    """Turn a command's options into the settings of a model engine.

    Raises
    ------
    ConfigurationError
        If the engine is unknown, an option is missing, or one belongs to another engine.
    """
    from pipeline.config import explained
    from pipeline.config.sections import Extraction

    one_of("--engine", name, ENGINES)
    problem = _misfit(name, choice)
    if problem:
        raise ConfigurationError(problem)
    said = {"engine": name} | _stated(choice)
    try:
        return Extraction.model_validate(said)
    except ValidationError as error:
        problems = "; ".join(explained(error, said))
        raise ConfigurationError(f"--engine {name}: {problems}") from None


def _stated(choice: ModelChoice) -> dict[str, object]:
    """Give what was said about the model by the names that the configuration has for it."""
    said = {each.name: getattr(choice, each.name) for each in fields(choice)}
    if said.pop("json_schema"):
        said["structured_output"] = "json_schema"
    said["examples"] = choice.examples[0] if choice.examples else None
    said["server_concurrency"] = choice.server_concurrency or "auto"
    return {name: str(v) if isinstance(v, Path) else v for name, v in said.items()}


def _misfit(name: str, choice: ModelChoice) -> str:
    """Say which option is missing, or belongs to another engine; empty if none."""
    if choice.examples and len(choice.examples) > 1:
        return "--examples: one folder at a time; `radcal audit extraction` compares several."
    if name == "rules":
        return "--model, --server and the other options of a model need --engine " + (
            "server." if choice.server_url else "server, vllm or transformers."
        )
    if name == "server" and not (choice.server_url and choice.model):
        return "--engine server needs --server URL and --model NAME."
    if name == "server" and choice.local:
        return "--vllm-python, --dtype, --tensor-parallel and --memory-share are for a local model."
    if name != "server" and not choice.model:
        return f"--engine {name} needs --model {'FILE' if name == 'replay' else 'FOLDER'}."
    if name != "server" and choice.server_url:
        return "--server belongs to --engine server."
    return ""


def closing_model(engine: RuleEngine | ModelEngine) -> AbstractContextManager[object]:
    """Free an engine's model, if it has one, when the block ends."""
    from extraction.rules.engine import RuleEngine

    return nullcontext() if isinstance(engine, RuleEngine) else closing(engine)


def read_reports(path: Path) -> pd.DataFrame:
    """Read a table of reports that has the needed columns and no report twice."""
    from pipeline.formats.tables import read_table, refuse

    frame = read_table(path, NEEDED)
    if frame.empty:
        raise InputError(f"{path.name}: the table has no rows; give at least one report.")
    refuse(
        frame["report_id"].astype(str).duplicated(),
        f"{path.name}: report_id",
        "rows repeat an earlier one",
        advice="Make them unique before extracting.",
    )
    return frame


def run_engine(engine: Engine, frame: pd.DataFrame, output: Output) -> list[Outcome]:
    """Outcomes in the table's order; see `run_answers`."""
    return [answer.outcome for answer in run_answers(engine, frame, output)]


def run_answers(engine: Engine, frame: pd.DataFrame, output: Output) -> list[Answer]:
    """Answers in the table's order; each modality by itself, an unknown modality failed."""
    from extraction.engines.account import Answer, answers_of
    from extraction.finding import Failed

    modalities = frame["modality"].astype(str).str.strip().str.upper()
    texts = frame["text"].tolist()
    answers = [Answer(Failed("unknown modality"))] * len(texts)
    with output.bar("reading", len(texts)) as advance:
        for modality in ("XR", "CT"):
            every = modalities.eq(modality).to_numpy().nonzero()[0].tolist()
            for start in range(0, len(every), _AT_ONCE):
                rows = every[start : start + _AT_ONCE]
                found = answers_of(engine, [texts[row] for row in rows], modality=modality)
                for row, answer in zip(rows, found, strict=True):
                    answers[row] = answer
                advance(len(rows))
    return answers


def outcomes_of(reader: Engine, reports: Sequence[GoldReport], output: Output) -> list[Outcome]:
    """Outcomes in the gold's order; see `run_answers`."""
    import pandas as pd

    rows = [(report.modality, report.text) for report in reports]
    return run_engine(reader, pd.DataFrame(rows, columns=["modality", "text"]), output)


def gold_reports(path: Path, vocabulary: Vocabulary) -> list[GoldReport]:
    """Read a gold file; what is wrong with it is the user's to hear."""
    from extraction.audit.gold import GoldError, load_gold
    from pipeline.formats.decoding import require_file

    require_file(path)
    try:
        return load_gold(path, vocabulary=vocabulary)
    except GoldError as error:
        raise InputError(str(error)) from None
