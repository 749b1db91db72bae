(() => {
  "use strict";
  const { unpack, applyChanges, tracesForWidth } = calibFigures;
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const boxes = [...document.querySelectorAll(".canvas")];
  const config = { displayModeBar: false, displaylogo: false, showSendToCloud: false, responsive: false };
  let figures = null;
  let printing = false;

  const isDark = () => !printing && (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  // Draws a figure unless it is already drawn for this theme and width.
  function draw(box) {
    const width = Math.floor(box.parentElement.clientWidth);
    const state = `${isDark() ? "dark" : "light"} ${width}`;
    if (!figures || !width || box.dataset.drawn === state) return;
    const { light, dark } = figures[Number(box.dataset.figure)];
    const figure = isDark() ? applyChanges(light, dark) : light;
    const layout = { ...figure.layout, width, autosize: false, clickmode: "none", dragmode: false };
    Plotly.react(box, structuredClone(tracesForWidth(figure, width)), structuredClone(layout), config);
    box.dataset.drawn = state;
    box.parentElement.classList.add("drawn");
  }

  const nearby = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) { nearby.add(entry.target); draw(entry.target); } else nearby.delete(entry.target);
    }
  }, { rootMargin: "800px 0px" });

  const whenIdle = window.requestIdleCallback || ((callback) => setTimeout(callback, 30));
  let currentRound = 0;

  // Draws figures in or near the window at once, the others one by one while the browser is idle.
  function redraw() {
    const round = ++currentRound;
    nearby.forEach(draw);
    const remaining = [...boxes];
    const next = () => {
      const box = remaining.shift();
      if (round !== currentRound || printing || !box) return;
      draw(box);
      whenIdle(next);
    };
    whenIdle(next);
  }

  function onThemeChange() {
    const button = document.getElementById("theme");
    button.textContent = isDark() ? "Light colours" : "Dark colours";
    if (figures) redraw();
  }

  function setPrinting(starts) {
    if (printing === starts) return;
    printing = starts;
    root.classList.toggle("printing", starts);
    if (starts) boxes.forEach(draw); else redraw();
  }

  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    onThemeChange();
  });
  document.getElementById("print").addEventListener("click", () => window.print());
  system.addEventListener("change", onThemeChange);
  addEventListener("beforeprint", () => setPrinting(true));
  addEventListener("afterprint", () => setPrinting(false));
  let resizeTimer = 0;
  addEventListener("resize", () => {
    clearTimeout(resizeTimer);
    resizeTimer = setTimeout(() => { if (figures && !printing) redraw(); }, 150);
  });

  async function start() {
    root.classList.add("scripted");
    onThemeChange();
    const plotly = document.createElement("script");
    plotly.textContent = await unpack(document.getElementById("plotly"));
    document.head.append(plotly);
    figures = JSON.parse(await unpack(document.getElementById("figures")));
    boxes.forEach((box) => observer.observe(box));
    redraw();
    root.dataset.ready = "yes";
  }

  start().catch(() => {
    document.getElementById("trouble").hidden = false;
  });
})();
