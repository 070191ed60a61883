// Ticks of the changes that were looked at. They are kept in this browser by the contents of the
// change: they outlive a reload and one more round, and are gone as soon as the change is another.

const MOST = 2000;
const KEY = "redraft-viewed";

function read() {
  try {
    return new Set(JSON.parse(localStorage.getItem(KEY)) || []);
  } catch {
    return new Set(); // storage is forbidden here: ticks last as long as the page
  }
}

export function viewed(page) {
  let kept = read();

  function show() {
    const boxes = [...page.querySelectorAll("[data-viewed]")];
    for (const box of boxes) {
      box.checked = kept.has(box.dataset.viewed);
      box.closest(".viewed").hidden = false;
      box.closest(".passage").classList.toggle("is-viewed", box.checked);
    }
    const count = page.querySelector("[data-viewed-count]");
    if (count) {
      const done = boxes.filter((box) => box.checked).length;
      count.textContent = count.dataset.say.replace("{count}", done).replace("{all}", boxes.length);
      count.hidden = !boxes.length;
    }
  }

  function keep(box) {
    kept = read(); // another tab may have ticked since
    kept.delete(box.dataset.viewed);
    if (box.checked) {
      kept.add(box.dataset.viewed);
    }
    try {
      localStorage.setItem(KEY, JSON.stringify([...kept].slice(-MOST)));
    } catch {
      // not remembered where storage is forbidden
    }
    show();
  }

  page.addEventListener("change", (event) => {
    if (event.target.matches("[data-viewed]")) {
      keep(event.target);
    }
  });
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) {
      kept = read();
      show();
    }
  });
  show();
  return { show };
}
