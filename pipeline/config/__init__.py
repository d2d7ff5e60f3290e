"""``radcal.toml``: what may stand in it, its defaults, and every error at once.

Unknown names are errors, so that a misspelt option never falls back to a default in silence.
Relative paths are relative to the file. Secrets (the vault's key, a model server's token) come
from the environment and have no place here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from pipeline.config.basis import digest_of
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
    Section,
    Store,
)
from pipeline.errors import ConfigurationError

__all__ = ["Configuration", "load", "outline", "template"]


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
    def workspace(self) -> Path:
        """The workspace folder, or what of a workspace elsewhere stays on this machine."""
        return self.path(self.store.local if self.store.url else self.store.workspace)

    @property
    def digest(self) -> str:
        """Hash of everything that can change a number or a page (not where things lie)."""
        return digest_of(self.material())

    def material(self) -> dict[str, Any]:
        """Give every option that can change a number or a page, by section."""
        return self.model_dump(
            mode="json",
            exclude={
                "store": True,
                "execution": True,
                "notify": True,
                "input": {"max_missing_share"},
                "reports": {"passphrases", "accessions"},
                "extraction": {
                    "server_url", "server_concurrency", "server_silence_seconds", "record",
                    "data_parallel", "vllm_python", "memory_share", "max_sequences",
                    "model_timeout_seconds",
                },
            },
        )  # fmt: skip


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
    content.pop("folder", None)
    try:
        return Configuration(**content, folder=path.resolve().parent)
    except ValidationError as error:
        lines = "\n".join(_explained(error.errors(include_url=False)))
        raise ConfigurationError(f"{path.name}: {error.error_count()} error(s):\n{lines}") from None


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


def _explained(errors: Iterable[ErrorDetails]) -> Iterable[str]:
    for error in errors:
        where = ".".join(map(str, error["loc"]))
        yield f"  {where}: {error['msg']}{_suggested(error)}"


def _suggested(error: ErrorDetails) -> str:
    """Name the option that an unknown one is most like; '' for other errors."""
    location = error["loc"]
    if error["type"] != "extra_forbidden":
        return ""
    model: type[BaseModel] = Configuration
    for step in location[:-1]:
        within = model.model_fields[str(step)].annotation
        if not (isinstance(within, type) and issubclass(within, BaseModel)):
            return ""
        model = within
    like = get_close_matches(str(location[-1]), model.model_fields, n=1)
    return f"; did you mean `{like[0]}`?" if like else ""
