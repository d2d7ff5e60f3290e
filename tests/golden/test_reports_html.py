"""The HTML companion: one file, no network, the PDF's numbers, hoverable."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pypdf
import pytest

from reports import review_content
from reports.disclosure import guard_committee
from reports.drawing.style import Style, style_for
from reports.drawing.tables import Table
from reports.pages import committee, radiologist
from tests.fixtures.reports import sample_contents as samples

STYLE = Style()
VOID = {"meta", "br", "input"}


class Reader(HTMLParser):
    """Collects the rows of tables by their captions, and complains about tags left open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.current = ""
        self.titles: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.tables[self.current].append([])
        elif tag in ("td", "th"):
            self.tables[self.current][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "title":
            self.titles.append(data)
        elif "caption" in self.open:
            self.current = data
            self.tables[data] = []
        elif "td" in self.open or "th" in self.open:
            self.tables[self.current][-1][-1] += data


def read(page: bytes) -> Reader:
    reader = Reader()
    reader.feed(page.decode("utf-8"))
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def review() -> review_content.CommitteeContent:
    return samples.committee()


@pytest.fixture(scope="module")
def page(review: review_content.CommitteeContent) -> bytes:
    return committee.build_both(review, style=STYLE)[1]


def test_nothing_is_loaded_from_anywhere(page: bytes) -> None:
    text = page.decode("utf-8")
    assert "default-src 'none'" in text
    for needle in ("http:", "https:", "src=", "@import", "url(", "<link", "<iframe", "fetch("):
        assert needle not in text, needle


def test_every_cell_of_the_pdfs_tables_is_in_the_html(
    review: review_content.CommitteeContent, page: bytes
) -> None:
    printed = {cell for rows in read(page).tables.values() for row in rows for cell in row}
    cells = 0
    for section in committee.sections(guard_committee(review), words=STYLE.strings):
        for table in (piece for piece in section.pieces if isinstance(piece, Table)):
            for row in table.rows:
                for cell in (c for c in row.cells if isinstance(c, str)):
                    assert cell in printed, cell
                    cells += 1
    assert cells > 200


def test_every_number_of_the_htmls_tables_is_printed_in_the_pdf(
    review: review_content.CommitteeContent, page: bytes
) -> None:
    pdf = pypdf.PdfReader(io.BytesIO(committee.build_both(review, style=STYLE)[0]))
    printed = " ".join(" ".join(sheet.extract_text().split()) for sheet in pdf.pages)
    rows = [row for table in read(page).tables.values() for row in table]
    numbers = [
        " ".join(cell.split())
        for row in rows
        for cell in row
        if re.fullmatch(r"[+−<>]?[\d.,]+(\s%)?( to [+−]?[\d.]+)?", cell)
    ]
    assert len(numbers) > 150
    assert [n for n in numbers if n not in printed] == []


def test_marks_carry_their_values_for_hovering(page: bytes) -> None:
    titles = read(page).titles
    assert any(re.fullmatch(r"likely: says 77\s%, CT 56\s% \(51–60\s%\), n 457", t) for t in titles)
    assert any(re.match(r"pleural effusion, likely: says 77\s%, CT ", t) for t in titles)
    assert any(re.fullmatch(r"R-\w+: shift [+−]?\d\.\d+, slope \d\.\d+", t) for t in titles)


def test_the_same_content_gives_the_same_bytes(
    review: review_content.CommitteeContent, page: bytes
) -> None:
    assert committee.build_both(review, style=STYLE)[1] == page


def test_markup_in_configured_text_stays_text() -> None:
    head = samples.masthead(institution="<script>alert(1)</script>", banner="A & B {{style}}")
    text = committee.build_both(samples.committee(masthead=head), style=STYLE)[1].decode("utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "A &amp; B {{style}}" in text


def test_missing_parts_say_so() -> None:
    filled = replace(samples.committee(), scale_use=None, sensitivity=None)
    text = committee.build_both(filled, style=STYLE)[1].decode("utf-8")
    assert text.count(">not computed in this run<") == 2


def _in_chromium(page: bytes, script: str, folder: Path) -> Reader:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("Chromium is not installed")
    file = folder / "review.html"
    asked = page.replace(b"</body>", f"<script>{script}</script></body>".encode())
    file.write_bytes(re.sub(rb'<meta http-equiv="Content-Security-Policy"[^>]*>', b"", asked))
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", file.as_uri()],
        capture_output=True,
        check=True,
        timeout=120,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
    )
    reader = Reader()
    reader.feed(done.stdout.decode("utf-8"))
    return reader


@pytest.mark.slow
def test_a_browser_asks_the_network_for_nothing_and_finds_values_to_hover_over(
    page: bytes, tmp_path: Path
) -> None:
    look = (
        "const told = document.createElement('table'); told.createCaption().textContent = 'told';"
        "const row = told.insertRow();"
        "row.insertCell().textContent = performance.getEntriesByType('resource').length;"
        "row.insertCell().textContent = document.querySelectorAll('svg title').length;"
        "document.body.append(told);"
    )
    ((asked, hovers),) = _in_chromium(page, look, tmp_path).tables["told"]
    assert asked == "0"
    assert int(hovers) > 100


def test_readers_stand_in_code_order_and_nothing_sorts_them(page: bytes) -> None:
    tables, text = read(page).tables, page.decode("utf-8")
    for name in ("What each reader is told, in code order", "Readers, in code order"):
        codes = [row[0] for row in tables[name][1:]]
        assert codes == sorted(codes)
        assert len(codes) > 5
    assert "<button" not in text
    assert "aria-sort" not in text


def test_the_contents_lead_to_every_main_heading(page: bytes) -> None:
    text = page.decode("utf-8")
    nav = re.search(r'<nav aria-label="Contents">.*?</nav>', text)
    assert nav is not None
    headings = re.findall(r'<h2 id="(s\d+)"[^>]*>(.*?)</h2>', text)
    assert re.findall(r'<a href="#(s\d+)">(.*?)</a>', nav[0]) == headings
    assert len(headings) == text.count("<h2") > 15


def test_a_table_without_rows_says_so_across_its_columns_and_wide_cells_wrap(page: bytes) -> None:
    text = page.decode("utf-8")
    assert re.search(r'<tr><td colspan="[2-9]" class="state">[^<]+</td></tr>', text)
    wraps = re.findall(r'<t[dh][^>]* class="[^"]*wraps[^"]*">([^<]+)<', text)
    assert any(len(said) > 60 for said in wraps)
    assert re.search(r'<th scope="row" class="strong">[^<]+</th>', text)
    assert re.search(r'<th scope="row" class="quiet">[^<]+</th>', text)


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_line_of_a_figure_is_cut_off(language: str) -> None:
    style = style_for("A4", language=language)
    contents = samples.radiologist(), samples.with_three_actions()
    pages = [radiologist.build_both(each, style=style)[1].decode() for each in contents]
    pages.append(committee.build_both(samples.committee(), style=style)[1].decode())
    lines = 0
    for page in pages:
        anchors = dict(re.findall(r"\.(m\d+)\{[^}]*text-anchor:(\w+)", page))
        for box, body in re.findall(r'<svg viewBox="([^"]+)"(.*?)</svg>', page, flags=re.DOTALL):
            left, _, wide, _ = map(float, box.split())
            for x, rest in re.findall(r'<text x="([^"]+)"([^>]*)>', body):
                length = float(re.search(r'textLength="([^"]+)"', rest)[1])
                kind = re.search(r'class="(\w+)"', rest)[1]
                start = float(x) - {"end": length, "middle": length / 2}.get(anchors.get(kind), 0.0)
                assert left - 0.6 <= start <= start + length <= left + wide + 0.6, body
                lines += 1
    assert lines > 300
