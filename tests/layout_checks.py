"""Checks the layout of a page: nothing cut off, no overlaps, no sideways scrolling."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

from window import settled

WIDTHS = (1920, 1440, 1280, 1024, 420)
KNOWN = "404 (Not Found)"
"""Streamlit looks for its server beside the page's address first, and above it when it is not there."""

SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll('[data-testid=stMain]')]
    .map(box => box.scrollWidth - box.clientWidth)"""

CUT_OFF = """() => {
    const seen = '[data-testid=stMetricValue], [data-testid=stMetricLabel], [data-testid=stPageLink-NavLink],'
        + ' h1, h2, h3, [data-testid=stCaptionContainer], [data-testid=stAlertContainer],'
        + ' [data-testid=stText], [data-testid=stMain] button, [data-testid=stMain] label';
    return [...document.querySelectorAll(seen)]
        .filter(box => box.checkVisibility() && box.clientWidth > 0)
        .filter(box => !box.closest('[data-testid=stElementToolbar]'))
        .filter(box => [box, ...box.querySelectorAll('*')].some(
            part => part.clientWidth > 2 && part.scrollWidth > part.clientWidth + 1
                && getComputedStyle(part).overflowX !== 'visible'))
        .map(box => box.dataset.testid + ': ' + box.innerText.slice(0, 60));
}"""

OVERLAPPING = """() => {
    const texts = '.xtick text, .ytick text, .bartext, .legendtext, .annotation-text, .xtitle, .ytitle,'
        + ' .x2title, .y2title, .x2tick text, .y2tick text, .y3title, .y3tick text';
    const found = [];
    for (const plot of document.querySelectorAll('.js-plotly-plot')) {
        const boxes = [...plot.querySelectorAll(texts)].filter(text => text.textContent.trim())
            .map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
        const edge = plot.getBoundingClientRect();
        for (const [words, box] of boxes)
            if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.bottom > edge.bottom + 1
                || box.top < edge.top - 1) found.push('outside: ' + words);
        boxes.forEach(([words, a], at) => boxes.slice(at + 1).forEach(([others, b]) => {
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (across > 3 && down > 3) found.push(words + ' | ' + others);
        }));
    }
    return found;
}"""

TILES_APART = """() => {
    const tiles = [...document.querySelectorAll('[data-testid=stMetric]')];
    const boxes = tiles.map(tile => tile.getBoundingClientRect());
    return boxes.flatMap((a, at) => boxes.slice(at + 1).filter(
        b => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)).length;
}"""

AT_REST = """() => new Promise(done => {
    const began = performance.now();
    let last = '', same = 0;
    const look = () => {
        const main = document.querySelector('[data-testid=stMain]');
        const plots = [...document.querySelectorAll('.js-plotly-plot')];
        const drawn = plots.map(plot => plot.querySelector('.main-svg')?.getBoundingClientRect());
        const fit = plots.every((plot, at) => {
            const place = plot.closest('.stPlotlyChart');
            return drawn[at] && Math.abs(place.clientWidth - drawn[at].width) <= 1
                && Math.abs(place.clientHeight - drawn[at].height) <= 1;
        });
        const sizes = drawn.flatMap(box => [box?.width, box?.height]);
        const now = [main.scrollHeight, main.scrollWidth, ...sizes].join();
        same = fit && now === last ? same + 1 : 0;
        last = now;
        if (same >= 6 || performance.now() - began > 5000) done(); else requestAnimationFrame(look);
    };
    look();
})"""
"""Every figure fills its place, and nothing has moved for six frames."""


def no_fault(page: Page) -> None:
    assert page.evaluate(SIDEWAYS) == [0, 0], "the page scrolls sideways"
    assert (cut_off := page.evaluate(CUT_OFF)) == [], cut_off
    assert (overlapping := page.evaluate(OVERLAPPING)) == [], overlapping
    assert page.evaluate(TILES_APART) == 0
    assert page.locator("[data-testid=stException]").count() == 0
    assert "Traceback" not in page.locator("body").inner_text()


def resize(page: Page, width: int, height: int = 900) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(AT_REST)
    settled(page, quiet=0.1)


def figures_fit(page: Page, width: int, *keys: str) -> None:
    """The figures of these keys are as wide as they can be read, and no wider than the page."""
    for key in keys:
        box = page.locator(f".st-key-{key} .js-plotly-plot").bounding_box()
        assert box is not None
        assert 250 < box["width"] <= width


def bottom(part: Locator) -> float:
    """Distance in pixels from the top of the window to the element's lower end."""
    box = part.bounding_box()
    assert box is not None
    assert box["height"] > 20
    assert box["y"] >= 0
    return box["y"] + box["height"]
