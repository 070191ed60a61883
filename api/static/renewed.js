// The service was upgraded while this page was open: what comes now may not fit the script that is
// here. The page is loaded anew by itself, or offers it where something typed would be lost.

const YOUNG_MS = 60000; // old and new servers may answer by turns: no page is loaded over and over
const mine = new URL(import.meta.url).pathname;

export function typed() {
  const fields = document.querySelectorAll("main textarea, main input:not([type=hidden]), main select");
  return [...fields].some((field) => {
    if (field.matches("select")) {
      return [...field.options].some((one) => one.selected !== one.defaultSelected && one.index > 0);
    }
    return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  });
}

// True where `fresh`, an answer of the server, was made by another version than this script.
export function renewed(fresh) {
  const code = fresh.querySelector("[data-code]")?.dataset.code;
  if (!code || code === mine) {
    return false;
  }
  if (performance.now() > YOUNG_MS && !typed()) {
    location.reload();
  } else {
    document.querySelector("[data-renewed]").hidden = false;
  }
  return true;
}
