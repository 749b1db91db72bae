"""The server's memory stays constant while a user goes through the pages.

The visits are those that a browser asks the server for; what it does with them is its own memory.
"""

from __future__ import annotations

import time
from pathlib import Path

import psutil

from app_server import Server, SharedServer
from predictions import choices, write_jsonl
from server_visit import session

MEGABYTE = 1_000_000
LIMIT = 20 * MEGABYTE


def resident_bytes(server: Server) -> int:
    """The lowest of a few readings of the server's resident memory, in bytes."""
    readings: list[int] = []
    for _ in range(4):
        readings.append(psutil.Process(server.pid).memory_info().rss)
        time.sleep(0.3)
    return min(readings)


def write_four(data: Path) -> None:
    write_jsonl(data / "four.jsonl", choices())


def twenty_visits(first: int) -> list[tuple[str, str]]:
    """Twenty visits, page and query, none of them twice with the same M; ends on the page it began on."""
    return [
        *(("reliability", f"m={m}") for m in range(first, first + 5)),
        ("reliability", f"m={first + 4}&log=1"),
        ("reliability", f"m={first + 4}"),
        ("reliability", f"m={first + 4}&bin={first + 4}"),
        ("reliability", f"m={first + 4}&bin={first + 4}&search=c{first}"),
        *(("reliability", f"m={m}") for m in range(first + 5, first + 8)),
        *(("concentration", f"m={m}") for m in range(first + 8, first + 11)),
        ("files", ""),
        ("", ""),
        ("methods", f"m={first + 11}"),
        *(("reliability", f"m={m}") for m in range(first + 12, first + 14)),
    ]


def test_twenty_more_visits_need_no_more_memory(shared_server: SharedServer) -> None:
    server = shared_server.holding(write_four)
    with session(server) as own:

        def twenty(first: int) -> None:
            visits = twenty_visits(first)
            assert len(visits) == 20
            for page, query in visits:
                shown = own.open(page, f"run=four&{query}")
                assert shown.failed == []
                if page == "reliability":
                    asked = query.partition("&")[0].removeprefix("m=")
                    assert any(f"M={asked}," in text for text in shown.texts)

        twenty(11)  # everything is loaded
        added: list[int] = []
        for first in (41, 61):  # a second round only if the first was noisy: a leak repeats
            before = resident_bytes(server)
            twenty(first)
            added.append(resident_bytes(server) - before)
            if added[-1] < LIMIT:
                break
    assert min(added) < LIMIT, [f"{size / MEGABYTE:.1f} MB" for size in added]
