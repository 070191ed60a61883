// Forms: a second click does nothing, and typed text is not left behind by accident.
// The server makes the key that makes sending twice harmless; this only keeps the page calm.

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

// A refusal is where the eye and the screen reader should be.
const refusal = document.getElementById("refused");
const wrong = document.querySelector("[aria-invalid='true']");
if (wrong) {
  wrong.focus();
} else if (refusal) {
  refusal.scrollIntoView({ block: "nearest" });
}
