"""What commands share: options as a dataclass's fields, summaries, results, phrase tables.

A command takes one argument, whose fields are its options:

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Given:
        reports: Path = argument(..., "Table of reports.")
        seed: int = option(0, "Seed of all chance.", min=0)
        output: Output

    def extract(given: Given) -> None: ...

    app.command("extract")(taking(extract))

A default of ``...`` says that an option must be given. A field whose type is itself such a
dataclass is a group of options that several commands share; its fields stand among the command's
own, in the order of the fields. So are those of a command that takes arguments beside a group.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar, cast, get_type_hints

import typer

from calibration.errors import CalibrationError
from extraction.errors import ExtractionError
from pipeline.errors import EXIT_QUARANTINED, ConfigurationError, InputError
from pipeline.store.files import write_whole

if TYPE_CHECKING:
    from calibration.plain import Plain
    from calibration.survey import PhraseTable

T = TypeVar("T")
Advance: TypeAlias = Callable[[int], None]
"""Takes how many items more are done."""
_SILENCE_SECONDS: Final = 15.0


_TYPER: Final = "typer"


def option(default: T | EllipsisType, text: str = "", *names: str, **how: Any) -> T:
    """Make a field an option, with its help, and names and limits as of `typer.Option`."""
    return _told(default, typer.Option(*names, help=text or None, **how))


def argument(default: T | EllipsisType, text: str) -> T:
    """Make a field an argument, with its help."""
    return _told(default, typer.Argument(help=text))


def flag(name: str, text: str) -> bool:
    """Make a field an option that is on where it is named."""
    return _told(False, typer.Option(name, help=text))


def _told(default: T | EllipsisType, told: object) -> T:
    absent = MISSING if default is ... else default
    return cast("T", field(default=absent, metadata={_TYPER: told}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How a command speaks of what it did."""

    as_json: bool = flag("--json", "Print a machine-readable summary.")
    quiet: bool = flag("--quiet", "Print nothing but errors.")

    @property
    def silent(self) -> bool:
        """Whether progress must not be shown."""
        return self.quiet or self.as_json

    @contextmanager
    def bar(self, what: str, total: int) -> Iterator[Advance]:
        """Show how far a step is and how long it will take; a line now and then off a terminal."""
        import time

        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        drawn = console.is_terminal and not self.silent
        of = TextColumn("{task.completed:,} of {task.total:,}")
        parts = (TextColumn("{task.description}"), BarColumn(), of, TimeRemainingColumn())
        with Progress(*parts, console=console, transient=True, disable=not drawn) as progress:
            progress.add_task(what, total=total)
            (task,), spoken = progress.tasks, time.monotonic()

            def advance(done: int) -> None:
                nonlocal spoken
                progress.advance(task.id, done)
                silent = drawn or self.silent or task.finished
                if not silent and time.monotonic() - spoken > _SILENCE_SECONDS:
                    spoken, left = time.monotonic(), task.time_remaining
                    minutes = 0 if left is None else left / 60
                    long = "under a minute" if minutes < 1 else f"about {minutes:,.0f} min"
                    wait = "" if left is None else f", {long} left"
                    typer.echo(f"{what}: {task.completed:,} of {total:,}{wait}", err=True)

            yield advance

    def each(self, what: str, items: Sequence[T]) -> Iterator[T]:
        """Give items one by one, showing how far they are."""
        with self.bar(what, len(items)) as advance:
            for item in items:
                yield item
                advance(1)

    def tell(self, summary: Mapping[str, object], *, set_aside: object = None) -> None:
        """Print a command's summary: a line per entry, one JSON object, or nothing.

        Raises
        ------
        typer.Exit
            With the exit code that says so, where anything was set aside.
        """
        self.show(summary, worded(summary))
        if set_aside:
            raise typer.Exit(EXIT_QUARANTINED)

    def show(self, data: Mapping[str, object], lines: Iterable[str]) -> None:
        """Print lines for people, the data as one JSON object, or nothing."""
        if self.as_json:
            typer.echo(json.dumps(data, default=str))
        elif not self.quiet:
            typer.echo("\n".join(lines))


