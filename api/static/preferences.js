// The theme changes at once, without a reload that would lose what is typed. Without this script
// the same buttons send their form.

const YEAR = 365 * 24 * 3600;

export function remember(name, value) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${name}=${value}; path=/; max-age=${YEAR}; samesite=lax${secure}`;
}

const root = document.documentElement;
const scheme = document.querySelector("meta[name='color-scheme']");

export function paint(theme) {
  root.dataset.theme = theme;
  scheme.content = theme === "system" ? "light dark" : theme;
  for (const button of document.querySelectorAll("button[name='theme']")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
}

document.addEventListener("submit", (event) => {
  const chosen = event.submitter;
  if (chosen && chosen.name === "theme") {
    event.preventDefault();
    event.stopImmediatePropagation();
    remember("redraft_theme", chosen.value);
    paint(chosen.value);
  }
}, true);

// The next page is rendered in the reader's time zone.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && zone !== root.dataset.zone) {
  remember("redraft_zone", zone);
  // This page's times are turned by `times.js`: the foot has to say so, too.
  for (const said of document.querySelectorAll("[data-zone-said]")) {
    said.textContent = said.textContent.replace(root.dataset.zone, zone);
  }
}
