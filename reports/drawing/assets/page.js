"use strict";
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
