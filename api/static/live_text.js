// The model's text as it arrives, at the offsets that come with it. It is on the page already when the
// server renders it, and goes on from there; it follows its end unless the reader scrolled up.

export function liveText(page) {
  const texts = new Map(); // call -> code points, the unit in which offsets count

  function atEnd(box) {
    return box.scrollHeight - box.scrollTop - box.clientHeight < 40;
  }

  // Texts below `root` whose reader scrolled up, and to where.
  function places(root) {
    const boxes = [...root.querySelectorAll("[data-call]")].filter((box) => !atEnd(box));
    return new Map(boxes.map((box) => [box.dataset.call, box.scrollTop]));
  }

  // What the server rendered: it may be older or newer than what arrived.
  function adopt(root, read = new Map()) {
    for (const box of root.querySelectorAll("[data-call]")) {
      const known = texts.get(box.dataset.call) || [];
      const written = [...box.textContent];
      if (known.length > written.length) {
        box.textContent = known.join("");
      } else {
        texts.set(box.dataset.call, written);
      }
      box.scrollTop = read.get(box.dataset.call) ?? box.scrollHeight;
      if (!atEnd(box)) {
        offerNewest(box);
      }
    }
  }

  // False where the text has no place on the page yet.
  function append({ call_id: call, offset, text }) {
    const known = texts.get(call) || [];
    const more = [...text].slice(known.length - offset);
    if (offset > known.length || !more.length) {
      return true; // a gap is filled by the next frame, which begins at 0 after a reconnect
    }
    texts.set(call, [...known, ...more]);
    const box = page.querySelector(`[data-call="${call}"]`);
    if (!box) {
      return false;
    }
    const follows = atEnd(box);
    box.append(more.join(""));
    if (follows) {
      box.scrollTop = box.scrollHeight;
    } else {
      offerNewest(box);
    }
    return true;
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

  return { places, adopt, append };
}
