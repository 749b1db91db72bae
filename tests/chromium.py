"""Which Chromium drives the browser tests, and how is it started?

`python tests/chromium.py` prints its path, or says on stderr what to do; with `--install` it first
installs Debian's package if it is allowed to.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_DISABLED_FEATURES: Final = (
    # The lists below the address bar, which nobody sees here: pages of their own, loaded for each profile.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    # Of Playwright's own list, which this one replaces: requests of the browser, and what moves or delays.
    "AimEnabled",
    "HttpsUpgrades",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
)

FLAGS: Final = (
    "--no-sandbox",  # the sandbox cannot be set up as root in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--process-per-site",  # the next page reuses the compiled scripts
    # A page is closed before its scripts have gained what optimising them costs: a fifth of opening it.
    "--js-flags=--no-opt,--no-maglev",
    # Background requests of the browser: tests count requests, and these are not the page's.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(_DISABLED_FEATURES)}",
)

DEBIAN_PACKAGES: Final = ("chromium", "fonts-dejavu-core")
"""The browser, and letters for what the page's own fonts do not have."""

HELP: Final = (
    "The browser tests need a Chromium, and none was found. Install one:\n"
    f"    sudo apt-get install --yes {' '.join(DEBIAN_PACKAGES)}\n"
    "Or name one that you have: CHROMIUM=/path/to/chrome make test\n"
    "Or leave the browser tests out: make check-fast"
)


class NoChromiumError(LookupError):
    """No browser found, or CHROMIUM names something that cannot be run; the message says what to do."""


def find(environment: Mapping[str, str] = os.environ) -> Path:
    """The browser to use: what CHROMIUM names, else the first of `NAMES` on PATH.

    Raises NoChromiumError. A wrong CHROMIUM is an error, never a reason to take another browser.
    """
    search_path = environment.get("PATH")
    named = environment.get("CHROMIUM")
    for name in (named,) if named else NAMES:
        if found := shutil.which(name, path=search_path):
            return Path(found)
    raise NoChromiumError(f"CHROMIUM is {named!r}, which is no program that can be run." if named else HELP)


def find_or_install(environment: Mapping[str, str] = os.environ, user_id: int | None = None) -> Path:
    """As `find`; where there is none, the superuser of a Debian gets its package installed first.

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
    for words in (["update"], ["install", "--yes", "--no-install-recommends", *DEBIAN_PACKAGES]):
        # stdout carries only the path, so the installer's output goes to stderr.
        subprocess.run([apt_get, "-qq", *words], env=install_environment, stdout=sys.stderr, check=False)
    return find(environment)


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
