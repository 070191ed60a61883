// What a reader has under the eyes stays there while the server's new words take their place.

const VOLATILE = "time, [data-since], input[name=idempotency_key]";

// The markup without what differs at each look: ages are counted here, keys are made anew.
function bare(node) {
  const copy = node.cloneNode(true);
  for (const one of copy.querySelectorAll(VOLATILE)) {
    one.textContent = "";
    one.removeAttribute("value");
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

// Call it before parts of `page` are replaced; what it returns scrolls back to what was at the top.
export function heldPlace(page) {
  const top = (one) => one.getBoundingClientRect().top;
  const first =
    window.scrollY > 0 &&
    [...page.querySelectorAll("[id]")].find(
      (one) => one.getClientRects().length && top(one) >= 0 && top(one) < window.innerHeight,
    );
  if (!first) {
    return () => {};
  }
  const { id } = first;
  const before = top(first);
  return () => {
    const again = document.getElementById(id);
    if (again?.getClientRects().length) {
      window.scrollBy({ top: top(again) - before, behavior: "instant" });
    }
  };
}
