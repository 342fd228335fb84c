"use strict";
// Hides the rows that nobody asked for. What is asked for stands in the address, behind #, so that it
// can be sent; nothing else is kept, and nothing is loaded.
(() => {
  const form = document.getElementById("filter");
  const rows = Array.from(document.querySelectorAll("#runs-table > tbody > tr"));
  const count = document.getElementById("shown");
  const nothing = document.getElementById("nothing");
  const names = ["subject", "fault", "verdict", "show", "text"];
  const many = (row, name) => JSON.parse(row.dataset[name]);
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase().replace(/\s+/g, " ")]));
  const tests = {
    subject: (row, wanted) => row.dataset.subject === wanted,
    fault: (row, wanted) => many(row, "faults").includes(wanted),
    verdict: (row, wanted) => many(row, "verdicts").includes(wanted),
    show: (row, wanted) => many(row, "marks").includes(wanted),
    text: (row, wanted) => wanted.toLowerCase().split(/\s+/).every((word) => texts.get(row).includes(word)),
  };
  const asked = () =>
    names.map((name) => [name, form.elements[name].value.trim()]).filter(([, value]) => value !== "");

  function apply() {
    const wanted = asked();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !wanted.every(([name, value]) => tests[name](row, value));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${rows.length} scenarios`;
    nothing.hidden = shown > 0;
  }

  function fromAddress() {
    const said = new URLSearchParams(location.hash.slice(1));
    // An address that leads to a section says nothing of the filter.
    if (location.hash.length > 1 && !names.some((name) => said.has(name))) return;
    for (const name of names) {
      const field = form.elements[name];
      field.value = said.get(name) ?? "";
      // What is not there to be chosen would hide everything without a word.
      if (field.selectedIndex === -1) field.value = "";
    }
    apply();
  }

  function toAddress() {
    const said = new URLSearchParams(asked()).toString();
    history.replaceState(null, "", said ? `#${said}` : location.pathname + location.search);
  }

  form.addEventListener("input", () => { apply(); toAddress(); });
  form.addEventListener("reset", () => setTimeout(() => { apply(); toAddress(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", fromAddress);
  form.hidden = false;
  apply();
  fromAddress();
})();
