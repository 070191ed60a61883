// The page of a run, live: events say that something changed, the server renders what.
// Only the model's text is added here, at the offsets that come with it.

import { follow } from "./stream.js";
import { tick } from "./times.js";

const page = document.querySelector("[data-run]");
const run = page.dataset.run;
const lamp = document.querySelector("[data-connection]");
const announced = document.querySelector("[data-announce]");
const EVERY_MS = 700;
const AGAIN_MS = 3000;

const texts = new Map(); // call -> code points, the unit in which offsets count
let seq = Number(page.dataset.seq);
let state = "off";
let busy = false;
let again = false;
let timer = 0;

function say(word) {
  state = word;
  lamp.dataset.state = word;
  lamp.textContent = page.dataset[`say${word[0].toUpperCase()}${word.slice(1)}`] || "";
}

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
  const head = fresh.querySelector("[data-title]");
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
    }
  }
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  old.replaceWith(fresh);
  if (fresh.dataset.region !== "actions") {
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
  if (focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
  adopt(fresh);
}

// -- live text ----------------------------------------------------------------------------

function adopt(root) {
  for (const box of root.querySelectorAll("[data-call]")) {
    const known = texts.get(box.dataset.call) || [];
    const shown = [...box.textContent];
    if (known.length > shown.length) {
      box.textContent = known.join("");
    } else {
      texts.set(box.dataset.call, shown);
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
  }
}

// -- the stream ---------------------------------------------------------------------------

const stream = follow(
  run,
  (frame) => {
    if (frame.type === "partial") {
      append(frame);
      return;
    }
    seq = frame.type === "reset" ? frame.event_seq : Math.max(seq, frame.seq || 0);
    refreshSoon();
  },
  (word) => {
    const caughtUp = word === "live" && state === "lost";
    say(word);
    if (caughtUp) {
      refreshSoon(0);
    }
  },
);

function look() {
  if (document.hidden) {
    stream.close();
    return;
  }
  stream.open(seq);
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
adopt(page);
if (page.dataset.final !== "yes") {
  look();
}
