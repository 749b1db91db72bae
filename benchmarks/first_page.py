"""Compare how long the first page of a large folder takes, with and without reading in the background.

Makes a folder of lm-evaluation-harness logs, a file for each subject and model, and some plain tables. Opens
Start on it in a separate process each time: once waiting until every file is read, as the app did before it
read in the background; once as it is, with an empty cache; once more, with what the first start kept. A
process runs the page's script without a browser. Writes first_page.md beside this script.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Final

import numpy as np

FILES: Final = 700
MODELS: Final = 12
SUBJECTS: Final = 57
ROWS: Final = 100
SEED: Final = 20261123
STAMP: Final = "2026-11-01T12-00-00.000000"
REPORT: Final = Path(__file__).with_suffix(".md")
ROOT: Final = Path(__file__).resolve().parents[1]
WAYS: Final = {
    "all files first": (0, True),
    "background, first start": (1, False),
    "background, next start": (1, False),
}
"""Way of reading → number of its cache, empty at first, and whether the page waits for every file."""

HEADER: Final = (
    "| way of reading | first page, s | × all files first | files on it | all read, s | then a click, s |",
    "| --- | --: | --: | --: | --: | --: |",
)
INTRODUCTION: Final = (
    "Written by `python benchmarks/first_page.py`. A folder of {files:,} files of {rows} rows ({size:.0f} "
    "MB): logs of lm-evaluation-harness of {models} models, one file per subject, and plain tables. Each "
    "way in its own process; seconds from the start of the page's script, the app's imports included, the "
    "fastest of {times}. First page: Start is drawn. All read: since the same start. Then a click: the "
    "page once more, with all files. The first way is how files were read before, two at a time."
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds until the first page, files on it, seconds until all are read, seconds of the next run."""

    first: float
    files: int
    complete: float
    again: float


