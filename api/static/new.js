// A new run: files may be dropped, and what they hold and what it will take is shown by itself.
// The server reads them as it will at the start; nothing is stored.

const form = document.getElementById("new-run");
const PAUSE = 900;
let timer = 0;
let asking = null;

function lengthOf(file) {
  return new Promise((resolve) => {
    const sound = document.createElement("audio");
    const address = URL.createObjectURL(file);
    const done = (seconds) => {
      URL.revokeObjectURL(address);
      resolve(Number.isFinite(seconds) && seconds > 0 ? seconds : null);
    };
    sound.preload = "metadata";
    sound.addEventListener("loadedmetadata", () => done(sound.duration));
    sound.addEventListener("error", () => done(null));
    setTimeout(() => done(null), 5000);
    sound.src = address;
  });
}

async function entered() {
  const data = new FormData(form);
  data.set("do", "look");
  const audio = data.get("audio");
  data.delete("audio"); // it may be large; its name and its length are enough
  if (audio instanceof File && audio.name) {
    data.set("audio-name", audio.name);
    const seconds = await lengthOf(audio);
    if (seconds) {
      data.set("audio-seconds", String(seconds));
    }
  }
  return data;
}

async function look() {
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  form.classList.add("looking");
  try {
    const answer = await fetch(form.action, {
      method: "POST", body: await entered(), signal: mine.signal,
      headers: { accept: "text/html" },
    });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["brought", "look"]) {
      const fresh = page.getElementById(id);
      if (fresh && asking === mine) {
        document.getElementById(id).replaceChildren(...fresh.childNodes);
      }
    }
    showRemovers();
  } catch {
    // Gone, or a newer look is under way: what is shown stays, and the start says what is wrong.
  } finally {
    if (asking === mine) {
      form.classList.remove("looking");
    }
  }
}

function soon(pause) {
  clearTimeout(timer);
  timer = setTimeout(look, pause);
}

function give(input, files) {
  const held = new DataTransfer();
  for (const file of files) {
    held.items.add(file);
  }
  input.files = held.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function isSound(file) {
  return /^(audio|video)\//.test(file.type) || /\.(wav|mp3|m4a|ogg|flac|mp4|webm)$/i.test(file.name);
}

function take(zone, files) {
  const own = document.getElementById(zone.dataset.drop);
  const audio = document.getElementById("f-audio");
  const sounds = audio && own !== audio ? files.filter(isSound) : [];
  const rest = files.filter((file) => !sounds.includes(file));
  if (sounds.length) {
    give(audio, sounds.slice(0, 1));
  }
  if (rest.length) {
    give(own, own.multiple ? [...own.files, ...rest] : rest.slice(0, 1));
  }
  soon(0);
}

function showRemovers() {
  for (const button of form.querySelectorAll("[data-remove]")) {
    button.hidden = false;
  }
}

for (const zone of form.querySelectorAll("[data-drop]")) {
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(zone, [...event.dataTransfer.files]);
  });
}

// A file that misses its place must not open instead of the page.
for (const name of ["dragover", "drop"]) {
  window.addEventListener(name, (event) => event.preventDefault());
}

form.addEventListener("click", (event) => {
  const button = event.target.closest("[data-remove]");
  if (button) {
    const input = document.getElementById(button.dataset.remove);
    give(input, [...input.files].filter((_, at) => at !== Number(button.dataset.number)));
    input.focus();
    soon(0);
  }
});
form.addEventListener("change", (event) => soon(event.target.type === "file" ? 0 : PAUSE));
form.addEventListener("input", (event) => {
  if (event.target.matches("textarea")) {
    soon(PAUSE);
  }
});

document.getElementById("preview").hidden = true; // it is shown without being asked for
showRemovers();
if (document.querySelector("#look .muted") === null || form.querySelector("textarea").value) {
  soon(0);
}
