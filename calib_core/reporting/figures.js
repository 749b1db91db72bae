// Shared by reports and notebooks: packed data, and figures that are stored once for both themes and all widths.
const calibFigures = (() => {
  "use strict";

  async function unpack(element) {
    const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
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

  return { unpack, applyChanges, tracesForWidth };
})();
