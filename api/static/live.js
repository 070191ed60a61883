// The page of a run, live: events say that something changed, the server renders what.
// Only the model's text is added here, at the offsets that come with it.

import { connection } from "./connection.js";
import { followLiveText, heldFocus } from "./focus.js";
import { alike, heldPlace, keepAlike } from "./kept.js";
import { liveText } from "./live_text.js";
import { renewed } from "./renewed.js";
import { follow } from "./stream.js";
import { tick } from "./times.js";
import { afterSleep } from "./wake.js";

const page = document.querySelector("[data-run]");
const run = page.dataset.run;
const announced = document.querySelector("[data-announce]");
const link = connection(
  page,
  document.querySelector("[data-connection]"),
  document.querySelector("[data-lostbar]"),
);
const EVERY_MS = 250;
const AGAIN_MS = 2000;
const QUIET_MS = 20000;
const SILENT_MS = 3000; // after a question that the server has not answered
const PATIENCE_MS = 10000;

const written = liveText(page);
let seq = Number(page.dataset.seq);
let shown = seq; // the event up to which the page was rendered
let heardAt = Date.now();
let answeredAt = heardAt;
let asking = null; // ends a question to the server
let tag = null; // of the answer that is shown: the server says when it would be the same
let begunAt = 0;
let busy = false;
let again = false;
let timer = 0;

// -- what the server renders ---------------------------------------------------------------

// At once after a calm, and then not more often than every so many milliseconds.
function refreshSoon(delay = Math.max(0, begunAt + EVERY_MS - Date.now())) {
  again = true;
  if (!timer && !busy) {
    timer = setTimeout(refresh, delay);
  }
}

// Names the costly regions that are here already, so that the server leaves them empty.
function address() {
  const asked = new URLSearchParams({ regions: "1" });
  for (const name of ["text", "changes", "sources", "issues"]) {
    const region = page.querySelector(`[data-region="${name}"]`);
    asked.append("have", `${name} ${region.dataset.version}`);
  }
  return `/runs/${run}?${asked}`;
}

async function refresh() {
  timer = 0;
  busy = true;
  again = false;
  begunAt = Date.now();
  let delay;
  asking = new AbortController();
  const patience = setTimeout(() => asking.abort(), PATIENCE_MS);
  try {
    const headers = { Accept: "text/html", ...(tag && { "If-None-Match": tag }) };
    const answer = await fetch(address(), { headers, signal: asking.signal });
    if (answer.status === 404) {
      location.reload(); // deleted: the page that says so
      return;
    }
    if (!answer.ok && answer.status !== 304) {
      throw new Error(`status ${answer.status}`);
    }
    const fresh = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
    answeredAt = Date.now();
    link.fresh();
    if (fresh && !renewed(fresh)) {
      put(fresh);
      tag = answer.headers.get("ETag");
    }
    if (answeredAt - heardAt > QUIET_MS && shown > seq) {
      look(); // the server knows more than the stream told: its connection is dead without saying so
    }
  } catch {
    again = true;
    delay = AGAIN_MS;
  }
  clearTimeout(patience);
  busy = false;
  if (again) {
    refreshSoon(delay);
  }
}

function put(fresh) {
  const head = fresh.querySelector("[data-title]");
  const at = Number(head.dataset.at);
  if (at < shown) {
    refreshSoon(); // an answer that was overtaken: what is shown is newer
    return;
  }
  shown = at;
  const changed = [...fresh.querySelectorAll("[data-region]")]
    .map((region) => [page.querySelector(`[data-region="${region.dataset.region}"]`), region])
    .filter(([old, region]) =>
      region.dataset.version === undefined
        ? !alike(old, region)
        : old.dataset.version !== region.dataset.version,
    );
  const scrollBack = heldPlace(page);
  const notices = document.getElementById("notices");
  const said = fresh.getElementById("notices");
  if (said && !alike(notices, said)) {
    replace(notices, said); // a worker that is gone, or is there again, is no event of the run
  }
  for (const [old, region] of changed) {
    replace(old, region);
  }
  followLiveText();
  scrollBack();
  document.title = head.dataset.title;
  if (announced.textContent !== head.dataset.say) {
    announced.textContent = head.dataset.say;
  }
  tick(page);
}

