"use strict";
// Hides the rows that do not match the filter. The filter is stored in the URL fragment, so that it can
// be shared. Nothing else is stored, and nothing is loaded.
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
  const filters = () =>
    names.map((name) => [name, form.elements[name].value.trim()]).filter(([, value]) => value !== "");

  function apply() {
    const active = filters();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !active.every(([name, value]) => tests[name](row, value));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${rows.length} scenarios`;
    nothing.hidden = shown > 0;
  }

  function fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    // The fragment may name a section instead of a filter.
    if (location.hash.length > 1 && !names.some((name) => given.has(name))) return;
    for (const name of names) {
      const field = form.elements[name];
      field.value = given.get(name) ?? "";
      // A value that is not an option would silently hide all rows.
      if (field.selectedIndex === -1) field.value = "";
    }
    apply();
  }

  function toAddress() {
    const fragment = new URLSearchParams(filters()).toString();
    history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
  }

  form.addEventListener("input", () => { apply(); toAddress(); });
  form.addEventListener("reset", () => setTimeout(() => { apply(); toAddress(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", fromAddress);
  form.hidden = false;
  apply();
  fromAddress();
})();
