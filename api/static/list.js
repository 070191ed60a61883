// Lists, kept fresh while somebody looks at them: rows that are here already change in place, new
// ones are only counted until the reader asks for them, and what is ticked stays ticked.

import { away } from "./away.js";
import { heldFocus } from "./focus.js";
import { renewed } from "./renewed.js";
import { tick } from "./times.js";

const EVERY_MS = 3000;
const known = away();
let busy = false;
const list = document.querySelector("[data-list]");
const picks = document.querySelector("[data-picks]");

async function refresh() {
  if (document.hidden || busy) {
    return; // an answer at a time: an older one never comes behind a newer one
  }
  busy = true;
  await look().finally(() => {
    busy = false;
  });
}

async function look() {
  const answer = await known.ask(location.href, { headers: { Accept: "text/html" } });
  if (!answer?.headers.get("content-type")?.startsWith("text/html")) {
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (renewed(fresh)) {
    return;
  }
  putRegions(fresh);
  if (list && answer.ok) {
    putRows(fresh);
  }
  tick();
}

function putRegions(fresh) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const region = fresh.getElementById(old.id);
    if (region && old.innerHTML !== region.innerHTML) {
      swap(old, region);
    }
  }
}

function swap(old, fresh) {
  const refocus = heldFocus(old);
  old.replaceWith(fresh);
  refocus(fresh);
}

function putRows(fresh) {
  const rows = [...fresh.querySelectorAll("[data-list] tbody tr")];
  const known = new Map([...list.querySelectorAll("tbody tr")].map((row) => [row.id, row]));
  const first = rows.findIndex((row) => known.has(row.id));
  for (const row of rows) {
    const old = known.get(row.id);
    if (old && old.innerHTML !== row.innerHTML) {
      const box = row.querySelector("[type=checkbox]");
      box.checked = old.querySelector("[type=checkbox]").checked;
      swap(old, row);
    }
  }
  const newer = first < 0 ? rows.length : first;
  const note = document.querySelector("[data-newer]");
  note.hidden = newer === 0;
  note.querySelector("span").textContent = first < 0 ? `${newer}+` : String(newer);
  count();
}

function count() {
  const boxes = [...list.querySelectorAll("tbody [type=checkbox]")];
  const chosen = boxes.filter((box) => box.checked);
  const ticked = chosen.length;
  let offered = false;
  for (const button of picks.querySelectorAll("[name=action]")) {
    button.hidden = !chosen.some((box) => box.dataset.moves.split(" ").includes(button.value));
    offered ||= !button.hidden;
  }
  picks.querySelector("[data-unmoved]").hidden = offered;
  picks.classList.toggle("idle", ticked === 0);
  picks.querySelector("[data-picked-count]").textContent = String(ticked);
  const all = list.querySelector("[data-pick-all]");
  all.checked = ticked > 0 && ticked === boxes.length;
  all.indeterminate = ticked > 0 && ticked < boxes.length;
}

if (picks) {
  list.querySelector(".pick-all").hidden = false;
  picks.addEventListener("change", (event) => {
    if (event.target.matches("[data-pick-all]")) {
      for (const box of list.querySelectorAll("tbody [type=checkbox]")) {
        box.checked = event.target.checked;
      }
    }
    count();
  });
  window.addEventListener("pageshow", count);
  count();
}

setInterval(() => refresh().catch(() => undefined), EVERY_MS);
document.addEventListener("visibilitychange", () => refresh().catch(() => undefined));
window.addEventListener("pageshow", (event) => {
  if (event.persisted) {
    refresh().catch(() => undefined); // as it was when it was left
  }
});
