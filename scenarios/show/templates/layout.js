const LETTER_PX = 7;
const TICK_GAP_PX = 10;

// Every second tick where labels of all would meet.
function spacedTicks(axis, px) {
  const { tickvals = [], ticktext = [] } = axis;
  const needed = ticktext.reduce((sum, text) => sum + text.length * LETTER_PX + TICK_GAP_PX, 0);
  if (needed <= px) return axis;
  return { ...axis, tickvals: tickvals.filter((_, at) => at % 2 === 0), ticktext: ticktext.filter((_, at) => at % 2 === 0) };
}

function layoutFor(layout, theme, px) {
  const narrow = px < 560;
  const axis = { color: theme.ink, gridcolor: theme.grid, linecolor: theme.axis, tickcolor: theme.axis };
  return {
    ...layout,
    width: px,
    font: { ...layout.font, size: narrow ? 12 : 13, color: theme.ink, family: getComputedStyle(document.body).fontFamily },
    hoverlabel: { bgcolor: theme.paper, bordercolor: theme.axis, font: { color: theme.ink } },
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    xaxis: { ...axis, ...spacedTicks(layout.xaxis, px - layout.margin.l) },
    yaxis: { ...axis, ...layout.yaxis },
  };
}
