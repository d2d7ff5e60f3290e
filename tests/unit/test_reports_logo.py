"""The institution's logo: drawn beside the title, or refused with a reason."""

from __future__ import annotations

import io
import re
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pypdf
import pytest

from pipeline.errors import ConfigurationError
from pipeline.pages import content
from pipeline.site.site import Site
from pipeline.stages.pages import FEEDBACK
from pipeline.tables.results import Period
from reports.drawing.marks import Picture
from reports.drawing.style import MARGIN, LogoError, Style, check, fitted
from reports.pages import committee, radiologist
from tests.fixtures.reports import sample_contents as samples


def png(width: int, height: int) -> bytes:
    """Make a plain grey PNG from its chunks."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\x00" + b"\x80" * width) * height)
    start = b"\x89PNG\r\n\x1a\n"
    return start + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_a_wide_logo_keeps_its_proportions_within_the_frame() -> None:
    assert check(png(300, 60)) == (300, 60)
    assert fitted(png(300, 60), width=110, height=36) == pytest.approx((110.0, 22.0))
    assert fitted(png(60, 60), width=110, height=36) == pytest.approx((36.0, 36.0))


def test_the_logo_stands_right_of_the_title_in_pdf_and_html() -> None:
    head = replace(samples.masthead(), logo=png(300, 60))
    style = Style()
    filled = samples.radiologist(masthead=head)
    first = radiologist.pages(filled, style=style)[0]
    (picture,) = [m for m in first.marks if isinstance(m, Picture)]
    assert picture.x + picture.width == pytest.approx(first.width - MARGIN)
    pdf = pypdf.PdfReader(io.BytesIO(radiologist.build_both(filled, style=style)[0]))
    assert [image.image.size for image in pdf.pages[0].images] == [(300, 60)]
    assert len(pdf.pages[1].images) == 0
    review = samples.committee(masthead=head)
    own, both = (
        radiologist.build_both(filled, style=style),
        committee.build_both(review, style=style),
    )
    for _, page in (own, both):
        shown = re.findall(rb'<figure class="logo">.*?</figure>', page)
        assert [b"<image " in each and b"<details>" not in each for each in shown] == [True]
    assert any(isinstance(m, Picture) for m in committee.pages(review, style=style)[0].marks)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"GIF89a", "not a PNG"),
        (b"\x89PNG\r\n\x1a\n", "not a PNG"),
        (png(4001, 1), "4001 x 1 pixels"),
        (png(60, 3000), "60 x 3000 pixels would be drawn as a line; .* at most 20 times"),
        (png(3000, 60), "3000 x 60 pixels would be drawn as a line"),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 500_001, "at most 500,000"),
    ],
)
def test_what_cannot_be_printed_is_refused_with_the_reason(bad: bytes, reason: str) -> None:
    with pytest.raises(LogoError, match=reason):
        check(bad)


def configured(folder: Path, name: str) -> Site:
    path = folder / "radcal.toml"
    path.write_text(f'[input]\npaths = ["a.csv"]\n[reports]\nlogo = "{name}"\n', "utf-8")
    return Site(path)


def test_the_configured_logo_is_printed_and_its_bytes_move_the_issue(tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(png(300, 60))
    site = configured(tmp_path, "logo.png")
    issue = content.Issue(site.config, Period("2026-09", ("2026-09",)), logo=site.logo)
    assert content.masthead(issue, "R-A").logo == png(300, 60)
    (tmp_path / "logo.png").write_bytes(png(300, 61))
    assert FEEDBACK.digest(configured(tmp_path, "logo.png")) != FEEDBACK.digest(site)


def test_an_unusable_logo_stops_before_a_page_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"reports\.logo: gone\.png cannot be read"):
        FEEDBACK.digest(configured(tmp_path, "gone.png"))
    (tmp_path / "logo.svg").write_text("<svg/>")
    with pytest.raises(ConfigurationError, match=r"reports\.logo: the file is not a PNG image"):
        FEEDBACK.digest(configured(tmp_path, "logo.svg"))
