// Keeps "3 minutes ago" and running clocks right while a page stays open.

const locale = document.documentElement.lang || "en";
const words = new Intl.RelativeTimeFormat(locale, { numeric: "always" });
const rendered = Date.parse(document.documentElement.dataset.now || "");
// The server's clock counts; the reader's may be wrong.
const skew = Number.isNaN(rendered) ? 0 : Date.now() - rendered;
const UNITS = [
  ["year", 31536000],
  ["month", 2592000],
  ["week", 604800],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

function relative(seconds) {
  const size = Math.abs(seconds);
  const [unit, length] = UNITS.find(([, l]) => size >= l * 1.2) || UNITS[UNITS.length - 1];
  return words.format(Math.round(seconds / length), unit);
}

function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

// As the server writes it, in the reader's own zone.
function moment(at) {
  const two = (n) => String(n).padStart(2, "0");
  const gap = -at.getTimezoneOffset();
  const hours = Math.floor(Math.abs(gap) / 60);
  const rest = Math.abs(gap) % 60;
  const offset = gap ? `${gap < 0 ? "-" : "+"}${hours}${rest ? `:${two(rest)}` : ""}` : "";
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `
    + `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())} UTC${offset}`;
}

function write(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

// Brings every time below `root` up to date.
export function tick(root = document) {
  const now = Date.now() - skew;
  for (const element of root.querySelectorAll("time[title], time[data-moment]")) {
    const here = moment(new Date(element.dateTime));
    if (element.title && element.title !== here) {
      element.title = here;
    }
    if ("moment" in element.dataset) {
      write(element, here);
    }
  }
  for (const element of root.querySelectorAll("time[data-relative]")) {
    const seconds = (Date.parse(element.dateTime) - now) / 1000;
    if (Math.abs(seconds) >= 5) {
      write(element, relative(seconds));
    }
  }
  for (const element of root.querySelectorAll("[data-since]")) {
    write(element, clock((now - Date.parse(element.dataset.since)) / 1000));
  }
}

setInterval(() => {
  if (!document.hidden) {
    tick();
  }
}, 1000);
tick();
