(() => {
  "use strict";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const boxes = [...document.querySelectorAll(".canvas")];
  const config = { displayModeBar: false, displaylogo: false, showSendToCloud: false, responsive: false };
  let figures = null;
  let printing = false;

  const isDark = () => !printing && (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  async function unpacked(id) {
    const packed = document.getElementById(id).textContent;
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  // A figure on a dark page: the light one with the parts that differ there.
  function recoloured(part, changes) {
    if (Array.isArray(changes)) return changes.length ? changes[0] : part;
    const own = Array.isArray(part) ? [...part] : { ...part };
    for (const key of Object.keys(changes)) own[key] = recoloured(part[key], changes[key]);
    return own;
  }

  // Names of points are placed once for each of some widths, on axes called by them: the set that fits is kept.
  function named(figure, width) {
    const sets = Object.keys(figure.layout).map((key) => Number((/^xaxis(\d{3,})$/.exec(key) || [])[1]));
    const widths = sets.filter((one) => one > 0);
    const fits = `x${Math.max(Math.min(...widths), ...widths.filter((one) => one <= width))}`;
    const others = widths.map((one) => `x${one}`).filter((one) => one !== fits);
    return figure.data.filter((trace) => !others.includes(trace.xaxis));
  }

  // Drawn once for a theme and a width; drawing it as it is already costs nothing.
  function draw(box) {
    const width = Math.floor(box.parentElement.clientWidth);
    const wanted = `${isDark() ? "dark" : "light"} ${width}`;
    if (!figures || !width || box.dataset.drawn === wanted) return;
    const { light, dark } = figures[Number(box.dataset.figure)];
    const figure = isDark() ? recoloured(light, dark) : light;
    const layout = { ...figure.layout, width, autosize: false, clickmode: "none", dragmode: false };
    Plotly.react(box, structuredClone(named(figure, width)), structuredClone(layout), config);
    box.dataset.drawn = wanted;
    box.parentElement.classList.add("drawn");
  }

  const near = new Set();
  const watch = new IntersectionObserver((seen) => {
    for (const one of seen) {
      if (one.isIntersecting) { near.add(one.target); draw(one.target); } else near.delete(one.target);
    }
  }, { rootMargin: "800px 0px" });

  const rest = window.requestIdleCallback || ((next) => setTimeout(next, 30));
  let round = 0;

  // What is in sight at once, the others one by one while nothing else is to be done.
  function redraw() {
    const own = ++round;
    near.forEach(draw);
    const left = [...boxes];
    const next = () => {
      const box = left.shift();
      if (own !== round || printing || !box) return;
      draw(box);
      rest(next);
    };
    rest(next);
  }

  function switched() {
    const button = document.getElementById("theme");
    button.textContent = isDark() ? "Light colours" : "Dark colours";
    if (figures) redraw();
  }

  function onPaper(starts) {
    if (printing === starts) return;
    printing = starts;
    root.classList.toggle("printing", starts);
    if (starts) boxes.forEach(draw); else redraw();
  }

  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    switched();
  });
  document.getElementById("print").addEventListener("click", () => window.print());
  system.addEventListener("change", switched);
  addEventListener("beforeprint", () => onPaper(true));
  addEventListener("afterprint", () => onPaper(false));
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (figures && !printing) redraw(); }, 150);
  });

  async function start() {
    root.classList.add("scripted");
    switched();
    const plotly = document.createElement("script");
    plotly.textContent = await unpacked("plotly");
    document.head.append(plotly);
    figures = JSON.parse(await unpacked("figures"));
    boxes.forEach((box) => watch.observe(box));
    redraw();
    root.dataset.ready = "yes";
  }

  start().catch(() => {
    document.getElementById("trouble").hidden = false;
  });
})();
