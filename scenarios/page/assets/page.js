"use strict";
// What the browser does by itself: drawing, the words of sliders, the address, the headline with its interval.
const darkMode = matchMedia("(prefers-color-scheme: dark)");
const NARROWEST_PX = 100;

function drawPlot(place) {
  if (place.clientWidth < NARROWEST_PX || !window.Plotly) return;
  const theme = oltpsimThemes[darkMode.matches ? "dark" : "light"];
  const { data, layout } = JSON.parse(place.dataset.figure);
  Plotly.react(place, data, layoutFor(layout, theme, place.clientWidth), { displayModeBar: false });
  place.dataset.drawn = "yes";
}

function drawAll() {
  for (const place of document.querySelectorAll(".plot[data-figure]")) drawPlot(place);
}

function showSlider(input) {
  const row = input.closest(".slider");
  if (!row) return;
  const words = JSON.parse(row.dataset.words)[Number(input.value)];
  const shown = row.querySelector(".slider-value");
  if (shown.textContent !== words) shown.textContent = words;
  input.setAttribute("aria-label", row.dataset.label);
  input.setAttribute("aria-valuetext", words);
}

function savePicture(button) {
  const figure = button.closest("figure");
  const place = figure.querySelector(".plot");
  const theme = oltpsimThemes.light;
  const { data, layout } = JSON.parse(place.dataset.figure);
  const title = figure.querySelector("h3").textContent;
  const drawn = layoutFor(layout, theme, 760);
  drawn.title = { text: title, x: 0.02, font: { size: 15 } };
  drawn.margin = { ...drawn.margin, t: 40, l: drawn.margin.l + 12, r: drawn.margin.r + 12 };
  drawn.paper_bgcolor = theme.paper;
  drawn.height = place.clientHeight + 40;
  const options = { format: "png", scale: 2, width: 760, height: drawn.height, filename: `oltpsim-${button.dataset.png}` };
  Plotly.downloadImage({ data, layout: drawn }, options);
}

const drawnSoon = new Set();
function drawSoon(place) {
  if (!drawnSoon.size) {
    requestAnimationFrame(() => {
      const places = [...drawnSoon];
      drawnSoon.clear();
      places.filter((each) => each.isConnected).forEach(drawPlot);
    });
  }
  drawnSoon.add(place);
}

const MOST_BYTES = 64 * 2 ** 20;

async function sendFiles(files) {
  const show = (data) => window.dash_clientside.set_props("upload", { data });
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  if (!files.length) return;
  if (bytes > MOST_BYTES) {
    show({ problem: `upload: ${Math.ceil(bytes / 2 ** 20)} MiB are more than 64 MiB; give fewer files, or a zip` });
    return;
  }
  const form = new FormData();
  for (const file of files) form.append("files", file, file.webkitRelativePath || file.name);
  try {
    const response = await fetch("/upload", { method: "POST", body: form, headers: { "X-Oltpsim": "upload" } });
    show(await response.json());
  } catch (error) {
    show({ problem: `upload: could not be sent: ${error.message}` });
  }
}

function addUploadFields(place) {
  for (const [words, folder] of [["Files of one run, or a zip", false], ["A folder of runs", true]]) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "file";
    input.multiple = true;
    input.webkitdirectory = folder;
    input.id = folder ? "upload-folder" : "upload-files";
    label.textContent = words;
    label.append(input);
    place.append(label);
    input.addEventListener("change", () => sendFiles([...input.files]));
  }
}

const sizes = new ResizeObserver((entries) => entries.forEach((entry) => drawSoon(entry.target)));
new MutationObserver((changes) => {
  for (const change of changes) {
    if (change.type === "attributes") {
      if (change.target.matches(".plot")) drawSoon(change.target);
      continue;
    }
    for (const node of change.addedNodes) {
      if (node.nodeType !== Node.ELEMENT_NODE || node.closest(".plot .svg-container")) continue;
      for (const place of node.querySelectorAll(".plot[data-figure]")) sizes.observe(place);
      const uploads = node.querySelector("#upload-place:empty");
      if (uploads) addUploadFields(uploads);
      for (const input of node.querySelectorAll(".slider input[type=range]")) showSlider(input);
    }
  }
}).observe(document.documentElement, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-figure"] });

darkMode.addEventListener("change", drawAll);
document.addEventListener("input", (event) => {
  if (event.target.matches(".slider input[type=range]")) showSlider(event.target);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-png]");
  if (button) savePicture(button);
  const shown = event.target.closest("[data-show]");
  if (shown) document.getElementById(shown.dataset.show).scrollIntoView();
});

const element = (type, children, more) => ({ namespace: "dash_html_components", type, props: { children, ...more } });
const CALCULATING = "90 % interval: being calculated …";

window.dash_clientside = window.dash_clientside || {};
let requests = 0;
window.dash_clientside.oltpsim = {
  // Numbered here: the server gets requests in another order than they were sent in, when there are many.
  asked(question, places, names) {
    if (!question) return window.dash_clientside.no_update;
    requests += 1;
    return { number: requests, question, at: names.map((name, at) => [name.key, places[at]]) };
  },
  headline(calculated) {
    if (!calculated) return ["", "", "", "curves stale"];
    const number = element("Strong", [`${calculated.rate} `, element("Small", calculated.short_unit)]);
    const unit = element("Span", ` ${calculated.unit}, ${calculated.by}`);
    return [[number, unit], CALCULATING, "", "curves stale"];
  },
  interval(measured, calculated) {
    const unchanged = window.dash_clientside.no_update;
    if (!measured || !calculated || measured.digest !== calculated.digest) return [unchanged, unchanged];
    const rows = measured.model.map(([term, words]) => element("Div", [element("Dt", term), element("Dd", words)]));
    const by = rows.length ? element("Dl", rows, { className: "model" }) : "";
    return [(measured.ends ? `${measured.ends} 90 % interval, ` : "") + measured.words, by];
  },
  curves(drawn, calculated) {
    return calculated && drawn === calculated.digest ? "curves" : window.dash_clientside.no_update;
  },
  address(first, second, hidden) {
    const pairs = new URLSearchParams();
    for (const [side, found] of [["a", first], ["b", hidden ? null : second]]) {
      if (!found) continue;
      pairs.append(side, found.question.machine);
      if (found.question.model) pairs.append(`${side}.model`, found.question.model);
      for (const [key, value] of Object.entries(found.question.values)) pairs.append(`${side}.${key}`, value);
    }
    if ([...pairs].length) history.replaceState(history.state, "", `?${pairs}`);
    return null;
  },
  difference(first, second, hidden) {
    if (hidden || !first || !second) return "";
    if (first.unit !== second.unit) {
      return `Not comparable: the first machine's rate counts ${first.unit}, the second one's ${second.unit}.`;
    }
    const change = (second.rate_per_min / first.rate_per_min - 1) * 100;
    const words = `${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(1)} %`;
    return `Second machine against the first: ${second.rate} against ${first.rate} ${first.short_unit} calculated, ${words}.`;
  },
};
