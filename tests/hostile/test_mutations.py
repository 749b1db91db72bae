"""Every kind of file, spoilt in every way, leads to a result or a message, and no number changes silently.

`verdict` says what has to hold for each; `make fuzz` is a longer run.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from hostile import mutate
from hostile.fuzz import WAIT_SECONDS, answer, judged, table
from hostile.good_files import LOGS, Good, goods
from hostile.verdict import Judge

TIMES: Final[dict[mutate.Change, int]] = {mutate.change_numbers: 3}
"""How often each kind of file is spoilt in this way; once in any other."""
BESIDE: Final = 2
"""How often each file beside one is spoilt, in whatever way."""
MOST_SEEDS: Final = 10_000


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Good, ...]:
    """The good files."""
    return goods(tmp_path_factory.mktemp("goods"))


def seeds_of_every_change(known: tuple[Good, ...]) -> list[int]:
    """The first seeds that spoil each kind of file once in every way, and those beside it."""
    wanted = Counter[tuple[str, str, object]]()
    for good in known:
        changes = mutate.BINARY if good.main in good.binary else mutate.TEXT
        wanted.update({(good.id, good.main, change): TIMES.get(change, 1) for change in set(changes)})
        wanted.update({(good.id, name, "any"): BESIDE for name in good.files if name != good.main})
    chosen: list[int] = []
    corrupter = mutate.Corrupter(known)
    for seed in range(MOST_SEEDS):
        good, name, changes, _ = corrupter.drawn(seed)
        key = good.id, name, changes[0] if name == good.main else "any"
        if len(changes) == 1 and wanted[key] > 0:
            wanted[key] -= 1
            chosen.append(seed)
    assert not +wanted, "too few seeds"
    return chosen


def test_spoilt_files(known: tuple[Good, ...]) -> None:
    seeds = seeds_of_every_change(known)
    said = list(judged(seeds))
    assert [one["seed"] for one in said] == seeds
    assert [one for one in said if one["faults"]] == []
    outcomes = {one["outcome"] for one in said}
    assert {"equal", "lawful", "told", "asks", "refused"} <= outcomes, (
        "the mutations are all too mild, or all too rough"
    )


def test_every_kind_of_file_is_among_them(known: tuple[Good, ...]) -> None:
    made = {"csv", "jsonl", "json", "parquet", "npz-tokens", "npz-answers", "npy", "sums", "topk"}
    made |= {"arrow-stream", "arrow-lists", "arrow-zstd", "gzip", "zstd", "zip"}
    assert {good.id for good in known} > made | {id_ for id_, *_ in LOGS}


def test_a_seed_always_gives_the_same_mutation(known: tuple[Good, ...]) -> None:
    corrupter = mutate.Corrupter(known)
    assert corrupter.spoilt(7) == corrupter.spoilt(7)
    assert any(corrupter.spoilt(seed).files != good.files for seed, good in enumerate(known))


@pytest.mark.parametrize("change", dict.fromkeys(mutate.TEXT + mutate.BINARY), ids=lambda one: one.__name__)
def test_every_change_changes(change: mutate.Change) -> None:
    data = b'{"id": "a", "n": 0.25}\n{"id": "b", "n": 0.75}\n{"id": "c", "n": 1}\n'
    assert any(change(random.Random(seed), data) != data for seed in range(5))  # noqa: S311  not keys


OTHERWISE: Final = {
    "csv": (b"0.", b"0.1"),
    "jsonl": (b'"p_true": 0.', b'"p_true": 0.1'),
    "openai": (b'"logprob": -', b'"logprob": -1'),
    "tgi": (b'"logprob": -0', b'"logprob": -1'),
    "lm_eval": (b"mcq question", b"other question"),
    "canonical": (b"-0.", b"-1."),
}
"""Good file → what is in it, and what stands there instead, everywhere."""


@pytest.mark.parametrize("id_", OTHERWISE)
def test_a_silent_change_is_noticed(tmp_path: Path, known: tuple[Good, ...], id_: str) -> None:
    good = next(good for good in known if good.id == id_)
    judge = Judge(tmp_path / "work", [good])
    altered = {**good.files, good.main: good.files[good.main].replace(*OTHERWISE[id_])}
    assert judge.faults(good, altered)["faults"] == []
    assert judge.faults(good, good.files, read=altered)["faults"], "read otherwise than the file says"
    assert judge.faults(good, good.files, read=good.files) == {"outcome": "equal", "faults": []}


def test_a_silently_lost_row_is_noticed(tmp_path: Path, known: tuple[Good, ...]) -> None:
    for good in known:
        if good.id in ("csv", "jsonl"):
            judge = Judge(tmp_path / "work", [good])
            shorter = {**good.files, good.main: good.files[good.main].rstrip().rpartition(b"\n")[0] + b"\n"}
            assert judge.faults(good, shorter)["faults"] == []
            assert judge.faults(good, good.files, read=shorter)["faults"], good.id


def test_the_table_counts_every_outcome_of_every_way() -> None:
    counted = table({("cut", "refused"): 1_200, ("cut", "told"): 1, ("flip", "told"): 2})
    first, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in counted.splitlines()]
    assert [dict(zip(first[1:], row[1:], strict=True))["told"] for row in rows] == ["1", "2", "3"]
    assert [(row[0], row[first.index("refused")]) for row in rows][-1] == ("all", "1,200")


@pytest.mark.parametrize(("does", "said"), [("time.sleep(1)", b"read\n"), ("while True: pass", b"")])
def test_a_reading_process_is_given_up_for_its_processor_time(does: str, said: bytes) -> None:
    code = f"import time\ninput()\n{does}\nprint('read')"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    begun = time.monotonic()
    with process:
        assert answer(process, b"1\n", 0.5) == said
        process.kill()
    assert time.monotonic() - begun < WAIT_SECONDS / 2
