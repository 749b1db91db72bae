// Draws the figures of a result in a notebook. The first result of a session brings plotly.js for all.
async function showResult(key) {
  const results = document.querySelectorAll(`.calib-result[data-key="${key}"]:not([data-started])`);
  for (const result of results) result.dataset.started = "yes";

  // Notebooks name their theme in many ways, but all of them paint what lies behind their outputs.
  function liesOnDark(element) {
    for (let parent = element.parentElement; parent; parent = parent.parentElement) {
      const [red, green, blue, opacity = 1] = getComputedStyle(parent).backgroundColor.match(/[\d.]+/g).map(Number);
      if (opacity > 0) return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches;
  }

  async function loadPlotly() {
    const packed = document.querySelector(".calib-plotly");
    if (window.Plotly || !packed) return;
    const script = document.createElement("script");
    script.textContent = await calibFigures.unpack(packed);
    document.head.append(script);
  }

  for (const result of results) {
    result.dataset.theme = liesOnDark(result) ? "dark" : "light";
  }
  if (![...results].some((result) => result.querySelector(".canvas"))) return;
  window.calibPlotly ??= loadPlotly();
  await window.calibPlotly;
  if (!window.Plotly) {
    window.calibPlotly = undefined;
    for (const result of results) result.classList.add("without-plotly");
    return;
  }
  for (const result of results) {
    const figures = JSON.parse(await calibFigures.unpack(result.querySelector(".calib-figures")));
    const draw = (box) => {
      const width = Math.floor(box.parentElement.clientWidth);
      if (!width || box.dataset.drawn === String(width)) return;
      const { light, dark } = figures[Number(box.dataset.figure)];
      const figure = result.dataset.theme === "dark" ? calibFigures.applyChanges(light, dark) : light;
      const layout = { ...figure.layout, width, autosize: false };
      box.parentElement.classList.add("drawn");
      Plotly.react(box, structuredClone(calibFigures.tracesForWidth(figure, width)), structuredClone(layout),
        { displayModeBar: false, responsive: false });
      box.dataset.drawn = String(width);
    };
    for (const box of result.querySelectorAll(".canvas")) new ResizeObserver(() => draw(box)).observe(box.parentElement);
  }
}
