"""The examples of the table of what is read in docs/formats.md, typed as they stand there."""

from __future__ import annotations

import gzip
import json
import math
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest

from core.cli_calls import Call

ROOT: Final = Path(__file__).resolve().parents[2]
SECTION: Final = (
    (ROOT / "docs" / "formats.md")
    .read_text(encoding="utf-8")
    .split("## Tables in other shapes")[1]
    .split("\n## ")[0]
)
EXAMPLES: Final = re.findall(r"^\|[^`]*?.*\| `calib ([^`]+)` \|$", SECTION, re.MULTILINE)

ROWS: Final = [(0.9, 1), (0.6, 0), (0.8, 1), (0.7, 1)]


def lines(rows: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, rows))


def table(header: str, *rows: str) -> str:
    return "\n".join((header, *rows, ""))


FILES: Final[Mapping[str, str]] = {
    "plain.csv": table("conf,hit", *(f"{p},{ok}" for p, ok in ROWS)),
    "nested.jsonl": lines([{"signals": {"stated": p}, "results": [{"score": ok}]} for p, ok in ROWS]),
    "log.json": json.dumps(
        {
            "dev": [{"confidence": 0.5, "correct": 0}] * 2,
            "test": {"items": [{"confidence": p, "correct": ok} for p, ok in ROWS]},
        }
    ),
    "models.json": json.dumps(
        {name: [{"confidence": p, "correct": ok} for p, ok in ROWS] for name in ("small", "large")}
    ),
    "tasks.json": json.dumps(
        {name: {"quiz": [{"confidence": p, "correct": ok} for p, ok in ROWS]} for name in ("small", "large")}
    ),
    "asked.jsonl": lines(
        [
            {"responses": [{"model": name, "confidence": p, "correct": ok} for name in ("small", "large")]}
            for p, ok in ROWS
        ]
    ),
    "langsmith.csv": table(
        "inputs.question,outputs.answer,outputs.confidence,reference.answer,feedback.correctness,execution_time",
        *(f"2 + {at}?,{at + 2},{p},{at + 2 if ok else at},{ok},0.{at}1" for at, (p, ok) in enumerate(ROWS)),
    ),
    "wide.csv": table("a-conf,a-ok,b-conf,b-ok", *(f"{p},{ok},{p},{ok}" for p, ok in ROWS)),
    "choices.csv": table("p_B,p_A,gold", *(f"{1 - p},{p},{'A' if ok else 'B'}" for p, ok in ROWS)),
    "proba.csv": table(
        "prob_neg,prob_pos,label", *(f"{p},{1 - p},{'neg' if ok else 'pos'}" for p, ok in ROWS)
    ),
    "masses.csv": table("p_B,p_A,gold", *(f"{(1 - p) / 64},{p / 64},{'A' if ok else 'B'}" for p, ok in ROWS)),
    "zeroshot.jsonl": lines(
        [{"labels": ["LABEL_1", "LABEL_0"], "scores": [p, 1 - p], "gold": ok} for p, ok in ROWS]
    ),
    "risk.csv": table("risk,correct", *(f"{1 - p},{ok}" for p, ok in ROWS)),
    "classes.csv": table(
        "y_true,y_pred,y_prob",
        *(
            f"{at % 2 if ok else 1 - at % 2},{at % 2},{p if at % 2 else 1 - p}"
            for at, (p, ok) in enumerate(ROWS)
        ),
    ),
    "words.csv": table("sure,correct", "certain,1", "Unsure,0", "likely,1", "fair,1"),
    "wrong.csv": table("confidence,hallucination", *(f"{p},{'no' if ok else 'yes'}" for p, ok in ROWS)),
    "unnumbered.csv": table("confidence,correct", *(f"{p},{ok}" for p, ok in ROWS)),
    "from1.jsonl": lines([{"choice_probs": [p, 1 - p], "label": 1 if ok else 2} for p, ok in ROWS]),
    "percent.csv": table("conf,correct", *(f"{100 * p}%,{ok}" for p, ok in ROWS)),
    "komma.csv": "\n".join(["confidence;correct", *(f"{p};{ok}".replace(".", ",") for p, ok in ROWS)]),
    "again.csv": table(
        "id,confidence,correct", *(f"{'ab'[at % 2]},{p},{ok}" for at, (p, ok) in enumerate(ROWS))
    ),
    "parts.csv": table(
        "part,id,confidence,correct",
        *(f"{'ab'[at // 2]},{at % 2},{p},{ok}" for at, (p, ok) in enumerate(ROWS)),
    ),
    "logs.csv": table("logprob,correct", *(f"{math.log(p)},{ok}" for p, ok in ROWS)),
    "losses.csv": table("nll,correct", *(f"{-math.log(p)},{ok}" for p, ok in ROWS)),
    "grades.csv": table(
        "confidence,grade", "0.9,Correct", "0.6,Wrong", "0.8,Mostly correct", "0.7,Correct", "1,Unparseable"
    ),
    "accepted.jsonl": lines(
        [{"confidence": p, "prediction": "4" if ok else "5", "gold": ["four", "4"]} for p, ok in ROWS]
    ),
    "said.csv": table("qid,confidence", *(f"q{number},{p}" for number, (p, _) in enumerate(ROWS))),
    "labels.csv": table("item,correct", *(f"q{number},{ok}" for number, (_, ok) in enumerate(ROWS))),
    "verdicts.csv": table(
        "qid,verdict", *(f"q{number},{'fine' if ok else 'poor'}" for number, (_, ok) in enumerate(ROWS))
    ),
    "law.csv": table("id,confidence,correct", *(f"{n},{p},{ok}" for n, (p, ok) in enumerate(ROWS[:2]))),
    "art.csv": table("id,confidence,correct", *(f"{n},{p},{ok}" for n, (p, ok) in enumerate(ROWS[2:]))),
    "both.csv": table("stated,whole,correct", *(f"{p},{p},{ok}" for p, ok in ROWS)),
    "logits.jsonl": lines(
        [{"scores": [5.0, 5.0 + math.log(p / (1 - p))], "gold": "B" if ok else "A"} for p, ok in ROWS]
    ),
    "printed.csv": table(
        "choice_probs,gold", *(f'"{np.array([p, 1 - p])}",{"A" if ok else "B"}' for p, ok in ROWS)
    ),
}
"""Files with the same four answers: name → content."""

