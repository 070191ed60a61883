// The review, live: each button sends the whole form as it would without this, and the parts of the
// page that changed are put in place. What is typed is kept as a draft every two seconds.

import { away } from "./away.js";
import { heldFocus } from "./focus.js";
import { renewed } from "./renewed.js";
import { autosave } from "./review_draft.js";
import { keys } from "./review_keys.js";
import { selections } from "./review_select.js";
import { viewed } from "./review_viewed.js";
import { follow } from "./stream.js";
import { tick } from "./times.js";
import { afterSleep } from "./wake.js";

const page = document.querySelector("[data-review]");
const form = document.getElementById("review");
const announced = document.querySelector("[data-announce]");
const DECISIONS = new Set(["confirm", "confirm-mine", "rework", "reject"]);
const MOVES = /^(run_|revision_created|issue_|round_finished|source_added|lock_removed)/;
const NEAR_MS = [10 * 60e3, 2 * 60e3];
const LONGEST_TIMER = 2 ** 31 - 1;

const AGAIN_MS = 3000;

const draft = autosave(page, form);
const ticks = viewed(page);
const known = away();
let busy = false;
let again = false;
let sending = false;
let missed = false; // an answer was left aside because of a button
let puts = 0;

// -- what the server renders ---------------------------------------------------------------

function put(fresh, { typed }) {
  const seq = Number(fresh.querySelector("[data-review]").dataset.seq);
  if (seq < Number(page.dataset.seq)) {
    return; // an answer that was overtaken: what is shown is newer
  }
  page.dataset.seq = seq;
  puts += 1;
  for (const region of fresh.querySelectorAll("[data-region]")) {
    const old = page.querySelector(`[data-region="${region.dataset.region}"]`);
    if (old && old.innerHTML !== region.innerHTML) {
      replace(old, region, typed);
    }
  }
  draft.adopt();
  ticks.show();
  tick(page);
  watchDeadline();
}

// Open details, the focus and text typed since `typed` was taken stay.
function replace(old, fresh, typed) {
  const open = new Set([...old.querySelectorAll("details[open][id]")].map((d) => d.id));
  const now = values(old);
  const refocus = heldFocus(old);
  const panel = old.querySelector("[data-write]");
  const host = panel?.closest(".passage")?.id;
  old.replaceWith(fresh);
  if (panel?.querySelector("[name=say]").value.trim() && !fresh.querySelector("[data-write]")) {
    // What is being typed stays, though the passage may be another one now.
    (document.getElementById(host)?.querySelector(".beside") || fresh).append(panel);
  }
  for (const id of open) {
    const details = document.getElementById(id);
    if (details) {
      details.open = true;
    }
  }
  for (const [id, value] of now) {
    const field = document.getElementById(id);
    if (field && value !== typed.get(id)) {
      field.value = value;
    }
  }
  refocus(fresh);
}

function values(root) {
  const fields = root.querySelectorAll("textarea[id], input[id]:not([type=hidden])");
  return new Map([...fields].map((field) => [field.id, field.value]));
}

// What the fields showed when the page came: a field that still shows it takes what is new.
function shown() {
  const fields = page.querySelectorAll("textarea[id], input[id]:not([type=hidden])");
  return new Map([...fields].map((field) => [field.id, field.defaultValue]));
}

function parsed(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

async function refresh() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  missed = false;
  const [typed, before] = [shown(), puts];
  try {
    const answer = await known.ask(location.href, { headers: { Accept: "text/html" } });
    const fresh = answer?.ok && parsed(await answer.text());
    if (answer?.status === 404) {
      location.reload(); // deleted: the page that says so
    } else if (!answer) {
      setTimeout(refresh, AGAIN_MS);
    } else if (sending || puts > before) {
      missed = true; // the button's own answer is newer
    } else if (fresh && !renewed(fresh)) {
      put(fresh, { typed });
    }
  } finally {
    busy = false;
  }
  if (again || (missed && !sending)) {
    again = false;
    await refresh();
  }
}

// -- the buttons -----------------------------------------------------------------------------

form.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button || form.dataset.sent) {
    return;
  }
  const verb = button.value.split(":")[0];
  event.preventDefault();
  event.stopPropagation(); // forms.js takes what leaves the page
  if (sending) {
    return; // a second click is part of the first
  }
  const closes = button.hasAttribute("data-close") && button.closest("[data-pending]");
  if (verb === "at" && button.matches(".pin, [data-close]") && !closes) {
    write(button);
  } else if (DECISIONS.has(verb)) {
    leave(button);
  } else {
    sending = true;
    send(button, verb).catch(() => setTimeout(native, 0, button)).finally(() => {
      sending = false;
      if (missed) {
        refresh();
      }
    });
  }
});

