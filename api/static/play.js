// Plays a recording from a line of its transcript. Without this the line's link opens the recording
// at that second.

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-play]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) {
    return;
  }
  const audio = link.closest("details")?.querySelector("audio");
  if (!audio) {
    return;
  }
  event.preventDefault();
  const at = Number(link.dataset.play);
  if (audio.readyState > 0) {
    audio.currentTime = at;
  } else {
    audio.addEventListener("loadedmetadata", () => { audio.currentTime = at; }, { once: true });
    audio.load();
  }
  audio.play().catch(() => {}); // its own controls say what is wrong
});