function replace(old, fresh) {
  const open = new Map();
  old.querySelectorAll("details").forEach((d, i) => open.set(d.id || i, d.open));
  const scrolls = [...old.querySelectorAll(".scroll, .diff, .source")].map((s) => s.scrollLeft);
  const typed = new Map();
  for (const field of old.querySelectorAll("input[id], textarea[id]")) {
    if (field.value !== field.defaultValue) {
      typed.set(field.id, field.value);
      const base = old.querySelector(`#${CSS.escape(field.id)}-base`);
      if (base) {
        typed.set(base.id, base.value); // what was typed was typed over that revision
      }
    }
  }
  const refocus = heldFocus(old);
  const read = written.places(old);
  const used = [...old.querySelectorAll("details[open] [id]")].map((field) => field.id);
  keepAlike(old, fresh);
  old.replaceWith(fresh);
  if (fresh.dataset.region === "actions") {
    // Other moves may be offered now: what was open is known by its fields, not by its place.
    for (const id of used) {
      const details = fresh.querySelector(`#${CSS.escape(id)}`)?.closest("details");
      if (details) {
        details.open = true;
      }
    }
  } else {
    fresh.querySelectorAll("details").forEach((d, i) => {
      d.open = open.get(d.id || i) ?? d.open;
    });
  }
  fresh.querySelectorAll(".scroll, .diff, .source").forEach((s, i) => {
    s.scrollLeft = scrolls[i] || 0;
  });
  for (const [id, value] of typed) {
    const field = fresh.querySelector(`#${CSS.escape(id)}`);
    if (field) {
      field.value = value;
    }
  }
  written.adopt(fresh, read);
  refocus(fresh);
}

// -- the stream ---------------------------------------------------------------------------

const stream = follow(
  run,
  (frame) => {
    heardAt = Date.now();
    if (["quiet", "silent"].includes(link.state)) {
      link.live(seq);
    }
    if (frame.type === "partial") {
      if (!written.append(frame)) {
        refreshSoon(0); // of a call that is not on the page yet
      }
      return;
    }
    if (frame.type === "reset") {
      seq = frame.event_seq;
      shown = 0; // the database was restored: what it says now counts
    } else {
      seq = Math.max(seq, frame.seq || 0);
    }
    refreshSoon();
  },
  (word) => {
    heardAt = Date.now();
    if (word === "final") {
      link.final();
      refreshSoon(0);
    } else if (word === "lost") {
      link.lost(shown);
    } else if (link.state !== "live") {
      recover();
    }
  },
);

// Connected, or again: what was missed is fetched first, then said.
async function recover() {
  clearTimeout(timer);
  timer = 0;
  if (!busy) {
    await refresh();
  }
  if (page.dataset.final !== "yes" && link.state !== "final") {
    link.live(shown);
  }
}

function look() {
  if (document.hidden) {
    stream.close();
    return;
  }
  heardAt = Date.now();
  stream.open(seq);
}

afterSleep(() => {
  if (link.state !== "final") {
    asking?.abort();
    stream.close();
    look();
    refreshSoon(0);
  }
});

setInterval(() => {
  const now = Date.now();
  if (document.hidden) {
    return;
  }
  if (["lost", "offline"].includes(link.state)) {
    link.lost(shown);
  } else if (now - heardAt > QUIET_MS && ["live", "quiet", "silent"].includes(link.state)) {
    hush(now);
  }
}, 1000);

// No frame for a while: is it the run that is silent, or the server?
function hush(now) {
  const known = Math.max(heardAt, answeredAt);
  if (now - known > QUIET_MS + SILENT_MS) {
    link.silent(Math.round((now - known) / 1000));
  } else if (answeredAt > heardAt) {
    link.quiet(Math.round((now - heardAt) / 1000));
  }
  if (now - known > QUIET_MS && !busy) {
    refreshSoon(0);
  }
}

document.addEventListener("visibilitychange", () => {
  look();
  if (!document.hidden) {
    refreshSoon(0);
  }
});
window.addEventListener("pagehide", () => stream.close());
window.addEventListener("pageshow", (event) => {
  if (event.persisted) {
    look();
    refreshSoon(0);
  }
});
written.adopt(page);
if (page.dataset.final !== "yes") {
  look();
}
