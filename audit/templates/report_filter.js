"use strict";
// Filter and search of each paper's claims. Without scripts the form is not shown and every claim is.
for (const form of document.querySelectorAll("form.filter")) {
  const part = document.getElementById(form.dataset.of);
  const rows = [...part.querySelectorAll("tr[id]")];
  const groups = [...part.querySelectorAll("section.group")];
  const count = form.querySelector("output");
  const texts = new Map();
  const text = row => texts.get(row) ?? (texts.set(row, row.textContent.toLowerCase()), texts.get(row));
  const apply = () => {
    const wanted = form.elements.verdict.value;
    const words = form.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const keep = (!wanted || row.className === wanted) && words.every(word => text(row).includes(word));
      row.hidden = !keep;
      shown += keep;
    }
    for (const group of groups) group.hidden = !group.querySelector("tr[id]:not([hidden])");
    count.value = shown === rows.length ? `all ${shown} claims` : `${shown} of ${rows.length} claims`;
  };
  let timer;
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(apply, 120); });
  form.addEventListener("submit", event => { event.preventDefault(); apply(); });
  form.addEventListener("reset", () => setTimeout(apply));
  form.hidden = false;
  apply();
}
// A link to a claim that a filter hides shows it again.
addEventListener("hashchange", () => {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!row || !row.closest("[hidden]")) return;
  for (const form of document.querySelectorAll("form.filter"))
    if (document.getElementById(form.dataset.of).contains(row)) form.reset();
  setTimeout(() => row.scrollIntoView(), 50);
});