PLAIN: Final = table("confidence,correct", *(f"{p},{ok}" for p, ok in ROWS))
TWICE: Final = ("both.csv", "wide.csv", "models.json", "tasks.json", "asked.jsonl")
"""Files that give the four answers twice."""


def write_files(folder: Path) -> None:
    for name, content in FILES.items():
        (folder / name).write_text(content)
    pl.DataFrame(ROWS, schema=["confidence", "correct"], orient="row").write_ipc_stream(
        folder / "data-00000-of-00001.arrow"
    )
    (folder / "packed.csv.gz").write_bytes(gzip.compress(PLAIN.encode()))
    with ZipFile(folder / "run.zip", "w") as archive:
        archive.writestr("README.md", "How these were made.")
        archive.writestr("run/quiz.csv", PLAIN)


def test_every_line_of_the_table_has_an_example() -> None:
    n_lines = len(re.findall(r"^\| ", SECTION, re.MULTILINE))
    assert len(EXAMPLES) == n_lines - 1


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_gives_the_four_answers(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    _, *words = shlex.split(example.replace("\\|", "|"))
    answer = call("score", *words, "--metric", "accuracy", "--metric", "brier", "--json")
    assert answer.code == 0
    found = [(element["metric"], element["value"]) for element in answer.elements]
    brier = sum((p - ok) ** 2 for p, ok in ROWS) / len(ROWS)
    n_runs = 2 if set(words) & set(TWICE) else 1
    assert [name for name, _ in sorted(found)] == [*["accuracy"] * n_runs, *["brier"] * n_runs]
    assert [value for _, value in sorted(found)] == pytest.approx([*[0.75] * n_runs, *[brier] * n_runs])
