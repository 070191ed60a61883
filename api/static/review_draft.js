// Keeps what is typed as the person's draft, two seconds after the last key, and says so: an edited
// text, the words of a decision, and a comment that was not added yet.

const AFTER_MS = 2000;
const AGAIN_MS = 4000;
const PATIENCE_MS = 15000;
const TYPED = ["edit", "instructions", "comment", "extra_rounds", "say"];

export function autosave(page, form) {
  const address = `/runs/${page.dataset.review}/review/typed`;
  let timer = 0;
  let flight = null; // the save under way
  let kept = shown();
  let stopped = false; // another tab saved since: the person decides

  function field(name) {
    return form.querySelector(`[name="${name}"]`);
  }

  // An empty field and one that is not there are the same: nothing is typed.
  function fields() {
    return Object.fromEntries(TYPED.map((name) => [name, field(name)?.value || null]));
  }

  // As the page came, or as it was saved since.
  function shown() {
    return Object.fromEntries(TYPED.map((name) => [name, field(name)?.defaultValue || null]));
  }

  function say(state, more = "") {
    const word = page.dataset[`say${state[0].toUpperCase()}${state.slice(1)}`] || "";
    for (const lamp of form.querySelectorAll("[data-saved]")) {
      lamp.dataset.state = state;
      lamp.textContent = more ? `${word} ${more}` : word;
    }
  }

  function changed() {
    const now = fields();
    return TYPED.some((name) => now[name] !== kept[name]);
  }

  function soon(delay) {
    clearTimeout(timer);
    timer = setTimeout(() => save(), delay);
  }

  function save() {
    clearTimeout(timer);
    if (flight || stopped || !changed()) {
      return flight || Promise.resolve();
    }
    flight = put(fields()).finally(() => {
      flight = null;
      if (changed() && !stopped && !form.querySelector('[data-saved][data-state="refused"]')) {
        soon(AFTER_MS);
      }
    });
    return flight;
  }

  async function put(now) {
    say("saving");
    try {
      const answer = await fetch(address, {
        method: "POST",
        headers: { Accept: "application/json" },
        body: body(),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      if (answer.ok) {
        field("version").value = (await answer.json()).version;
        kept = now;
        settled(now);
        say("saved", new Date().toLocaleTimeString(document.documentElement.lang));
      } else if (answer.status === 409) {
        stopped = true;
        say("conflict");
      } else if (answer.status === 422) {
        say("refused"); // its button says beside which field
      } else {
        throw new Error(`status ${answer.status}`);
      }
    } catch {
      say("unsaved");
      soon(AGAIN_MS);
    }
  }

  function body() {
    const data = new FormData(form);
    if (kept.say && !data.has("say")) {
      data.set("say", ""); // its field was closed: it is taken back
    }
    return data;
  }

  // What is kept is not lost by leaving: the page does not ask then.
  function settled(now) {
    for (const name of TYPED) {
      const place = field(name);
      if (place) {
        place.defaultValue = now[name] || "";
      }
    }
    const panel = form.querySelector("[data-write]");
    panel?.toggleAttribute("data-pending", Boolean(now.say)); // to close it is to take it back
  }

  form.addEventListener("input", (event) => {
    if (TYPED.includes(event.target.name)) {
      if (!stopped) {
        say("typing");
      }
      soon(AFTER_MS);
    }
  });
  window.addEventListener("online", () => soon(0));

  return {
    // Everything typed so far is kept, or a save was refused.
    async settle() {
      while (flight || (changed() && !stopped)) {
        await save();
        if (form.querySelector('[data-saved]:is([data-state="unsaved"], [data-state="refused"])')) {
          return;
        }
      }
    },
    // The page was rendered anew: what it shows is kept.
    adopt() {
      stopped = false;
      kept = shown();
    },
  };
}
