// The page of a run, live: events say that something changed, the server renders what.
// Only the model's text is added here, at the offsets that come with it.

import { connection } from "./connection.js";
import { follow } from "./stream.js";
import { tick } from "./times.js";

const page = document.querySelector("[data-run]");
const run = page.dataset.run;
const announced = document.querySelector("[data-announce]");
const link = connection(
  page,
  document.querySelector("[data-connection]"),
  document.querySelector("[data-lostbar]"),
);
const EVERY_MS = 700;
const AGAIN_MS = 2000;
const QUIET_MS = 20000;
const SLEPT_MS = 10000;

const texts = new Map(); // call -> code points, the unit in which offsets count
let seq = Number(page.dataset.seq);
let shown = seq; // the event up to which the page was rendered
let heardAt = Date.now();
let busy = false;
let again = false;
let timer = 0;

// -- what the server renders ---------------------------------------------------------------

function refreshSoon(delay = EVERY_MS) {
  again = true;
  if (!timer && !busy) {
    timer = setTimeout(refresh, delay);
  }
}

// Names the costly regions that are here already, so that the server leaves them empty.
function address() {
  const asked = new URLSearchParams({ regions: "1" });
  for (const name of ["text", "changes", "sources"]) {
    const region = page.querySelector(`[data-region="${name}"]`);
    asked.append("have", `${name} ${region.dataset.version}`);
  }
  return `/runs/${run}?${asked}`;
}

async function refresh() {
  timer = 0;
  busy = true;
  again = false;
  let delay = EVERY_MS;
  try {
    const answer = await fetch(address(), { headers: { Accept: "text/html" } });
    if (answer.status === 404) {
      location.reload(); // deleted: the page that says so
      return;
    }
    if (!answer.ok) {
      throw new Error(`status ${answer.status}`);
    }
    put(new DOMParser().parseFromString(await answer.text(), "text/html"));
    link.fresh();
  } catch {
    again = true;
    delay = AGAIN_MS;
  }
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
  for (const region of fresh.querySelectorAll("[data-region]")) {
    const old = page.querySelector(`[data-region="${region.dataset.region}"]`);
    const same =
      region.dataset.version === undefined
        ? old.innerHTML === region.innerHTML
        : old.dataset.version === region.dataset.version;
    if (!same) {
      replace(old, region);
    }
  }
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
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const marked = [focused?.selectionStart, focused?.selectionEnd];
  const used = [...old.querySelectorAll("details[open] [id]")].map((field) => field.id);
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
  if (focused?.id) {
    const field = document.getElementById(focused.id);
    field?.focus({ preventScroll: true });
    if (Number.isInteger(marked[0])) {
      field?.setSelectionRange?.(...marked);
    }
  }
  adopt(fresh);
}

// -- live text ----------------------------------------------------------------------------

function adopt(root) {
  for (const box of root.querySelectorAll("[data-call]")) {
    const known = texts.get(box.dataset.call) || [];
    const written = [...box.textContent];
    if (known.length > written.length) {
      box.textContent = known.join("");
    } else {
      texts.set(box.dataset.call, written);
    }
    box.scrollTop = box.scrollHeight;
  }
}

function append({ call_id: call, offset, text }) {
  const known = texts.get(call) || [];
  const more = [...text].slice(known.length - offset);
  if (offset > known.length || !more.length) {
    return; // a gap is filled by the next frame, which begins at 0 after a reconnect
  }
  texts.set(call, [...known, ...more]);
  const box = page.querySelector(`[data-call="${call}"]`);
  if (!box) {
    refreshSoon(0);
    return;
  }
  const follows = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
  box.append(more.join(""));
  if (follows) {
    box.scrollTop = box.scrollHeight;
  } else {
    offerNewest(box);
  }
}

// The reader scrolled up: the text stays where it is, and a button leads to its end.
function offerNewest(box) {
  if (box.nextElementSibling?.matches(".newest")) {
    return;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "newest";
  button.textContent = page.dataset.sayNewest;
  button.addEventListener("click", () => {
    box.scrollTop = box.scrollHeight;
    box.focus({ preventScroll: true });
    button.remove();
  });
  box.after(button);
}

// -- the stream ---------------------------------------------------------------------------

const stream = follow(
  run,
  (frame) => {
    heardAt = Date.now();
    if (link.state === "quiet") {
      link.live(seq);
    }
    if (frame.type === "partial") {
      append(frame);
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

// A second that took much longer was a sleep: the old connection may be dead without knowing it.
let beatAt = Date.now();
setInterval(() => {
  const now = Date.now();
  const slept = now - beatAt > SLEPT_MS;
  beatAt = now;
  if (document.hidden || link.state === "final") {
    return;
  }
  if (slept) {
    stream.close();
    look();
    refreshSoon(0);
  } else if (link.state === "lost") {
    link.lost(shown);
  } else if (now - heardAt > QUIET_MS && ["live", "quiet"].includes(link.state)) {
    link.quiet(Math.round((now - heardAt) / 1000));
    if (Math.round((now - heardAt) / 1000) % 20 === 0) {
      refreshSoon(0);
    }
  }
}, 1000);

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
adopt(page);
if (page.dataset.final !== "yes") {
  look();
}
