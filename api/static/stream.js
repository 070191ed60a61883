// Events of runs, one server connection for all tabs of a browser.
//
// Over HTTP/1.1 a browser opens six connections to a server; with one a tab the seventh tab hangs.
// So the tabs elect a leader (Web Locks) that holds the stream of all wanted runs and passes the
// frames on (BroadcastChannel). Where there are no Web Locks (plain HTTP beyond this machine) each
// visible tab has its own stream. A hidden tab holds none.

export const TYPES = [
  "run_created", "run_interrupted", "run_resumed", "run_failed", "run_awaiting_confirmation",
  "run_confirmed", "run_rejected", "run_rework", "run_cancelled", "limits_raised",
  "profile_changed", "step_started", "step_succeeded", "step_failed", "round_finished",
  "item_kept", "revision_created", "issue_raised", "issue_fixed", "issue_reopened",
  "issue_waived", "call_started", "call_ended", "budget_warning", "guardrail_stop",
  "worker_lost", "source_added", "lock_removed", "progress",
];
const FRAMES = [...TYPES, "partial", "reset", "end"];
const GATHER_MS = 60;
const AGAIN_MS = 3000;

// Calls `heard({type, ...})` for every frame of `run` and `state("live" | "lost" | "final")`.
// Returns {open, close}; `open(seq)` goes on behind that event.
export function follow(run, heard, state) {
  const shared = "locks" in navigator && "BroadcastChannel" in window;
  return shared ? followTogether(run, heard, state) : followAlone(run, heard, state);
}

function connect(address, heard, state) {
  const source = new EventSource(address);
  source.onopen = () => state("live");
  source.onerror = () => state(source.readyState === EventSource.CLOSED ? "closed" : "lost");
  for (const type of FRAMES) {
    source.addEventListener(type, (message) => heard({ ...JSON.parse(message.data), type }));
  }
  return source;
}

function followAlone(run, heard, state) {
  let source = null;
  let timer = 0;
  let seq = 0;
  function open(from) {
    close();
    seq = Math.max(seq, from);
    source = connect(`/api/runs/${run}/events?after=${seq}`, take, told);
  }
  function take(frame) {
    seq = Math.max(seq, frame.seq || 0);
    heard(frame);
    if (frame.type === "end") {
      close();
      state("final");
    }
  }
  function told(word) {
    state(word === "live" ? "live" : "lost");
    if (word === "closed" && source) {
      timer = setTimeout(() => open(seq), AGAIN_MS);
    }
  }
  function close() {
    clearTimeout(timer);
    if (source) {
      source.close();
      source = null;
    }
  }
  return { open, close };
}

function followTogether(run, heard, state) {
  const channel = new BroadcastChannel("redraft-events");
  let wanted = null; // the seq behind which this tab wants events; null = wants none
  let leader = null; // what this tab holds while it leads
  let waiting = null; // aborts the queue for the lock

  function want() {
    channel.postMessage({ kind: "want", run, seq: wanted });
    if (leader) {
      leader.want(run, wanted);
    }
  }

  function receive(message) {
    if (message.kind === "lead" && wanted !== null) {
      want();
    } else if (message.kind === "frame" && message.frame.run_id === run && wanted !== null) {
      take(message.frame);
    } else if (message.kind === "state" && wanted !== null) {
      state(message.word);
    } else if (message.kind === "want" && leader) {
      leader.want(message.run, message.seq);
    } else if (message.kind === "leave" && leader) {
      leader.leave(message.run);
    }
  }

  function take(frame) {
    if (frame.seq) {
      if (frame.seq <= wanted) {
        return; // another tab wanted older ones
      }
      wanted = frame.seq;
    }
    if (frame.type === "reset") {
      wanted = frame.event_seq;
    }
    heard(frame);
    if (frame.type === "end") {
      state("final");
    }
  }

  function tell(message) {
    channel.postMessage(message);
    receive(message);
  }

  channel.onmessage = (event) => receive(event.data);

  return {
    open(seq) {
      wanted = seq;
      want();
      if (waiting) {
        return;
      }
      waiting = new AbortController();
      navigator.locks
        .request("redraft-events", { signal: waiting.signal }, () => {
          leader = lead(tell);
          leader.want(run, wanted);
          channel.postMessage({ kind: "lead" });
          return leader.ended;
        })
        .catch((error) => {
          if (error.name !== "AbortError") {
            throw error;
          }
        });
    },
    close() {
      wanted = null;
      channel.postMessage({ kind: "leave", run });
      if (leader) {
        leader.stop();
        leader = null;
      } else if (waiting) {
        waiting.abort();
      }
      waiting = null;
    },
  };
}

// The stream of all wanted runs. It is opened again, once a moment, when a run joins.
function lead(tell) {
  const runs = new Map();
  let source = null;
  let timer = 0;
  let stop;
  const ended = new Promise((resolve) => {
    stop = resolve;
  });

  function soon(delay) {
    clearTimeout(timer);
    timer = setTimeout(start, delay);
  }

  function start() {
    if (source) {
      source.close();
      source = null;
    }
    if (runs.size) {
      const named = [...runs].slice(-100).map(([run, seq]) => `${run}:${seq}`);
      source = connect(`/api/events?runs=${named.join(",")}`, pass, told);
    }
  }

  function pass(frame) {
    if (frame.seq) {
      runs.set(frame.run_id, frame.seq);
    } else if (frame.type === "reset") {
      runs.set(frame.run_id, frame.event_seq);
    } else if (frame.type === "end") {
      runs.delete(frame.run_id);
    }
    tell({ kind: "frame", frame });
    if (!runs.size) {
      start();
    }
  }

  function told(word) {
    tell({ kind: "state", word: word === "live" ? "live" : "lost" });
    if (word === "closed") {
      soon(AGAIN_MS);
    }
  }

  return {
    ended,
    want(run, seq) {
      runs.set(run, Math.min(seq, runs.has(run) ? runs.get(run) : seq));
      soon(GATHER_MS);
    },
    leave(run) {
      // Another tab may still want it: the tabs are asked again, and a stream too many is harmless.
      runs.delete(run);
      tell({ kind: "lead" });
    },
    stop() {
      clearTimeout(timer);
      runs.clear();
      start();
      stop();
    },
  };
}
