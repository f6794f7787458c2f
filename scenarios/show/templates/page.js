"use strict";
const FIGURES = JSON.parse(document.getElementById("figures").textContent);
const THEMES = JSON.parse(document.getElementById("themes").textContent);
const darkMode = matchMedia("(prefers-color-scheme: dark)");
const PRINTED_PX = 660;
const PRINTED_IN_GRID_PX = 305;

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function drawPlace(place, theme, px) {
  const { data, layout } = FIGURES[place.dataset.figure];
  place.querySelector(".instead")?.remove();
  Plotly.react(place, data, layoutFor(layout, theme, px), { displayModeBar: false });
}

function draw(theme, onPaper) {
  for (const place of document.querySelectorAll("[data-figure]")) {
    if (!onPaper && place.closest("details:not([open])")) continue;
    const printedPx = place.closest(".grid") ? PRINTED_IN_GRID_PX : PRINTED_PX;
    drawPlace(place, theme, onPaper ? printedPx : place.clientWidth);
  }
}

const themeOfScreen = () => THEMES[darkMode.matches ? "dark" : "light"];
const onScreen = () => draw(themeOfScreen(), false);

unpacked("plotly").then((source) => {
  const script = document.createElement("script");
  script.textContent = source;
  document.head.append(script);
  onScreen();
  darkMode.addEventListener("change", onScreen);
  addEventListener("resize", onScreen);
  document.addEventListener("toggle", onScreen, true);
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details:not([open])")) folded.dataset.folded = "yes";
    for (const folded of document.querySelectorAll("[data-folded]")) folded.open = true;
    draw(THEMES.light, true);
  });
  addEventListener("afterprint", () => {
    for (const folded of document.querySelectorAll("[data-folded]")) {
      folded.open = false;
      delete folded.dataset.folded;
    }
    onScreen();
  });
  document.documentElement.dataset.drawn = "yes";
});
