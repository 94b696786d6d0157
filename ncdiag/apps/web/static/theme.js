// Before the page is shown: the theme that was chosen here, else the system's. Dark is one media block of answer.css.
"use strict";
(() => {
  const query = "prefers-color-scheme: dark";
  const kept = () => { try { return localStorage.getItem("ncdiag-theme") || ""; } catch { return ""; } };
  const blocks = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSMediaRule && rule.media.mediaText.includes(query));
  window.ncdiagTheme = {
    kept,
    show(theme) {
      document.documentElement.dataset.theme = theme;
      const when = theme === "dark" ? "all" : theme === "light" ? "not all" : `(${query})`;
      for (const block of blocks) block.media.mediaText = when;
    },
    keep(theme) {
      try { localStorage.setItem("ncdiag-theme", theme); } catch { /* it holds for this page alone */ }
      this.show(theme);
    },
  };
  window.ncdiagTheme.show(kept());
})();
