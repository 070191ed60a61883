// Where the focus is in a part of the page, so that what takes that part's place gets it again:
// whoever works by keys, or hears the page read, must not be thrown back to its beginning.

const STOPS = "a[href], button, input, select, textarea, summary, audio, [tabindex]";

let standIn = ""; // the id of what has the focus while no text is being written; the next one gets it

document.addEventListener("focusin", (event) => {
  standIn = event.target.id === standIn ? standIn : "";
});

// To the live text at this place among them, else to what says what the run does now.
export function toLiveText(place = 0) {
  const texts = document.querySelectorAll("[data-call]");
  const heading = ["output", "state-word"].map((id) => document.getElementById(id)).find(Boolean);
  const found = texts[Math.min(place, texts.length - 1)] || heading;
  found?.focus();
  standIn = found?.id || "";
}

// A text may have begun since its last one ended under the reader's hands.
export function followLiveText() {
  if (standIn && document.querySelector("[data-call]")) {
    toLiveText();
  }
}

function named(stop) {
  const words = stop.textContent.trim().replace(/\d+/g, ""); // "12 events" may be 13 by now
  const what = stop.name || stop.dataset.call || stop.getAttribute("href") || words;
  return [stop.localName, what, stop.matches("button") ? stop.value : ""].join(" ");
}

function give(found, start, end) {
  found.focus({ preventScroll: true });
  if (Number.isInteger(start)) {
    found.setSelectionRange?.(start, end);
  }
}

// Call it before `old` leaves the page; what it returns gives `fresh` the focus that `old` had.
export function heldFocus(old) {
  const held = old.contains(document.activeElement) ? document.activeElement : null;
  if (!held) {
    return () => {};
  }
  const { id, selectionStart: start, selectionEnd: end } = held;
  const name = named(held);
  const place = [...old.querySelectorAll(STOPS)].filter((one) => named(one) === name).indexOf(held);
  const among = [...document.querySelectorAll("[data-call]")].indexOf(held);
  const live = among >= 0 || (id && id === standIn);
  return (fresh) => {
    const alike = [...fresh.querySelectorAll(STOPS)].filter((one) => named(one) === name);
    const found = (id && document.getElementById(id)) || alike[place] || alike[0];
    if (found && found.getClientRects().length) {
      give(found, start, end);
    } else if (live) {
      toLiveText(Math.max(among, 0));
    } else {
      // It is gone: the next Tab goes on from where it was.
      fresh.tabIndex = -1;
      give(fresh);
    }
  };
}
