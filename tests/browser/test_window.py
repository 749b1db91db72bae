"""The browser tests' own instruments detect what they are meant to detect."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from textwrap import dedent

import pytest

from app_server import ROOT, Serve, Server
from browser_pages import wait_until
from window import Browse, Settled, Windows

KEPT = "() => [localStorage.getItem('kept'), document.cookie.includes('kept')]"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A small app under the project's settings: a slow answer, a table, a picture from another host."""
    shutil.copytree(ROOT / ".streamlit", tmp_path / ".streamlit")
    path = tmp_path / "app.py"
    path.write_text(
        dedent("""
            import sys, time
            import streamlit as st

            st.text(f"started with {sys.argv[1:]}")
            if st.button("slow"):
                time.sleep(0.8)
                st.text("slow is done")
            if st.button("stray"):
                st.markdown("![picture](http://calib.invalid/picture.png)")
            st.dataframe({"a": [1, 2, 3]}, alt="three rows")
        """)
    )
    return path


def test_what_a_page_asks_and_of_whom_is_seen(
    app: Path, serve: Serve, browse: Browse, settled: Settled
) -> None:
    server = serve(app.parent, app=app)
    window = browse(color_scheme="dark", width=800, height=600)
    page = window.open(server.url)
    assert page.get_by_text(f"started with ['--data', '{app.parent}']").count() == 1
    assert page.get_by_test_id("stDataFrame").count() == 1
    page.get_by_role("button", name="slow").click()
    settled(page)
    assert page.get_by_text("slow is done").count() == 1
    assert any(url.startswith("ws://127.0.0.1") for url in window.asked)
    assert (window.strangers(), window.errors) == ([], [])
    page.get_by_role("button", name="stray").click()
    settled(page)
    wait_until(page, window.strangers, ["calib.invalid"])
    wait_until(page, lambda: window.errors != [], wanted=True)
    os.kill(server.pid, 0)
    server.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)


def test_a_window_has_nothing_of_the_one_before(server: Server, windows: Windows) -> None:
    url = f"{server.url}/_stcore/health"
    before = windows.open("light", 800, 600)
    before.page.goto(url)
    before.page.evaluate("() => { localStorage.kept = '1'; document.cookie = 'kept=1; max-age=99' }")
    assert before.page.evaluate(KEPT) == ["1", True]
    windows.close(before)
    after = windows.open("dark", 420, 600)
    assert after.context is before.context
    assert after.asked == after.errors == []
    after.page.goto(url)
    assert after.page.evaluate(KEPT) == [None, False]
    assert after.page.evaluate("innerWidth") == 420
    assert after.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert [asked for asked in after.asked if asked == url] == [url]
    windows.close(after)


def test_a_server_that_cannot_start_says_why(tmp_path: Path, serve: Serve) -> None:
    with pytest.raises(RuntimeError, match="does not exist"):
        serve(None, app=tmp_path / "nothing.py")
