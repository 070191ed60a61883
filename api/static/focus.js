// Where the focus is in a part of the page, so that what takes that part's place gets it again:
// whoever works by keys, or hears the page read, must not be thrown back to its beginning.

const STOPS = "a[href], button, input, select, textarea, summary, audio, [tabindex]";

function named(stop) {
  const words = stop.textContent.trim().replace(/\d+/g, ""); // "12 events" may be 13 by now
  const what = stop.name || stop.dataset.call || stop.getAttribute("href") || words;
  return [stop.localName, what, stop.matches("button") ? stop.value : ""].join(" ");
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
  return (fresh) => {
    const alike = [...fresh.querySelectorAll(STOPS)].filter((one) => named(one) === name);
    const found = (id && document.getElementById(id)) || alike[place] || alike[0];
    if (found && found.getClientRects().length) {
      found.focus({ preventScroll: true });
      if (Number.isInteger(start)) {
        found.setSelectionRange?.(start, end);
      }
      return;
    }
    // It is gone: the next Tab goes on from where it was.
    fresh.tabIndex = -1;
    fresh.focus({ preventScroll: true });
  };
}
