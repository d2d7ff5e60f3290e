"""Commands whose options are the fields of a dataclass, so that a command takes one argument.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Given:
        reports: Annotated[Path, typer.Argument(help="…")]
        seed: Annotated[int, typer.Option("--seed")] = 0
        output: Output

    def extract(given: Given) -> None: ...

    app.command("extract")(taking(extract))

A field whose type is itself such a dataclass is a group of options that several commands share; its
fields stand among the command's own, in the order of the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from inspect import Parameter, Signature
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from pipeline.cli.common import emit

__all__ = ["Output", "taking"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How a command speaks of what it did."""

    as_json: Annotated[bool, typer.Option("--json", help="Print a machine-readable summary.")] = (
        False
    )
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False

    def tell(self, summary: Mapping[str, object]) -> None:
        """Print a command's summary: a line per entry, one JSON object, or nothing."""
        emit(summary, as_json=self.as_json, quiet=self.quiet)


def taking(command: Callable[[T], None]) -> Callable[..., None]:
    """Give a command one option for each field of the dataclass that is its only parameter."""
    hints = get_type_hints(command, include_extras=True)
    (kind,) = (hint for name, hint in hints.items() if name != "return")
    parameters = list(_parameters(kind))

    def run(**values: Any) -> None:
        command(_made(kind, values))

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    vars(run)["__signature__"] = Signature(parameters)
    return run


def _parameters(kind: type[Any]) -> Iterator[Parameter]:
    """Give the options of a dataclass, those of its groups among them."""
    for field, hint in _fields(kind):
        if is_dataclass(hint) and isinstance(hint, type):
            yield from _parameters(hint)
        else:
            default = Parameter.empty if field.default is MISSING else field.default
            yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _made(kind: type[T], values: dict[str, Any]) -> T:
    """Make the dataclass of what was given, its groups first."""
    own = {
        field.name: _made(hint, values)
        if is_dataclass(hint) and isinstance(hint, type)
        else values[field.name]
        for field, hint in _fields(kind)
    }
    return kind(**own)


def _fields(kind: type[Any]) -> Iterator[tuple[Field[Any], Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return ((field, hints[field.name]) for field in fields(kind))