def taking(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each parameter; for each field of one that is a dataclass."""
    hints, parameters = get_type_hints(command, include_extras=True), list[Parameter]()
    for name, own in signature(command).parameters.items():
        plain = own.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)
        parameters += _parameters(hints[name]) if _is_group(hints[name]) else [plain]

    def run(**values: Any) -> None:
        given = ((name, hint) for name, hint in hints.items() if name != "return")
        command(**{name: _given(name, hint, values) for name, hint in given})

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    vars(run)["__signature__"] = Signature(parameters)
    return run


def _parameters(kind: type[Any]) -> Iterator[Parameter]:
    """Give the options of a dataclass, those of its groups among them."""
    for each, hint in _fields(kind):
        if _is_group(hint):
            yield from _parameters(hint)
        else:
            told = each.metadata.get(_TYPER)
            full = hint if told is None else Annotated[hint, told]
            default = Parameter.empty if each.default is MISSING else each.default
            yield Parameter(each.name, Parameter.KEYWORD_ONLY, default=default, annotation=full)


def _given(name: str, hint: Any, values: Mapping[str, Any]) -> Any:
    """Give what was given for a parameter or field: a group is made of its fields' values."""
    if not _is_group(hint):
        return values[name]
    return hint(**{each.name: _given(each.name, own, values) for each, own in _fields(hint)})


def _is_group(hint: Any) -> bool:
    return is_dataclass(hint) and isinstance(hint, type)


def _fields(kind: type[Any]) -> Iterator[tuple[Field[Any], Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return ((each, hints[each.name]) for each in fields(kind))


audit = typer.Typer(help="Measure the instrument: extraction, de-identification, the audit log.")
"""The group ``radcal audit``; each command group adds its own command to it."""

ConfigArgument = Annotated[Path, typer.Argument(help="The configuration, radcal.toml.")]
ConfigOption = Annotated[Path, typer.Option(help="The configuration, radcal.toml.")]


def worded(summary: Mapping[str, object]) -> Iterator[str]:
    """Give a command's summary as lines for people, one an entry."""
    for name, value in summary.items():
        said = value if name == "seed" else _worded(value)  # a number that is no count
        yield f"{name.replace('_', ' ')}: {said}"


def _worded(value: object) -> object:
    """Give named counts and lists as words, not as Python writes them.

    >>> _worded({"no reader is named": 3204, "too late": 0})
    'no reader is named 3,204, too late 0'
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if not isinstance(value, Mapping):
        return value
    return ", ".join(f"{name} {_worded(each)}" for name, each in value.items()) or "none"


def group(about: str) -> typer.Typer:
    """Make a group of commands that stays one with a single command in it."""
    made = typer.Typer(help=about)
    made.callback(help=about)(lambda: None)
    return made


def one_of(name: str, value: str, known: Sequence[str]) -> None:
    """Refuse an option's value that is not one of the known ones."""
    if value not in known:
        raise ConfigurationError(f"{name}: {value!r} is unknown; use one of {', '.join(known)}.")


@contextmanager
def blaming(source: str) -> Iterator[None]:
    """Say, as an `InputError`, which file the numerics or what reads text cannot use."""
    try:
        yield
    except (CalibrationError, ExtractionError) as error:
        raise InputError(f"{source}: {error}") from None


def write_result(path: Path, content: Mapping[str, Plain], *, indent: int | None = None) -> None:
    """Write a result as JSON without NaN, whole or not at all."""
    write_whole(path, json.dumps(content, allow_nan=False, indent=indent).encode())


def phrase_table(name: str) -> PhraseTable:
    """Read a phrase table: a built-in one by name, or a file."""
    from calibration.survey import BUILTIN, PhraseTable, builtin
    from pipeline.formats.tables import read_table

    if name in BUILTIN:
        return builtin(name)
    path = Path(name)
    if not path.suffix and not path.exists():
        raise InputError(
            f"--phrases {name}: no such file, and built in are only {', '.join(BUILTIN)}."
        )
    columns = {"phrase": "the canonical phrase", "kind": "beta or atom"}
    return PhraseTable.from_frame(read_table(path, columns), name=path.stem)
