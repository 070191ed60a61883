// What a reader has under the eyes stays there while the server's new words take their place.

const VOLATILE = "time, [data-since], input[name=idempotency_key]";

// The markup without what differs at each look: ages are counted here, keys are made anew, and what
// is folded open was opened here.
function bare(node) {
  const copy = node.cloneNode(true);
  for (const one of copy.querySelectorAll(VOLATILE)) {
    one.textContent = "";
    one.removeAttribute("value");
  }
  for (const one of copy.querySelectorAll("details")) {
    one.open = false;
  }
  return copy.innerHTML;
}

export function alike(old, fresh) {
  return old.innerHTML === fresh.innerHTML || bare(old) === bare(fresh);
}

// Issues that are as before go over as they stand, with the form that is open in them.
export function keepAlike(old, fresh) {
  for (const item of fresh.querySelectorAll(".issue[id]")) {
    const known = old.querySelector(`#${CSS.escape(item.id)}`);
    if (known && known.className === item.className && bare(known) === bare(item)) {
      item.replaceWith(known);
    }
  }
}

// Call it before parts of `page` are replaced; what it returns scrolls back to what was seen: to
// where the focus is, else to the first on the screen that is still there.
export function heldPlace(page) {
  if (window.scrollY === 0) {
    return () => {};
  }
  const top = (one) => one.getBoundingClientRect().top;
  const seen = [document.activeElement, ...page.querySelectorAll("[id]")]
    .filter((one) => one?.id && one.getClientRects().length)
    .map((one) => [one.id, top(one)])
    .filter(([, at]) => at >= 0 && at < window.innerHeight);
  return () => {
    for (const [id, before] of seen) {
      const again = document.getElementById(id);
      if (again?.getClientRects().length) {
        window.scrollBy({ top: top(again) - before, behavior: "instant" });
        return;
      }
    }
  };
}
