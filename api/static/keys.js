// Keyboard shortcuts. Every one leads to something that is on the page as a link, button or field;
// none decides anything. Off while somebody types, while an input method composes, and by choice.

import { toLiveText } from "./focus.js";

const PLACES = {
  o: "/", r: "/runs", q: "/queue", d: "/observe", c: "/calls", s: "/settings", h: "/help",
};
const CHORD_MS = 1200;
const SETTING = "redraft-keys";
const list = document.getElementById("shortcuts");
let chordUntil = 0;

function isOff() {
  try {
    return localStorage.getItem(SETTING) === "off";
  } catch {
    return false; // storage is forbidden here: the shortcuts stay on
  }
}

function typing(target) {
  return target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

function visible(element) {
  return element && element.getClientRects().length > 0;
}

// Fields and buttons that start something get the focus; links are followed.
function lead(element) {
  element.scrollIntoView({ block: "nearest" });
  if (element.matches("a[href]")) {
    element.click();
  } else {
    element.focus();
    element.select?.();
  }
}

function rows() {
  return [...document.querySelectorAll("[data-list] tbody tr, .queue > li, .glance-list > li")];
}

function move(step) {
  const all = rows();
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
  next?.querySelector("a.title")?.focus();
}

function pick() {
  const row = rows().find((one) => one.contains(document.activeElement));
  row?.querySelector("[type=checkbox]")?.click();
}

const ACTIONS = {
  "?": () => list.showModal(),
  j: () => move(1),
  k: () => move(-1),
  x: pick,
  l: () => toLiveText(),
};

function section(number) {
  const links = [...document.querySelectorAll(".onpage a[href^='#']")];
  links[number - 1]?.click();
}

function press(key) {
  const marked = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
  if (visible(marked)) {
    lead(marked);
    return true;
  }
  if (key in ACTIONS) {
    ACTIONS[key]();
    return true;
  }
  if (/^[1-9]$/.test(key) && document.querySelector(".onpage")) {
    section(Number(key));
    return true;
  }
  return false;
}

// A key that is no shortcut now: somebody types, reads the list of keys, or has turned them off.
export function noShortcut(event) {
  return event.defaultPrevented || !plain(event) || typing(event.target) || list.open || isOff();
}

function plain(event) {
  const composing = event.isComposing || event.keyCode === 229;
  return !(composing || event.repeat || event.ctrlKey || event.metaKey || event.altKey);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || !plain(event)) {
    return;
  }
  if (typing(event.target)) {
    if (event.key === "Escape") {
      event.target.blur();
    }
    return;
  }
  if (list.open || (isOff() && event.key !== "?")) {
    return;
  }
  if (performance.now() < chordUntil && event.key in PLACES) {
    chordUntil = 0;
    event.preventDefault();
    location.assign(PLACES[event.key]);
  } else if (event.key === "g") {
    chordUntil = performance.now() + CHORD_MS;
  } else if (press(event.key)) {
    event.preventDefault();
  }
});

const toggle = list.querySelector("[data-keys-switch]");

function label() {
  toggle.textContent = isOff() ? toggle.dataset.on : toggle.dataset.off;
}

toggle.addEventListener("click", () => {
  try {
    localStorage.setItem(SETTING, isOff() ? "on" : "off");
  } catch {
    return; // not remembered where storage is forbidden
  }
  label();
});
for (const opener of document.querySelectorAll("[data-keys-open]")) {
  opener.hidden = false;
  opener.addEventListener("click", () => list.showModal());
}
label();
