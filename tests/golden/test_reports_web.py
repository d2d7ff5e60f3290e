"""The pages in a browser: the PDF's own words and values, one file, nothing that axe finds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from pypdf import PageObject, PdfReader
from websockets.sync.client import connect

from reports.drawing.marks import PHONE, Drawing, Element, Text
from reports.drawing.style import Style
from reports.marked import swaps_in_order
from reports.pages import committee, radiologist, return_sheet
from tests.fixtures.reports import sample_contents as samples
from tests.fixtures.reports.measured import text_box, words_of

CONTENT = samples.radiologist(seed=4, n=900, shift={"likely": -0.35})
_WIDTHS = (360, 768, 1440)


@pytest.fixture(scope="module")
def feedback() -> str:
    return radiologist.build_both(CONTENT, style=Style())[1].decode()


@pytest.fixture(scope="module")
def review() -> str:
    return committee.build_both(samples.committee(readers=30), style=Style())[1].decode()


def test_every_word_that_is_tagged_in_the_pdf_stands_in_the_file(feedback: str) -> None:
    said = words_of(feedback).split()
    for page in radiologist.pages(CONTENT, style=Style()):
        for owner, mark in zip(page.owners, page.marks, strict=True):
            if owner is not None and isinstance(mark, Text):
                assert [word for word in mark.string.split() if word not in said] == []


def _tables(element: Element) -> Iterator[Element]:
    if element.role == "Table":
        yield element
    for part in element.inside:
        yield from _tables(part)


def test_a_table_cut_at_a_page_end_is_one_table_with_all_its_rows(feedback: str) -> None:
    many = samples.radiologist(seed=4, n=900, cases=tuple(CONTENT.cases) * 8)
    drawn, page = (
        radiologist.pages(many, style=Style()),
        radiologist.build_both(many, style=Style()),
    )
    parts = list(_tables(drawn[0].root))
    assert (
        len(parts)
        > len(re.findall("<table>", feedback))
        == len(re.findall("<table>", page[1].decode()))
    )
    listed = page[1].decode().rpartition("Cases for your own review")[2]
    rows = re.findall(r'<th scope="row">X-', listed)
    assert len(rows) == 8 * len(CONTENT.cases)


def test_each_table_says_what_it_is_and_each_row_whose(feedback: str, review: str) -> None:
    for page, least in ((feedback, 2), (review, 15)):
        areas = re.findall(r'<div class="scroll"([^>]*)><table[^>]*>(.*?)</table>', page, re.DOTALL)
        assert len(areas) == page.count("<table") >= least
        names = [re.search(r'role="region" aria-label="([^"]+)" tabindex="0"', a) for a, _ in areas]
        assert None not in names
        assert len({name[1] for name in names if name}) == len(areas)
        for name, (_, inside) in zip(names, areas, strict=True):
            assert name is not None
            caption = re.match(r"<caption><span class=\"unseen\">(.+?)</span></caption>", inside)
            assert caption is not None
            assert caption[1] == name[1]
            rows = re.findall(r"<tr[^>]*>(.*?)</tr>", inside.partition("<tbody>")[2], re.DOTALL)
            bare = [row for row in rows if not row.startswith('<th scope="row"')]
            assert [row for row in bare if 'class="state"' not in row] == []


def test_a_run_chart_says_its_limits_and_signals(review: str) -> None:
    named = r'aria-label="(Distance of words[^"]*|Hedges that are recomm[^"]*)"'
    said = list(dict.fromkeys(re.findall(named, review)))  # each is drawn again for a phone
    assert len(said) == 2
    assert re.search(
        r"Limits of the last month 3\.6\D+ to 8\.2\D+\. Signals: .*2026-09 \(a month beyond",
        said[0],
    )
    assert re.search(r"Limits of the last month 34\s% to 44\s%\. No signal\.", said[1])


def test_a_number_keeps_to_its_unit(feedback: str) -> None:
    said = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", feedback, flags=re.DOTALL)
    assert re.search(r"\d\N{NO-BREAK SPACE}%", said)
    assert not re.search(r"\d %", said)


def test_only_the_files_own_style_and_script_are_allowed(feedback: str, review: str) -> None:
    for page in (feedback, review):
        assert "unsafe-inline" not in page
        assert " style=" not in page
        for needle in ("http:", "https:", "@import", "<link", "<iframe", "fetch("):
            assert needle not in page, needle
        assert len(page.encode()) < 1_000_000


def test_values_stand_below_each_figure_for_keys_and_fingers(feedback: str) -> None:
    figures = re.findall(r"<figure>.*?</figure>", feedback, flags=re.DOTALL)
    assert len(figures) >= 5
    silent = [f for f in figures if "<details><summary>Values</summary><ul><li>" not in f]
    assert len(silent) == 1
    assert 'aria-label="Signs of the chart' in silent[0]


def _figures(element: Element) -> Iterator[Element]:
    if element.role == "Figure":
        yield element
    for part in element.inside:
        yield from _figures(part)


@pytest.mark.parametrize("seed", range(12))
def test_figures_too_wide_for_a_phone_are_drawn_again_in_letters_that_can_be_read(
    seed: int,
) -> None:
    pages = radiologist.pages(samples.simulated(seed), style=Style())
    wide = [f for f in _figures(pages[0].root) if f.box is not None and f.box.width > PHONE]
    assert len(wide) >= 3
    for element in wide:
        assert element.again is not None, element.lead
        narrow = Drawing(PHONE, PHONE)
        element.again(narrow, narrow.frame)
        texts = [mark for mark in narrow.marks if isinstance(mark, Text)]
        assert min(text.size for text in texts) >= 7.0, element.lead
        boxes = [text_box(text) for text in texts]
        assert min(box.x for box in boxes) > -1.0, element.lead
        assert max(box.right for box in boxes) < PHONE + 1.0, element.lead
        assert max(box.bottom for box in boxes) < narrow.height + 1.0, element.lead


@pytest.mark.slow
def test_a_review_of_five_hundred_readers_is_one_file_under_a_megabyte() -> None:
    page = committee.build_both(samples.committee(readers=500), style=Style())[1]
    assert 100_000 < len(page) < 1_000_000


def _browser() -> str:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("Chromium is not installed")
    return browser


def _axe() -> str:
    place = Path(os.environ.get("RADCAL_AXE", "node_modules/axe-core/axe.min.js"))
    if not place.is_file():
        pytest.skip("axe-core is not installed (npm install axe-core, or name it in RADCAL_AXE)")
    return place.read_text(encoding="utf-8")


_ASK = """
<script>window.addEventListener("load", () => axe.run(document).then((found) => {
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  const told = found.violations.map((v) => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 120)]);
  const letters = Array.from(document.querySelectorAll("figure svg"), (svg) => {
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return Array.from(svg.querySelectorAll("text"),
      (text) => scale * parseFloat(getComputedStyle(text).fontSize));
  }).flat().filter((size) => size > 0);
  const controls = Array.from(document.querySelectorAll("a, button, select, input, summary"),
    (each) => each.getBoundingClientRect()).filter((box) => box.width > 0 && box.left > -99);
  const slid = Array.from(document.querySelectorAll(".wide"), (area) => {
    const row = area.querySelector("tbody th"), before = row?.getBoundingClientRect().left;
    area.scrollLeft = 999;
    return area.scrollLeft > 0 ? row?.getBoundingClientRect().left - before : 99;
  });
  const stacked = Array.from(document.querySelectorAll(".stacked"), (area) => {
    const heads = Array.from(area.querySelectorAll("thead th"), (head) => head.textContent.trim());
    const cells = Array.from(area.querySelectorAll("tbody tr:first-child td:not(.state)"));
    const said = cells.map((cell) => getComputedStyle(cell, "::before").content.split('"')[1]);
    const ends = cells.map((cell) => cell.getBoundingClientRect().right);
    return [area.scrollWidth > area.clientWidth + 1, heads.slice(1), said, Math.max(...ends),
      area.querySelectorAll("[role=row] > [role=rowheader]").length,
      area.querySelectorAll("tbody tr").length, heads.length,
      area.querySelectorAll("[role=columnheader]").length];
  });
  parent.postMessage(JSON.stringify({ slid: slid, stacked: stacked,
    touch: Math.min(...controls.flatMap((box) => [box.width, box.height])), told: told,
    wide: wide, ran: found.passes.length,
    smallest: Math.min(...letters), letters: letters.length }), "*");
}));</script>
"""
_HARNESS = """<!doctype html><title>harness</title><body><script>
addEventListener("message", (event) => {
  const told = document.createElement("pre"); told.id = "told"; told.textContent = event.data;
  document.body.append(told);
});</script><iframe width="{width}" height="900" src="page.html"></iframe></body>"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", _WIDTHS)
@pytest.mark.parametrize("name", ["feedback", "review"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    name: str, width: int, scheme: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    browser, axe = _browser(), _axe()
    page = str(request.getfixturevalue(name))
    open_page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    if scheme == "dark":
        assert "screen and (prefers-color-scheme: dark)" in open_page
        open_page = open_page.replace("screen and (prefers-color-scheme: dark)", "screen")
    asked = open_page.replace("</body>", f"<script>{axe}</script>{_ASK}</body>")
    (tmp_path / "page.html").write_text(asked, encoding="utf-8")
    harness = tmp_path / "harness.html"
    harness.write_text(_HARNESS.replace("{width}", str(width)), encoding="utf-8")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1600,1000",
         "--virtual-time-budget=60000", "--dump-dom", harness.as_uri()],
        capture_output=True, check=True, timeout=180,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    answer = re.search(r'<pre id="told">(.*?)</pre>', done.stdout.decode(), flags=re.DOTALL)
    assert answer is not None
    told = json.loads(unescape(answer[1]))
    assert told["ran"] > 10
    assert told["told"] == []
    assert not told["wide"]
    assert told["letters"] > 50
    assert told["smallest"] >= 11.0
    assert told["touch"] >= 24.0
    assert all(abs(each) < 1.0 for each in told["slid"] if each is not None)
    assert bool(told["slid"]) <= (width == 768)
    assert (len(told["stacked"]) > (5 if name == "review" else 1)) == (width == 360)
    for slides, heads, said, right, named, rows, columns, kept in told["stacked"]:
        assert not slides
        assert said == [each.replace('"', "") for each in heads]  # each cell with its head
        assert right <= width
        assert (named, kept) == (rows, columns)  # and still a table, by ear


def _lines(page: PageObject) -> list[tuple[float, str]]:
    """Give each piece of text with its height on the paper."""
    found: list[tuple[float, str]] = []

    def note(text: str, cm: list[float], tm: list[float], *_: object) -> None:
        if text.strip():
            found.append((cm[1] * tm[4] + cm[3] * tm[5] + cm[5], text.strip()))

    page.extract_text(visitor_text=note)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["feedback", "review"])
