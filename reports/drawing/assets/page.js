"use strict";
// Sort a table by a column; cells without a number stay last in either direction.
function valueOf(cell) {
  const given = cell.dataset.value;
  const text = (given === undefined ? cell.textContent : given).trim();
  const german = document.documentElement.lang.startsWith("de");
  const plain = text.replace(german ? /\./g : /,/g, "").replace(",", ".").replace(/\u2212/g, "-").replace(/\s/g, " ");
  const number = /^[<>+\u2248]?\s*-?\d/.test(plain) ? parseFloat(plain.replace(/^[<>+\u2248]\s*/, "")) : NaN;
  return { text: text, number: number };
}
function sortBy(table, column, descending) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows).map((row) => ({ row: row, key: valueOf(row.cells[column]) }));
  const numeric = rows.some((r) => !Number.isNaN(r.key.number));
  const sign = descending ? -1 : 1;
  rows.sort((a, b) => {
    if (!numeric) return sign * a.key.text.localeCompare(b.key.text);
    const left = Number.isNaN(a.key.number), right = Number.isNaN(b.key.number);
    if (left || right) return left - right;
    return sign * (a.key.number - b.key.number);
  });
  rows.forEach((r) => body.appendChild(r.row));
}
document.querySelectorAll("table").forEach((table) => {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (button === null) return;
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      heads.filter((other) => other.hasAttribute("aria-sort")).forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortBy(table, column, descending);
    });
  });
});
// On a phone a table that is too wide becomes a block a row, each cell with its head before it; the roles say that
// it still is a table. Elsewhere it goes on to the right: its first column stays, with a shadow.
const areas = document.querySelectorAll(".scroll"), phone = matchMedia("screen and (max-width: 30rem)");
const roles = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };
areas.forEach((area) => {
  const table = area.querySelector("table"), heads = Array.from(table.tHead.rows[0].cells, (head) => head.textContent.trim());
  [table, ...table.querySelectorAll("thead, tbody, tr, th, td")].forEach((part) => part.setAttribute("role",
    roles[part.tagName] ?? (part.scope === "col" ? "columnheader" : "rowheader")));
  Array.from(table.tBodies[0].rows).forEach((row) => Array.from(row.cells).forEach((cell, k) => {
    if (k > 0) cell.dataset.label = heads[k];
  }));
});
const measure = () => areas.forEach((area) => {
  area.classList.remove("stacked", "wide");
  if (area.scrollWidth > area.clientWidth + 1) area.classList.add(phone.matches ? "stacked" : "wide");
});
addEventListener("resize", measure);
measure();
// Show rows and values that hold what is looked for. A line that names no finding (phrase) at all is
// of every one, and what holds none but such lines says so; head rows and pictures stay.
const filter = document.querySelector(".filter");
if (filter !== null) {
  const field = filter.querySelector("input"), told = filter.querySelector("output");
  const choices = Array.from(filter.querySelectorAll("select"));
  const known = choices.map((choice) => new Set(Array.from(choice.options, (o) => o.value).filter(Boolean)));
  const lines = Array.from(document.querySelectorAll("tbody tr, figure details li"), (line) => {
    const parts = line.cells ? Array.from(line.cells, (c) => c.textContent.trim()) : line.textContent.split(/[:,] */);
    return { line: line, row: Boolean(line.cells), text: line.textContent.toLowerCase(),
      names: known.map((names) => parts.filter((part) => names.has(part))) };
  });
  const rows = lines.filter((each) => each.row);
  const blocks = Array.from(document.querySelectorAll(".scroll, .beside"), (block) => ({ block: block,
    split: known.map((_, k) => lines.some((each) => each.names[k].length > 0 && block.contains(each.line))) }));
  const show = () => {
    const wanted = field.value.trim().toLowerCase();
    lines.forEach((each) => {
      const fits = choices.every((choice, k) => choice.value === "" || each.names[k].length === 0 || each.names[k].includes(choice.value));
      each.line.hidden = !fits || (each.row && !each.text.includes(wanted));
    });
    blocks.forEach((each) => {
      const unsplit = choices.filter((choice, k) => choice.value !== "" && !each.split[k]);
      const what = unsplit.map((choice) => choice.parentNode.firstChild.textContent.trim()).join(", ");
      if (what) each.block.dataset.whole = filter.dataset.whole.replace("{what}", what); else delete each.block.dataset.whole;
    });
    const left = rows.filter((each) => !each.line.hidden).length;
    const all = wanted === "" && choices.every((choice) => choice.value === "");
    told.textContent = all ? "" : filter.dataset.rows.replace("{n}", left).replace("{of}", rows.length);
  };
  field.addEventListener("input", show);
  choices.forEach((choice) => choice.addEventListener("change", show));
}
// Save what was ticked and written as a sheet; nothing is sent. A click on a ticked box, or Delete, clears it.
const save = document.querySelector(".save");
if (save !== null) {
  const asked = Array.from(document.querySelectorAll("main input")), ticked = new Map();
  const sheet = JSON.parse(save.dataset.sheet);
  asked.filter((input) => input.type === "radio").forEach((input) => {
    const tick = (on) => { input.checked = on; ticked.set(input.name, on ? input : null); };
    input.addEventListener("click", () => tick(ticked.get(input.name) !== input));
    input.addEventListener("keydown", (event) => {
      if (event.key === "Delete" || event.key === "Backspace") tick(false);
    });
  });
  const written = (text) => {
    const safe = /^[=+\-@\t\r']/.test(text) ? "'" + text : text;
    return safe.includes(sheet.sign) || /["\r\n]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
  };
  save.hidden = false;
  save.querySelector("button").addEventListener("click", () => {
    const rows = new Map();
    asked.forEach((input) => {
      const [question, words] = input.name.split(".");
      if (!rows.has(question)) rows.set(question, { cells: sheet.rows[input.dataset.about], answer: "", words: "" });
      if (words !== undefined) rows.get(question).words = input.value.trim();
      else if (input.checked) rows.get(question).answer = sheet.answers[input.value];
    });
    const said = Array.from(rows.values()), n = said.filter((row) => row.answer !== "" || row.words !== "").length;
    save.querySelector("output").textContent = n === 0 ? save.dataset.none : save.dataset.done.replace("{n}", n);
    if (n === 0) return;
    const cells = [sheet.head].concat(said.map((row) => row.cells.concat(row.answer, row.words)));
    const lines = cells.map((row) => row.map(written).join(sheet.sign)).concat("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff" + lines.join("\r\n")], { type: "text/csv" }));
    link.download = "return.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
}
