// The keys of the review and the sound of its evidence. No key decides anything by itself.

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
      }
    } else if (!command && !event.altKey && !writing(event.target)) {
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
        play(audio, Number(hear.dataset.at));
      }
    }
  });
}

function writing(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
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
  }
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

function play(audio, at) {
  if (audio.readyState > 0) {
    audio.currentTime = at;
  } else {
    audio.addEventListener("loadedmetadata", () => { audio.currentTime = at; }, { once: true });
    audio.load();
  }
  audio.play().catch(() => {}); // its own controls say what is wrong
}
