"""``radcal.toml``: what may stand in it, its defaults, and every error at once.

Unknown names are errors, so that a misspelt option never falls back to a default in silence.
Relative paths are relative to the file. Secrets (the vault's key, a model server's token) come
from the environment and have no place here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import reduce
from importlib import resources
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from pipeline.config.basis import digest_of
from pipeline.config.kinds import Section
from pipeline.config.sections import (
    Advice,
    Calibration,
    Deidentification,
    Execution,
    Extraction,
    Input,
    Notify,
    Pairing,
    Phrases,
    Reports,
    Store,
)
from pipeline.errors import ConfigurationError

__all__ = ["Configuration", "explained", "load", "outline", "template"]


_KNOWN: Final = tomllib.loads(
    resources.files("pipeline.config").joinpath("settings.toml").read_text(encoding="utf-8")
)
"""What waits for another setting, what changes no number, what names a list of the site's own, what
may stand in place of a fault, what an earlier release knew."""


class Configuration(Section):
    """A validated ``radcal.toml``; ``folder`` is where it lies."""

    input: Input
    deidentification: Deidentification = Deidentification()
    pairing: Pairing = Pairing()
    extraction: Extraction = Extraction()
    phrases: Phrases = Phrases()
    calibration: Calibration = Calibration()
    advice: Advice = Advice()
    reports: Reports = Reports()
    store: Store = Store()
    execution: Execution = Execution()
    notify: Notify = Notify()
    folder: Path = Field(default=Path(), exclude=True)

    def path(self, name: str) -> Path:
        """Resolve a path of the file against the folder it lies in."""
        return (self.folder / name).resolve()

    @property
    def lists(self) -> Iterator[Path]:
        """The site's own lists, tables and folders of words, by which its reports are read."""
        named = (reduce(getattr, name.split("."), self) for name in _KNOWN["lists"])
        yield from (self.path(str(each)) for each in named if each is not None)

    @property
    def workspace(self) -> Path:
        """The workspace folder, or what of a workspace elsewhere stays on this machine."""
        return self.path(self.store.local if self.store.url else self.store.workspace)

    @property
    def digest(self) -> str:
        """Hash of everything that can change a number or a page (not where things lie)."""
        return digest_of(self.material())

    def without_effect(self) -> Iterator[str]:
        """Name the settings that were changed and that nothing reads, because of another."""
        for section, waiting in _KNOWN["waits"].items():
            given = getattr(self, section)
            usual = type(given).model_construct()
            for each in waiting:
                stands = getattr(given, each["on"])
                for name in each["names"] if stands not in each.get("values", [None]) else ():
                    if getattr(given, name) != getattr(usual, name):
                        yield f"{section}.{name}, because {each['on']} is {stands!r}"

    def material(self) -> dict[str, Any]:
        """Give every option that can change a number or a page, by section."""
        apart: dict[str, Any] = {name: set(own) or True for name, own in _KNOWN["apart"].items()}
        return self.model_dump(mode="json", exclude=apart)


def load(path: Path) -> Configuration:
    """Read and validate a configuration file.

    Raises
    ------
    ConfigurationError
        If the file is missing, is not TOML, or holds errors; all of them are listed.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigurationError(
            f"{path}: no such file. `radcal init DIR` writes a commented one."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path.name}: not valid TOML: {error}") from None
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror}).") from None
    if "folder" in content:
        raise ConfigurationError(f"{path.name}: folder: there is no such setting; take it out.")
    try:
        return Configuration(**content, folder=path.resolve().parent)
    except ValidationError as error:
        lines = list(explained(error, content))
        told = "\n  ".join([f"{path.name}: {len(lines)} error(s):", *lines])
        raise ConfigurationError(told) from None


def outline(path: Path) -> Configuration | None:
    """Give what a faulty file says of its workspace and of whom to tell; None where it cannot."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        said = {name: content[name] for name in ("store", "notify") if name in content}
        return Configuration(input=Input(paths=("-",)), folder=path.resolve().parent, **said)
    except (OSError, ValueError):
        return None


def template() -> str:
    """Give the commented configuration that ``radcal init`` writes."""
    return resources.files("pipeline.config").joinpath("radcal.toml").read_text(encoding="utf-8")


_SHOWN: Final = 40
"""A longer text is not shown, only called one."""


def explained(errors: ValidationError, content: Mapping[str, object]) -> Iterator[str]:
    """Say of each setting of what was given what stands there and what may."""
    told: dict[str, str] = {}
    for error in errors.errors(include_url=False):
        at = _place(error, content)
        wanted = _KNOWN["wanted"].get(error["type"], "").format(**error.get("ctx", {}))
        if error["type"] == "too_short" and error["input"]:
            continue  # its entries are told
        if error["type"] == "extra_forbidden":
            unknown = f"there is no such setting{_suggested(error['loc'])}"
            told[at] = _KNOWN["removed"].get(at, unknown)
        elif wanted and at in told:  # of several kinds that a setting may be of, none is this
            told[at] += f" or {wanted}"
        elif wanted:
            told[at] = f"{_met(error['input'])} is not {wanted}"
        else:
            told[at] = error["msg"].removeprefix("Value error, ")
    return (f"{at}: {said}" for at, said in told.items())


def _place(error: ErrorDetails, content: object) -> str:
    """Name a setting as the file does, without the kinds that it may be of."""
    steps = []
    for step in error["loc"]:
        try:
            content = content[step]  # type: ignore[index]
        except (LookupError, TypeError):
            if error["type"] != "missing":
                continue
        steps.append(str(step))
    return ".".join(steps)


def _met(given: object) -> str:
    """Name the kind of a value, or show one that is short and tells more than its kind."""
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, int | float):
        return str(given)
    if isinstance(given, str) and len(given) <= _SHOWN:
        return f"the text {given!r}"
    if isinstance(given, tuple):
        return "a list" if given else "an empty list"
    if isinstance(given, str | dict):
        return "a text" if isinstance(given, str) else "a table"
    return "a date or a time"


def _suggested(location: Sequence[int | str]) -> str:
    """Name the option that an unknown one is most like, if one is."""
    model: type[BaseModel] = Configuration
    for step in location[:-1]:
        within = model.model_fields[str(step)].annotation
        if not (isinstance(within, type) and issubclass(within, BaseModel)):
            return ""
        model = within
    like = get_close_matches(str(location[-1]), model.model_fields, n=1)
    return f"; did you mean `{like[0]}`?" if like else ""
