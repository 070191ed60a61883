// The list of runs, kept fresh: asked again every few seconds while somebody looks at it.

const EVERY_MS = 5000;
const list = document.querySelector("[data-list]");

async function refresh() {
  if (document.hidden || !list) {
    return;
  }
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) {
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const rows = fresh.querySelectorAll("[data-list] tbody tr");
  const known = new Map([...list.querySelectorAll("tbody tr")].map((row) => [row.id, row]));
  if (![...rows].some((row) => known.has(row.id))) {
    return; // all others now: rows never jump away under the reader's eyes
  }
  for (const row of rows) {
    const old = known.get(row.id);
    if (old && old.innerHTML !== row.innerHTML && !old.contains(document.activeElement)) {
      old.replaceWith(row);
    }
  }
  const newer = [...rows].findIndex((row) => known.has(row.id));
  const note = document.querySelector("[data-newer]");
  note.hidden = newer <= 0;
  note.querySelector("span").textContent = String(newer);
}

setInterval(() => refresh().catch(() => undefined), EVERY_MS);
