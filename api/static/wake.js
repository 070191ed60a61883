// A second that took much longer was a sleep of the machine: a connection from before it may be dead
// without knowing.

const BEAT_MS = 1000;
const SLEPT_MS = 10000;

// A hidden page holds no connection; it looks anew when it is shown.
export function afterSleep(wake) {
  let beatAt = Date.now();
  setInterval(() => {
    const now = Date.now();
    const slept = now - beatAt > SLEPT_MS;
    beatAt = now;
    if (slept && !document.hidden) {
      wake();
    }
  }, BEAT_MS);
}
