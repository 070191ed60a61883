// Keeps what is typed as the person's draft, two seconds after the last key, and says so.

const AFTER_MS = 2000;
const AGAIN_MS = 4000;

export function autosave(page, form) {
  const address = `/api/documents/${page.dataset.document}/draft`;
  let timer = 0;
  let flight = null; // the save under way
  let kept = fields();
  let stopped = false; // another tab saved since: the person decides

  function field(name) {
    return form.querySelector(`[name="${name}"]`);
  }

  function fields() {
    const read = (name) => field(name)?.value ?? null;
    return {
      edit: read("edit"),
      instructions: read("instructions"),
      comment: read("comment"),
      rounds: read("extra_rounds"),
    };
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
    return Object.keys(now).some((name) => now[name] !== kept[name]);
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
      if (changed() && !stopped) {
        soon(AFTER_MS);
      }
    });
    return flight;
  }

  async function put(now) {
    say("saving");
    try {
      const stored = await read();
      const answer = await fetch(address, {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body(now, stored)),
      });
      const told = await answer.json();
      if (answer.ok || (told.params && told.params.saved)) {
        field("version").value = answer.ok ? told.version : told.params.saved;
        kept = now;
        settled(now);
        say("saved", new Date().toLocaleTimeString(document.documentElement.lang));
      } else if (answer.status === 409) {
        stopped = true;
        say("conflict");
      } else {
        throw new Error(`status ${answer.status}`);
      }
    } catch {
      say("unsaved");
      soon(AGAIN_MS);
    }
  }

  // Notes that other buttons made are kept beside what is typed here.
  async function read() {
    const answer = await fetch(address);
    return answer.ok ? (await answer.json()).notes : {};
  }

  function body(now, notes) {
    const rounds = Number(now.rounds);
    const wanted = {
      base_revision: Number(field("base_revision").value),
      version: Number(field("version").value),
      notes: {
        ...notes,
        instructions: now.instructions?.trim() || null,
        comment: now.comment?.trim() || null,
        ...(Number.isInteger(rounds) && rounds > 0 && rounds < 21 ? { extra_rounds: rounds } : {}),
      },
    };
    if (now.edit !== kept.edit) {
      wanted.body = now.edit;
    }
    return wanted;
  }

  // What is kept is not lost by leaving: the page does not ask then.
  function settled(now) {
    for (const name of ["edit", "instructions"]) {
      const area = field(name);
      if (area && now[name] !== null) {
        area.defaultValue = now[name];
      }
    }
  }

  form.addEventListener("input", (event) => {
    if (["edit", "instructions", "comment", "extra_rounds"].includes(event.target.name)) {
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
        if (form.querySelector('[data-saved][data-state="unsaved"]')) {
          return;
        }
      }
    },
    // The page was rendered anew: what it shows is kept.
    adopt() {
      stopped = false;
      const shown = fields();
      const area = field("edit");
      kept = { ...shown, edit: area ? area.defaultValue : null };
    },
  };
}
