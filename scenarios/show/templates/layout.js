function layoutFor(layout, theme, px) {
  const narrow = px < 560;
  const axis = { color: theme.ink, gridcolor: theme.grid, linecolor: theme.axis, tickcolor: theme.axis };
  return {
    ...layout,
    width: px,
    font: { ...layout.font, size: narrow ? 12 : 13, color: theme.ink, family: getComputedStyle(document.body).fontFamily },
    hoverlabel: { bgcolor: theme.paper, bordercolor: theme.axis, font: { color: theme.ink } },
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    xaxis: { ...axis, ...layout.xaxis },
    yaxis: { ...axis, ...layout.yaxis },
  };
}
