// The what-if panel: the cell at the sliders' places in words, and the curve along the slider that was moved last.
const WHAT_IF = JSON.parse(document.getElementById("what-if-cells").textContent);
const BAND = "rgba(0,114,178,0.18)";
const CURVE = "#0072b2";
const ALARM = "#d55e00";
const sliders = WHAT_IF.sliders.map((each) => document.getElementById(each.id));
let along = 0;

const places = () => sliders.map((slider) => Number(slider.value));
const cellAt = (chosen) =>
  WHAT_IF.cells[chosen.reduce((number, place, axis) => number * WHAT_IF.sliders[axis].texts.length + place, 0)];
const settings = (chosen) => WHAT_IF.sliders.map((each, axis) => `${each.label} ${each.texts[chosen[axis]]}`).join(" · ");

function curveOf(chosen) {
  const { texts, label } = WHAT_IF.sliders[along];
  const points = texts.map((text, place) => ({ place, text, cell: cellAt(chosen.with(along, place)) }));
  const able = points.filter(({ cell }) => !cell.refused);
  const refused = points.filter(({ cell }) => cell.refused);
  const x = able.map(({ place }) => place);
  const banded = able.filter(({ cell }) => cell.at.length === 3);
  const hover = ({ text, cell }) => (cell.refused ? `${text}: can't run` : `${text}: ${cell.rate} ${cell.interval}<br>${cell.limit}`);
  const data = [
    {
      type: "scatter", mode: "lines", line: { width: 0 }, fill: "toself", fillcolor: BAND, hoverinfo: "skip",
      x: [...banded.map(({ place }) => place), ...banded.map(({ place }) => place).reverse()],
      y: [...banded.map(({ cell }) => cell.at[2]), ...banded.map(({ cell }) => cell.at[1]).reverse()],
    },
    {
      type: "scatter", mode: "lines+markers", cliponaxis: false, line: { color: CURVE, width: 2 },
      x, y: able.map(({ cell }) => cell.at[0]), customdata: able.map(hover), hovertemplate: "%{customdata}<extra></extra>",
      marker: {
        color: able.map(({ cell }) => (cell.notes.length ? ALARM : CURVE)),
        symbol: able.map(({ cell }) => (cell.notes.length ? "triangle-up" : "circle")),
        size: able.map(({ place }) => (place === chosen[along] ? 15 : 8)),
      },
    },
    {
      type: "scatter", mode: "markers", cliponaxis: false, hovertemplate: "%{customdata}<extra></extra>",
      x: refused.map(({ place }) => place), y: refused.map(() => 0), customdata: refused.map(hover),
      marker: { symbol: "x-thin-open", color: ALARM, line: { width: 2 }, size: refused.map(({ place }) => (place === chosen[along] ? 16 : 10)) },
    },
  ];
  const figure = FIGURES["what-if"];
  const short = texts.map((text) => text.replace(/ \(.*/, ""));
  const top = Math.max(1, ...able.map(({ cell }) => Math.max(...cell.at)));
  figure.data = data;
  figure.layout.xaxis = {
    ...figure.layout.xaxis, range: [-0.3, texts.length - 0.7], tickvals: texts.map((_, place) => place), ticktext: short,
    tickangle: "auto", automargin: true,
  };
  figure.layout.margin = { ...figure.layout.margin, r: 30 };
  figure.layout.yaxis = {
    ...figure.layout.yaxis, range: [0, 1.06 * top], tickmode: "auto", nticks: 6, tickformat: ",~g", automargin: true,
  };
  const words = points.map(({ text, cell }) => `${text} ${cell.refused ? "can't run" : cell.rate}`).join(", ");
  return `${WHAT_IF.unit} by ${label}: ${words}.`;
}

function showCell() {
  const chosen = places();
  const cell = cellAt(chosen);
  const put = (name, text) => { document.getElementById(`what-if-${name}`).textContent = text; };
  WHAT_IF.sliders.forEach((each, axis) => {
    sliders[axis].setAttribute("aria-valuetext", each.texts[chosen[axis]]);
    document.getElementById(`${each.id}-value`).textContent = each.texts[chosen[axis]];
  });
  const isOwn = chosen.every((place, axis) => place === WHAT_IF.sliders[axis].now);
  put("settings", settings(chosen));
  put("rate", cell.refused ? "can't run" : cell.rate);
  put("unit", cell.refused ? "" : `${WHAT_IF.unit} ${cell.interval}`);
  put("change", cell.refused || isOwn ? "" : `${cell.change} against the machine as it is`);
  put("limit", cell.refused ? "–" : cell.limit);
  put("response", cell.refused ? "–" : cell.response);
  const notes = cell.refused ? [cell.refused] : cell.notes.map((note) => WHAT_IF.notes[note]);
  document.getElementById("what-if-notes").replaceChildren(...notes.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
  document.getElementById("what-if-answer").classList.toggle("refused", Boolean(cell.refused));
  put("curve", `${WHAT_IF.sliders[along].label}: ${WHAT_IF.unit}, all else as set`);
  const place = document.getElementById("plot-what-if");
  place.setAttribute("aria-label", curveOf(chosen));
  if (window.Plotly && place.clientWidth) drawPlace(place, themeOfScreen(), place.clientWidth);
}

sliders.forEach((slider, axis) => {
  slider.addEventListener("input", () => { along = axis; showCell(); });
  slider.addEventListener("focus", () => { if (along !== axis) { along = axis; showCell(); } });
});
document.getElementById("what-if-reset").addEventListener("click", () => {
  WHAT_IF.sliders.forEach((each, axis) => { sliders[axis].value = each.now; });
  showCell();
});
document.getElementById("what-if-panel").hidden = false;
along = Math.max(0, WHAT_IF.sliders.findIndex((each) => each.label === "Buffer pool"));
showCell();