def write_folder(folder: Path, files: int) -> None:
    """Logs of as many models as fit, and plain tables for the rest."""
    models = min(MODELS, max(1, files // SUBJECTS))
    for model in range(models):
        path = folder / f"model-{model:02d}"
        path.mkdir()
        for subject in range(min(SUBJECTS, files // models)):
            write_log(path / f"samples_mmlu_subject_{subject:02d}_{STAMP}.jsonl", model, subject)
        tasks = [f"mmlu_subject_{subject:02d}" for subject in range(SUBJECTS)]
        results = {
            "results": {task: {"alias": task} for task in tasks},
            "group_subtasks": {"mmlu": tasks},
            "configs": {task: {"task": task, "dataset_path": "lab/mmlu", "num_fewshot": 0} for task in tasks},
            "config": {"model": "hf", "model_args": f"pretrained=lab/model-{model:02d}"},
            "model_name": f"lab/model-{model:02d}",
        }
        (path / f"results_{STAMP}.json").write_text(json.dumps(results), encoding="utf-8")
    for number in range(files - models * min(SUBJECTS, files // models)):
        random = np.random.default_rng(SEED + number)
        confidence = random.beta(5, 2, ROWS).round(4)
        correct = random.random(ROWS) < confidence
        rows = (f"q{row},{confidence[row]},{int(correct[row])}" for row in range(ROWS))
        text = "\n".join(("id,confidence,correct", *rows))
        (folder / f"table-{number:02d}.csv").write_text(f"{text}\n", encoding="utf-8")


def write_log(path: Path, model: int, subject: int) -> None:
    """A log as the harness writes it, with the prompt of each choice."""
    random = np.random.default_rng((SEED, model, subject))
    with path.open("w", encoding="utf-8") as stream:
        for row in range(ROWS):
            choices = [f"answer {letter} of {subject}-{row}" for letter in "ABCD"]
            question = f"Question {row} of subject {subject}: which of the four answers follows from it?"
            prompt = f"{question}\n" + "\n".join(map(". ".join, zip("ABCD", choices, strict=True)))
            logs, gold = np.log(random.dirichlet(np.ones(4))), int(random.integers(4))
            answers = [[f"{value:.6f}", "False"] for value in logs]
            record = {
                "doc_id": row,
                "doc": {
                    "question": question,
                    "subject": f"s{subject:02d}",
                    "choices": choices,
                    "answer": gold,
                },
                "target": str(gold),
                "arguments": {
                    f"gen_args_{at}": {"arg_0": f"{prompt}\nAnswer:", "arg_1": f" {letter}"}
                    for at, letter in enumerate("ABCD")
                },
                "resps": [[answer] for answer in answers],
                "filtered_resps": answers,
                "acc": float(int(np.argmax(logs)) == gold),
            }
            stream.write(json.dumps(record) + "\n")


def measured(folder: Path, cache: Path, *, waits: bool) -> Cost:
    """The cost of one start, in a separate process."""
    command = [sys.executable, __file__, "--folder", str(folder), *(["--wait"] if waits else [])]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "XDG_CACHE_HOME": str(cache),
        "CALIB_DATA": str(folder),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # makes each start compile all anew
    done = subprocess.run(  # noqa: S603 - this script
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    )
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def open_here(*, waits: bool) -> Cost:
    """The cost of a start in this process."""
    started = time.perf_counter()
    from streamlit.testing.v1 import AppTest  # noqa: PLC0415  its import is part of the start

    from pages.state import cache  # noqa: PLC0415

    if waits:
        cache.FIRST_PAGE_SECONDS = inf
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=3600)
    app.run()
    assert not app.exception, app.exception
    first = time.perf_counter() - started
    n_files = cache.reading_progress().n_files - _n_missing(app)
    while not cache.reading_progress().is_finished:
        time.sleep(0.05)
    complete = time.perf_counter() - started
    app.run()
    begun = time.perf_counter()
    app.run()
    assert not app.exception, app.exception
    return Cost(first, n_files, complete, time.perf_counter() - begun)


def _n_missing(app: object) -> int:
    """How many files the page that was drawn stands without."""
    note = app.session_state["_partial_note"]  # type: ignore[attr-defined]
    if not note:
        return 0
    n_read, _, n_files, *_ = note.replace(",", "").split()
    return int(n_files) - int(n_read)


def line(way: str, costs: list[Cost], slowest: float) -> str:
    """One row of the table."""
    first, complete, again = (
        min(getattr(cost, name) for cost in costs) for name in ("first", "complete", "again")
    )
    files = max(cost.files for cost in costs)
    return f"| {way} | {first:.1f} | {first / slowest:.2f} | {files:,} | {complete:.1f} | {again:.2f} |"


def machine(before: float) -> str:
    """The machine and versions; before: the machine's load at the start."""
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"load {before:.1f} before and {os.getloadavg()[0]:.1f} after, Python {platform.python_version()}, "
        f"streamlit {version('streamlit')}, polars {version('polars')}."
    )


def main() -> None:
    """Measures, and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="open this folder here, and print what it took")
    parser.add_argument("--wait", action="store_true", help="wait until every file is read")
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    if given.folder is not None:
        cost = open_here(waits=given.wait)
        print(json.dumps({name: getattr(cost, name) for name in Cost.__slots__}))
        return
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "predictions"
        folder.mkdir()
        write_folder(folder, given.files)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
        costs: dict[str, list[Cost]] = {way: [] for way in WAYS}
        for time_ in range(given.times):
            for way, (number, waits) in WAYS.items():
                cache = Path(temporary) / f"cache-{time_}-{number}"
                costs[way].append(measured(folder, cache, waits=waits))
    slowest = min(cost.first for cost in costs["all files first"])
    table = "\n".join((*HEADER, *(line(way, costs[way], slowest) for way in WAYS)))
    models = min(MODELS, max(1, given.files // SUBJECTS))
    introduction = INTRODUCTION.format(
        files=given.files, rows=ROWS, size=size, models=models, times=given.times
    )
    print(
        text := "\n\n".join(("# The first page of a large folder", introduction, table, machine(before)))
        + "\n"
    )
    REPORT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
