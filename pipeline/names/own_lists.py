"""A site's own word lists and rules, laid over ours: what we cannot know of a hospital."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Final

from pipeline.errors import ConfigurationError
from pipeline.names import lexicon as lexicons
from pipeline.names.lexicon import RULES, Lexicon

__all__ = ["contents", "own_lexicon"]

_SUFFIX: Final = ".txt"


def own_lexicon(folder: Path, *, option: str) -> Lexicon:
    """Read our lists with a folder's on top.

    Parameters
    ----------
    folder
        Text files named as ours are (``sites.txt``, ``surnames.txt``), one expression a line;
        ``rules.toml`` with rules of the site's own.
    option
        What names the folder, for the message.

    Raises
    ------
    ConfigurationError
        If the folder holds no list, a file that is none of ours, or one that cannot be read.
    """
    contents(folder, option=option)
    return lexicons.load(folder)


def contents(folder: Path, *, option: str) -> dict[str, str]:
    """Give the text of each list of a folder by its name, checked.

    Raises
    ------
    ConfigurationError
        As `own_lexicon`.
    """
    files = sorted(folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else []
    files += [rules] if (rules := folder / RULES).is_file() else []
    shipped = resources.files("pipeline.names").joinpath("words")
    known = {RULES, *(each.name for each in shipped.iterdir())}
    strange = [each.name for each in files if each.name not in known]
    if not files or strange:
        what = f"{strange[0]} is none of our lists" if strange else "no list lies there"
        lists = ", ".join(sorted(name for name in known if name.endswith(_SUFFIX)))
        msg = f"{option}: {what}. The lists that a site can lengthen: {lists}; its rules: {RULES}."
        raise ConfigurationError(msg)
    try:
        return {each.name: each.read_text(encoding="utf-8") for each in files}
    except (OSError, UnicodeError):
        msg = f"{option}: a list cannot be read as UTF-8 text."
        raise ConfigurationError(msg) from None
