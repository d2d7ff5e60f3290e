"""What a setting can be: kinds of values beyond those of TOML, and what all sections share."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Final, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

T = TypeVar("T")
_LONGEST_NAME: Final = 255
"""So many bytes a name of a file has at most."""


class Section(BaseModel):
    """A section: frozen; an unknown name, or a value of another kind of TOML, is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _lists_are_settled(cls, given: object) -> object:
        return _settled(given)


def _settled(given: object) -> object:
    """Make TOML's lists tuples, however deep they lie."""
    if isinstance(given, list | tuple):
        return tuple(map(_settled, given))
    return {k: _settled(v) for k, v in given.items()} if isinstance(given, dict) else given


def once_each(given: tuple[T, ...]) -> tuple[T, ...]:
    """Refuse a list that says one thing twice."""
    twice = [each for at, each in enumerate(given) if each in given[:at]]
    if twice:
        raise ValueError(f"{twice[0]!r} stands twice; name each once")
    return given


def _can_name(name: str) -> str:
    too_long = any(len(part.encode()) > _LONGEST_NAME for part in name.split("/"))
    if too_long or not name.strip() or "\0" in name:
        raise ValueError("no file, folder or program is called so; name one, or leave the line out")
    return name


def _says_something(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty; leave the line out, and the default holds")
    return text


def _can_be_drawn(text: str) -> str:
    if any(unicodedata.category(sign) in ("Cc", "Cs") and sign not in "\n\t" for sign in text):
        raise ValueError("it holds control characters, which no page can show; take them out")
    return text


def _can_be_asked(url: str) -> str:
    parts = urlsplit(url)  # what is no address is a ValueError here, or in a host or port
    _ = (parts.hostname or "").encode("idna"), parts.port
    if url and not (parts.scheme in ("http", "https") and parts.hostname):
        raise ValueError("an address begins with http:// or https:// and names a host")
    return url


Address = Annotated[str, AfterValidator(_can_be_asked)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Seconds = Annotated[float, Field(gt=0, le=7 * 24 * 3600)]
Hours = Annotated[float, Field(gt=0, le=24 * 31)]
Place = Annotated[str, AfterValidator(_can_name)]
"""A file, a folder, an address or a program."""
Stated = Annotated[str, AfterValidator(_says_something)]
"""A text that has no meaning where it is empty."""
Shown = Annotated[str, AfterValidator(_can_be_drawn)]
"""A text that stands on pages."""
Words = Annotated[tuple[Stated, ...], AfterValidator(once_each)]
