"""Pages of the site that stand elsewhere in the repository, and links to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "index.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "deploy.md": "deploy/README.md",
    "tests.md": "tests/README.md",
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie outside docs/."""
    for page, source in PAGES.items():
        content = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        for other, place in PAGES.items():
            content = content.replace(f"]({place}", f"]({other}")
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Turn links that leave docs/ into links between pages of the site."""
    for page, source in PAGES.items():
        markdown = markdown.replace(f"](../{source}", f"]({page}")
    return markdown
