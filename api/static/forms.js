// Forms: a second click does nothing, and typed text is not left behind by accident.
// The server makes the key that makes sending twice harmless; this only keeps the page calm.

import { typed } from "./renewed.js";

const FRESH = "main [data-live], [data-run], [data-review]"; // their scripts ask for what is new
const sent = new WeakSet();

function changed(form) {
  return [...form.querySelectorAll("textarea")].some((t) => t.value !== t.defaultValue);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") {
    return;
  }
  if (sent.has(form)) {
    event.preventDefault();
    return;
  }
  sent.add(form);
  for (const button of form.querySelectorAll("button")) {
    // Not `disabled`: that would take the focus away from where the person is.
    button.setAttribute("aria-disabled", "true");
  }
});

window.addEventListener("pageshow", (event) => {
  if (!event.persisted) {
    return;
  }
  // As it was when it was left, and no script of its own asks what is new.
  if (!document.querySelector(FRESH) && !typed()) {
    location.reload();
    return;
  }
  // Back from the next page: sending again is now meant, so it needs a key of its own.
  for (const form of document.forms) {
    sent.delete(form);
    for (const button of form.querySelectorAll("button[aria-disabled]")) {
      button.removeAttribute("aria-disabled");
    }
    const key = form.elements.namedItem("idempotency_key");
    if (key && globalThis.crypto && crypto.randomUUID) {
      key.value = crypto.randomUUID();
    }
  }
});

window.addEventListener("beforeunload", (event) => {
  if ([...document.forms].some((form) => !sent.has(form) && changed(form))) {
    event.preventDefault();
  }
});

// What was chosen for a field for files is written beside it, in the words of the page.
function showChosen(input) {
  const said = input.parentElement.querySelector("[data-chosen]");
  if (said) {
    const [first] = input.files;
    const several = said.dataset.several.replace("{count}", input.files.length);
    said.textContent = input.files.length > 1 ? several : first?.name ?? said.dataset.none;
  }
}

document.addEventListener("change", (event) => {
  if (event.target.matches("input[type=file]")) {
    showChosen(event.target);
  }
});
window.addEventListener("pageshow", () => {
  document.querySelectorAll("input[type=file]").forEach(showChosen); // a browser may keep them
});

// A refusal is where the eye and the screen reader should be.
const refusal = document.getElementById("refused");
const wrong = document.querySelector("[aria-invalid='true']");
if (wrong) {
  wrong.focus();
} else if (refusal) {
  refusal.scrollIntoView({ block: "nearest" });
}
