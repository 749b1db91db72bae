(() => {
  "use strict";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const boxes = [...document.querySelectorAll(".canvas")];
  const config = { displayModeBar: false, displaylogo: false, showSendToCloud: false, responsive: false };
  let figures = null;
  let printing = false;

  const isDark = () => !printing && (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  async function unpack(id) {
    const packed = document.getElementById(id).textContent;
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  // Applies the changes of `colour_changes` (document.py) to a light figure, which makes it a dark one.
  function applyChanges(part, changes) {
    if (Array.isArray(changes)) return changes.length ? changes[0] : part;
    const changed = Array.isArray(part) ? [...part] : { ...part };
    for (const key of Object.keys(changes)) changed[key] = applyChanges(part[key], changes[key]);
    return changed;
  }

  // Names of points are laid out for several widths, each on axes named after its width (x400): keeps those
  // of the widest layout that fits.
  function tracesForWidth(figure, width) {
    const numbers = Object.keys(figure.layout).map((key) => Number((/^xaxis(\d{3,})$/.exec(key) || [])[1]));
    const widths = numbers.filter((number) => number > 0);
    const best = `x${Math.max(Math.min(...widths), ...widths.filter((own) => own <= width))}`;
    const others = widths.map((own) => `x${own}`).filter((axis) => axis !== best);
    return figure.data.filter((trace) => !others.includes(trace.xaxis));
  }

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
    plotly.textContent = await unpack("plotly");
    document.head.append(plotly);
    figures = JSON.parse(await unpack("figures"));
    boxes.forEach((box) => observer.observe(box));
    redraw();
    root.dataset.ready = "yes";
  }

  start().catch(() => {
    document.getElementById("trouble").hidden = false;
  });
})();
