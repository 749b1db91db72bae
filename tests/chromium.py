"""Which Chromium drives the browser tests, and how is it started?

`python tests/chromium.py` prints its path, or says on stderr what to do; with `--install` it first
installs Debian's package if it is allowed to.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

SHELL: Final = "chromium-headless-shell"
"""Chromium without windows, a package of its own. Pages cost it a fifth less processor time."""

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", SHELL)
"""What people have comes first: for pictures, and for times that a person would see."""

NAMES: Final = (SHELL, *BROWSERS[:-1])
"""For tests."""

FLAGS: Final = (
    "--no-sandbox",  # the sandbox cannot be set up as root in a container
    "--disable-gpu",
    "--font-render-hinting=none",  # letters as wide as in a window, also where there are no windows
    "--disable-quic",
    "--no-first-run",
    "--process-per-site",  # the next page reuses the compiled scripts
    # A page is closed before its scripts have gained what optimising them costs: a fifth of opening it.
    # And a process that loads page after page need not keep its memory small: that took a twentieth.
    "--js-flags=--no-opt,--no-maglev,--no-memory-reducer,--initial-heap-size=512",
    # Background requests of the browser: tests count requests, and these are not the page's.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

DEBIAN_PACKAGES: Final = (SHELL, "chromium")
"""The first of these that can be installed is enough."""

FONTS: Final = "fonts-dejavu-core"
"""Letters for what the page's own fonts do not have."""

HELP: Final = (
    "The browser tests need a Chromium, and none was found. Install one:\n"
    f"    sudo apt-get install --yes {DEBIAN_PACKAGES[-1]} {FONTS}\n"
    "Or name one that you have: CHROMIUM=/path/to/chrome make test\n"
    "Or leave the browser tests out: make check-fast"
)


class NoChromiumError(LookupError):
    """No browser found, or CHROMIUM names something that cannot be run; the message says what to do."""


def find(environment: Mapping[str, str] = os.environ, names: Sequence[str] = NAMES) -> Path:
    """The browser to use: what CHROMIUM names, else the first of `names` on PATH.

    Raises NoChromiumError. A wrong CHROMIUM is an error, never a reason to take another browser.
    """
    search_path = environment.get("PATH")
    named = environment.get("CHROMIUM")
    for name in (named,) if named else names:
        if found := shutil.which(name, path=search_path):
            return Path(found)
    raise NoChromiumError(f"CHROMIUM is {named!r}, which is no program that can be run." if named else HELP)


def find_or_install(environment: Mapping[str, str] = os.environ, user_id: int | None = None) -> Path:
    """As `find`; where there is none, the superuser of a Debian gets a package installed first.

    user_id: who asks, this process's user by default. Raises NoChromiumError.
    """
    user_id = os.geteuid() if user_id is None else user_id
    try:
        return find(environment)
    except NoChromiumError:
        apt_get = shutil.which("apt-get", path=environment.get("PATH"))
        if environment.get("CHROMIUM") or user_id != 0 or apt_get is None:
            raise
    sys.stderr.write("Installing Debian's Chromium for the browser tests (once) ...\n")
    install_environment = {**environment, "DEBIAN_FRONTEND": "noninteractive"}
    installs = (["install", "--yes", "--no-install-recommends", name, FONTS] for name in DEBIAN_PACKAGES)
    for words in (["update"], *installs):
        # stdout carries only the path, so the installer's output goes to stderr.
        subprocess.run([apt_get, "-qq", *words], env=install_environment, stdout=sys.stderr, check=False)
        with suppress(NoChromiumError):
            return find(environment)
    raise NoChromiumError(HELP)


def main() -> int:
    """Prints the path and returns 0, or says on stderr what to do and returns 1."""
    look = find_or_install if sys.argv[1:] == ["--install"] else find
    try:
        sys.stdout.write(f"{look()}\n")
    except NoChromiumError as reason:
        sys.stderr.write(f"{reason}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
