// Plays a recording from a line of its transcript. Without this the line's link opens the recording
// at that second.

// Not a moment of its beginning is heard first.
export function playFrom(audio, at) {
  const begin = () => {
    audio.currentTime = at;
    audio.play().catch(() => {}); // its own controls say what is wrong
  };
  if (audio.readyState > 0) {
    begin();
  } else {
    audio.addEventListener("loadedmetadata", begin, { once: true });
    audio.load();
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-play]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) {
    return;
  }
  const audio = link.closest("details")?.querySelector("audio");
  if (audio) {
    event.preventDefault();
    playFrom(audio, Number(link.dataset.play));
  }
});
