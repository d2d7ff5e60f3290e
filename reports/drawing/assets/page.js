"use strict";
// Sort a table by a column; cells without a number stay last in either direction.
function valueOf(cell) {
  const given = cell.dataset.value;
  const text = (given === undefined ? cell.textContent : given).trim();
  const plain = text.replace(/,/g, "").replace(/\u2212/g, "-").replace(/\s/g, " ");
  const number = /^[<>+]?\s*-?\d/.test(plain) ? parseFloat(plain.replace(/^[<>+]\s*/, "")) : NaN;
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
// Show the rows of all tables that hold what is looked for; head rows and pictures stay.
const field = document.querySelector(".filter input");
if (field !== null) {
  const told = document.querySelector(".filter output");
  const pattern = document.querySelector(".filter").dataset.rows;
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    const rows = Array.from(document.querySelectorAll("tbody tr"));
    rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
    const left = rows.filter((row) => !row.hidden).length;
    told.textContent = wanted === "" ? "" : pattern.replace("{n}", left).replace("{of}", rows.length);
  });
}
