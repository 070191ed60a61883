// What a page says about its connection: the dot with its word, and the bar over a broken stream.

const BACK_MS = 6000;
const OFFLINE_MS = 20000;

function filled(sentence, facts) {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => String(facts[name] ?? ""));
}

// `page` carries the sentences as `data-say-*` and `data-bar-*`; `lamp` and `bar` show them.
export function connection(page, lamp, bar) {
  let state = lamp.dataset.state;
  let lostAt = 0;
  let seenAt = Date.now();
  let shownSeq = 0;
  let hiding = 0;

  function show(word, facts = {}) {
    state = word;
    lamp.dataset.state = word;
    const sentence = page.dataset[`say${word[0].toUpperCase()}${word.slice(1)}`];
    const text = filled(sentence || "", facts);
    if (lamp.textContent !== text) {
      lamp.textContent = text;
    }
  }

  return {
    get state() {
      return state;
    },
    // The server answered: what is shown is what it knows.
    fresh() {
      seenAt = Date.now();
    },
    live(seq) {
      seenAt = Date.now();
      if (lostAt) {
        bar.dataset.state = "back";
        bar.textContent = filled(page.dataset.barBack, { count: Math.max(0, seq - shownSeq) });
        hiding = setTimeout(() => {
          bar.hidden = true;
        }, BACK_MS);
      }
      lostAt = 0;
      show("live");
    },
    lost(seq) {
      if (!lostAt) {
        lostAt = Date.now();
        shownSeq = seq;
        clearTimeout(hiding);
        bar.dataset.state = "lost";
        bar.textContent = filled(page.dataset.barLost, { seq });
        bar.hidden = false;
      }
      const time = new Date(seenAt).toLocaleTimeString(document.documentElement.lang || "en");
      if (!navigator.onLine || Date.now() - lostAt > OFFLINE_MS) {
        show("offline", { time });
      } else {
        show("lost");
      }
    },
    // The run is silent; the server answers.
    quiet(seconds) {
      show("quiet", { seconds });
    },
    // The connection stands, but nothing comes and no question is answered.
    silent(seconds) {
      show("silent", { seconds });
    },
    final() {
      bar.hidden = true;
      lostAt = 0;
      show("final");
    },
  };
}