def test_the_banner_stands_above_everything_on_each_printed_page(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place, printed = tmp_path / "page.html", tmp_path / "page.pdf"
    place.write_text(str(request.getfixturevalue(name)), encoding="utf-8")
    subprocess.run(
        [_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
         f"--print-to-pdf={printed}", place.as_uri()],
        capture_output=True, check=True, timeout=180,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    banner = samples.masthead().banner.split()[0]
    pages = PdfReader(printed).pages
    assert len(pages) > 3
    for page in pages:
        found = _lines(page)
        top = max(y for y, _ in found)
        assert any(banner in text and y > top - 1.0 for y, text in found)
        assert max(y for y, _ in found if y < top - 1.0) < top - 10.0


class _Devtools:
    """A page in Chromium, asked by its DevTools protocol."""

    def __init__(self, browser: subprocess.Popen[str], page: Path, folder: Path) -> None:
        lines = iter(browser.stderr.readline, "")
        found = next(m for m in (re.search(r"ws://\S+", line) for line in lines) if m)
        self.socket, self.number, self.session = connect(found[0], max_size=None), 0, None
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        target = self.call("Target.createTarget", url=page.as_uri())["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        while not self.js("document.querySelector('.save')?.hidden === false"):
            time.sleep(0.1)

    def call(self, method: str, **params: object) -> dict[str, object]:
        self.number += 1
        where = {"sessionId": self.session} if self.session else {}
        self.socket.send(
            json.dumps({"id": self.number, "method": method, "params": params} | where)
        )
        while True:
            answer = json.loads(self.socket.recv(timeout=60))
            if answer.get("id") == self.number:
                return answer["result"]

    def js(self, said: str) -> object:
        return self.call("Runtime.evaluate", expression=said)["result"].get("value")

    def press(self, name: str, number: int, text: str = "") -> None:
        given = {"key": name, "code": name, "windowsVirtualKeyCode": number}
        self.call(
            "Input.dispatchKeyEvent", type="keyDown", **given, **({"text": text} if text else {})
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)


@pytest.mark.slow
def test_answers_given_by_keys_alone_are_saved_as_a_sheet_that_is_read_back(tmp_path: Path) -> None:
    content = samples.with_three_actions()
    page = tmp_path / "feedback.html"
    page.write_bytes(radiologist.build_both(content, style=Style())[1])
    with subprocess.Popen(
        [_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
         f"--user-data-dir={tmp_path}/user", "about:blank"],
        stderr=subprocess.PIPE, text=True, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    ) as browser:  # fmt: skip
        shown = _Devtools(browser, page, tmp_path)
        shown.js("document.querySelector('input[type=radio]').focus()")
        shown.press(" ", 32, " ")
        shown.press("ArrowRight", 39)
        shown.press("Tab", 9)
        shown.call("Input.insertText", text='=only, "in" children')
        for case in ("case1", "case0"):
            shown.js(f"document.querySelector('input[name={case}]').focus()")
            shown.press(" ", 32, " ")
            if case == "case1":
                shown.press("Delete", 46)
        shown.js("document.querySelector('.save button').focus()")
        shown.press("Enter", 13, "\r")
        for _ in range(100):
            time.sleep(0.1)
            if (tmp_path / "return.csv").exists():
                break
        browser.terminate()
    cases, swaps = return_sheet.read((tmp_path / "return.csv").read_bytes())
    assert [(each.xray_code, each.answer) for each in cases] == [
        (content.cases[0].xray_code, "concordant")
    ]
    first = swaps_in_order(content.profile)[0]
    assert [(each.phrase, each.instead, each.answer, each.words) for each in swaps] == [
        (first.phrase, first.instead, "disagree", '=only, "in" children')
    ]
