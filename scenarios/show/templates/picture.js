"use strict";
// Plotly names clips and patterns by random numbers: these are the same every time.
let seed = 1;
Math.random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;

async function drawAll() {
  const drawn = [];
  for (const { data, layout } of FIGURES) {
    const place = document.createElement("div");
    document.body.append(place);
    await Plotly.newPlot(place, data, layout);
    const size = { width: layout.width, height: layout.height };
    drawn.push(await Plotly.toImage(place, { format: "svg", imageDataOnly: true, ...size }));
  }
  document.getElementById("drawn").textContent = JSON.stringify(drawn);
}
