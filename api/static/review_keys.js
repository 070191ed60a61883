// The keys of the review and the sound of its evidence. No key decides anything by itself.

import { noShortcut } from "./keys.js";
import { playFrom } from "./play.js";

export function keys(page, draft) {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.repeat) {
      return;
    }
    const command = event.ctrlKey || event.metaKey;
    const confirm = document.getElementById("do-confirm");
    if (command && event.key === "s") {
      event.preventDefault();
      draft.settle();
    } else if (command && event.key === "Enter" && confirm) {
      confirm.open = true; // asks; only its button decides
      confirm.querySelector("button")?.focus();
    } else if (event.key === "Escape") {
      for (const sheet of page.querySelectorAll(".act-sheet[open]")) {
        sheet.open = false;
        if (sheet.contains(event.target)) {
          sheet.querySelector("summary").focus();
        }
      }
    } else if (!noShortcut(event)) {
      plainKey(page, event);
    }
  });

  page.addEventListener("click", (event) => {
    const hear = event.target.closest("[data-hear]");
    if (event.target.closest("[data-step]")) {
      event.preventDefault();
      step(page, 1);
    } else if (hear && !event.ctrlKey && !event.metaKey) {
      const audio = page.querySelector(`[data-player="${CSS.escape(hear.dataset.hear)}"] audio`);
      if (audio) {
        event.preventDefault();
        playFrom(audio, Number(hear.dataset.at));
      }
    }
  });
}

function plainKey(page, event) {
  if (event.key === "n" || event.key === "p") {
    step(page, event.key === "n" ? 1 : -1);
  } else if (event.key === "s") {
    page.querySelector('.views a:not([aria-current], [data-view="text"])')?.click();
  } else if (event.key === "e" && document.getElementById("edit")) {
    event.preventDefault();
    document.getElementById("edit").open = true;
    document.getElementById("edit-text").focus();
  } else if (event.key === "v") {
    here(page)?.querySelector("[data-viewed]")?.click();
  }
}

// The change that has the focus, or else is read: the one nearest to a third of the window's height.
function here(page) {
  const held = document.activeElement.closest("[data-change]");
  const gap = (change) => Math.abs(change.getBoundingClientRect().top - innerHeight / 3);
  const all = [...page.querySelectorAll("[data-change]")];
  return held || all.reduce((best, one) => (best && gap(best) <= gap(one) ? best : one), null);
}

// The next or previous change, seen from a third of the window's height.
function step(page, by) {
  const line = innerHeight / 3;
  const tops = [...page.querySelectorAll("[data-change]")].map((change) => ({
    change,
    top: change.getBoundingClientRect().top,
  }));
  const ahead = tops.filter(({ top }) => (by > 0 ? top > line + 3 : top < line - 3));
  const next = by > 0 ? ahead[0] : ahead[ahead.length - 1];
  if (next) {
    scrollTo({ top: scrollY + next.top - line });
    next.change.querySelector("button")?.focus({ preventScroll: true });
  }
}
