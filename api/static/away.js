// Says on a page that it could not be kept fresh, and since when; silent again once it is.

const PATIENCE_MS = 10000;
const WORTH_SAYING_MS = 8000;

export function away() {
  const bar = document.querySelector("[data-away]");
  let freshAt = Date.now();

  function failed() {
    if (bar.hidden && Date.now() - freshAt > WORTH_SAYING_MS) {
      const time = new Date(freshAt).toLocaleTimeString(document.documentElement.lang || "en");
      bar.textContent = bar.dataset.say.replace("{time}", time);
      bar.hidden = false;
    }
  }

  return {
    // The answer, or undefined where none came.
    async ask(address, options = {}) {
      try {
        const answer = await fetch(address, {
          ...options,
          signal: AbortSignal.timeout(PATIENCE_MS),
        });
        if (answer.status >= 500) {
          failed();
          return undefined;
        }
        freshAt = Date.now();
        bar.hidden = true;
        return answer;
      } catch {
        failed();
        return undefined;
      }
    },
  };
}