async function leave(button) {
  sending = true;
  await draft.settle();
  setTimeout(native, 0, button); // not inside the event: a form does not submit itself there
}

function native(button) {
  form.dataset.sent = "yes";
  for (const field of form.querySelectorAll("textarea")) {
    field.defaultValue = field.value; // it leaves with the form
  }
  form.requestSubmit(button);
}

window.addEventListener("pageshow", () => {
  delete form.dataset.sent;
  sending = false;
});

async function send(button, verb) {
  await draft.settle();
  const fields = new FormData(form, button);
  const typed = values(page);
  const answer = await fetch(form.action, {
    method: "POST",
    body: fields,
    headers: { Accept: "text/html" },
  });
  const fresh = parsed(await answer.text());
  if (!fresh.querySelector("[data-review]")) {
    throw new Error(`status ${answer.status}`);
  }
  for (const panel of page.querySelectorAll("[data-write]")) {
    panel.remove(); // the server renders it again where it was refused
  }
  put(fresh, { typed });
  if (answer.redirected) {
    history.replaceState(null, "", answer.url);
  }
  const passage = button.value.split(":")[1]?.split(".")[0];
  const target =
    page.querySelector("#refused, [aria-invalid=true]") ||
    (verb === "preview" && document.getElementById("sheet")) ||
    (passage && document.querySelector(`#p${CSS.escape(passage)} .beside button`));
  target?.scrollIntoView({ block: "nearest" });
  target?.focus?.({ preventScroll: true });
}

// The panel for a comment or a lock, beside its passage.
function write(button, quote) {
  const passage = button.closest(".passage");
  const open = page.querySelector("[data-write]");
  const same = open && open.closest(".passage") === passage && !quote;
  if (button.hasAttribute("data-close") || same) {
    open.remove();
    passage?.querySelector(".pin")?.focus();
    return;
  }
  if (open?.querySelector("[name=say]").value.trim()) {
    form.requestSubmit(open.querySelector("button[value^=comment]")); // it is added, not lost
    return;
  }
  open?.remove();
  const panel = document.getElementById("write-template").content.cloneNode(true);
  const number = passage.id.slice(1);
  panel.querySelector("[name=quote]").value = quote || ""; // none: the whole passage
  panel.querySelector(".write-quote").hidden = !quote;
  panel.querySelector(".write-quote bdi").textContent = (quote || "").slice(0, 160);
  panel.querySelector("[name=say_at]").value = number;
  panel.querySelector("[name=say]").id = `say-${number}`; // as the server names it
  panel.querySelector("label").htmlFor = `say-${number}`;
  for (const act of panel.querySelectorAll("button:not([data-close])")) {
    act.value += number;
  }
  passage.querySelector(".beside").append(panel);
  const written = passage.querySelector("[data-write]");
  written.querySelector("[name=say]").focus();
  written.scrollIntoView({ block: "nearest" }); // its buttons too
}

function plain(node) {
  const copy = node.cloneNode(true);
  for (const out of copy.querySelectorAll("del, .hidden")) {
    out.remove();
  }
  return copy.textContent;
}

selections(page, plain, (passage, quote) => write(passage.querySelector(".pin"), quote));

keys(page, draft);

// -- time and what others do ------------------------------------------------------------------

let timers = [];
function watchDeadline() {
  timers.forEach(clearTimeout);
  const due = page.querySelector("[data-due]");
  const left = due ? Date.parse(due.dataset.due) - Date.now() : 0;
  timers = NEAR_MS.filter((near) => left > near && left - near < LONGEST_TIMER).map((near) =>
    setTimeout(() => { announced.textContent = page.dataset.sayNear; }, left - near),
  );
}

const stream = follow(
  page.dataset.review,
  (frame) => {
    if (MOVES.test(frame.type)) {
      if (frame.type.startsWith("run_")) {
        announced.textContent = page.dataset.sayMoved;
      }
      refresh();
    }
  },
  (word) => {
    if (word === "lost") {
      refresh(); // says so if the server is away, and asks until it is back
    }
  },
);
stream.open(Number(page.dataset.seq));
afterSleep(() => {
  stream.close();
  stream.open(Number(page.dataset.seq));
  refresh();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    stream.close();
  } else {
    stream.open(Number(page.dataset.seq));
    refresh();
  }
});
watchDeadline();
