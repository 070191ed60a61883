// Words that are marked in the text can be commented on or locked.

export function selections(page, plain, chosen) {
  const tools = document.createElement("div");
  const button = document.createElement("button");
  tools.className = "select-tools";
  tools.hidden = true;
  button.type = "button";
  button.className = "small-button";
  tools.append(button);
  page.append(tools);
  let choice = null;

  function find() {
    const selection = document.getSelection();
    if (!selection || selection.isCollapsed || !selection.rangeCount) {
      return null;
    }
    const range = selection.getRangeAt(0);
    const start = place(range.startContainer);
    const end = place(range.endContainer);
    const passage = start?.closest(".passage");
    if (!passage || end?.closest(".passage") !== passage || !passage.querySelector(".pin")) {
      return null; // one passage at a time: what is quoted must stand in one piece
    }
    const box = document.createElement("div");
    box.append(range.cloneContents());
    const lines = [...box.querySelectorAll(".line")];
    const words = (lines.length ? lines.map(plain).join("\n") : plain(box)).trim();
    return words ? { passage, words, box: range.getBoundingClientRect() } : null;
  }

  function place(node) {
    const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    return element?.closest("[data-quote]");
  }

  document.addEventListener("selectionchange", () => {
    choice = find();
    tools.hidden = !choice;
    if (choice) {
      button.textContent = choice.passage.querySelector(".pin").title;
      const host = page.getBoundingClientRect();
      tools.style.left = `${Math.max(0, choice.box.left - host.left)}px`;
      tools.style.top = `${choice.box.bottom - host.top + 6}px`;
    }
  });
  tools.addEventListener("mousedown", (event) => event.preventDefault()); // the marking stays
  button.addEventListener("click", () => {
    if (choice) {
      chosen(choice.passage, choice.words);
      document.getSelection().removeAllRanges();
    }
  });
}
