"use strict";
(function () {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const byId = (id) => document.getElementById(id);

  // Light or dark: as the system says until the reader chooses.
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
  });

  // Marks every place where the chosen Func occurs.
  let marked = "";
  function mark(name) {
    marked = name;
    all("[data-of]").forEach((e) => e.classList.toggle("is-marked", e.dataset.of === name));
    all("button.func").forEach((e) => e.setAttribute("aria-pressed", String(e.dataset.func === name)));
  }
  all("button.func").forEach((e) =>
    e.addEventListener("click", () => mark(marked === e.dataset.func ? "" : e.dataset.func)));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { mark(""); }
  });

  const filter = byId("filter");
  if (filter) {
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      let found = 0;
      all(".card").forEach((card) => {
        card.hidden = !card.dataset.of.toLowerCase().includes(wanted);
        found += card.hidden ? 0 : 1;
      });
      byId("found").textContent = wanted ? found + " found" : "";
    });
  }
  all("button[data-toggle]").forEach((e) => e.addEventListener("click", () =>
    all(".card").forEach((card) => { card.open = e.dataset.toggle === "true"; })));

  const copy = byId("copy");
  if (copy) {
    copy.addEventListener("click", () => {
      const say = (text) => { byId("copied").textContent = text; };
      // Pages opened from a file may be denied the clipboard: then the text is selected instead.
      const select = () => {
        getSelection().selectAllChildren(byId("code"));
        say("Selected");
      };
      if (navigator.clipboard) {
        navigator.clipboard.writeText(byId("code").textContent).then(() => say("Copied"), select);
      } else {
        select();
      }
    });
  }
})();
