"""Write what each of 100 sampled answers to a puzzle is: `python -m demo.game24 FOLDER`, recipe R4.

FOLDER holds the logs named in `SOURCE`, as published. Of their texts only facts are kept: which samples of a
puzzle give the same expression, and which are right according to the log.
"""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from demo.manifest import record

RECIPE: Final = "R4.2"
NAME: Final = "game24.answers.jsonl"
LOGS: Final = {
    "GPT-4, chain of thought": "gpt-4_0.7_naive_cot_sample_100_start900_end1000.json",
    "GPT-4, answer only": "gpt-4_0.7_naive_standard_sample_100_start900_end1000.json",
}
"""Name of a run → its log."""
SOURCE: Final = {
    "repository": "https://github.com/princeton-nlp/tree-of-thought-llm",
    "commit": "ab400345c5ea39d28ea6d7d3be0e417b11113c87",
    "files": [f"logs/game24/{log}" for log in LOGS.values()],
    "licence": "MIT",
    "copyright": "Copyright (c) 2023 Shunyu Yao",
}

METADATA: Final[dict[str, object]] = {
    "format": "calib-answers",
    "version": 1,
    "dataset": "Game of 24",
    "temperature": 0.7,
    "sampling": {"temperature": 0.7, "n": 100},
    "created_by": f"python -m demo.game24, recipe {RECIPE}",
    "notes": [
        (
            "GPT-4 on the Game of 24, with chain of thought and without, from logs of Tree of Thoughts "
            "(Yao et al., 2023)."
        ),
        "MIT licence, Copyright (c) 2023 Shunyu Yao.",
        "sample_cluster: samples with the same expression have the same number; null where none can be read.",
    ],
}

_ANSWER: Final = re.compile(r"Answer:([^=\n]*)")
_EXPRESSION: Final = re.compile(r"[0-9+\-*/().]+")


def expression(text: str) -> str | None:
    r"""What a sample gives as its answer, up to the equals sign and without white space; None if unreadable.

    Examples
    --------
    >>> expression("Steps:\n6 - 4 = 2\nAnswer: (6 - 4) * 12 = 24")
    '(6-4)*12'
    >>> expression("Answer: None")
    """
    found = _ANSWER.findall(text)
    answer = re.sub(r"\s", "", found[-1]) if found else ""
    return answer if _EXPRESSION.fullmatch(answer) else None


def clusters(texts: list[str]) -> list[int | None]:
    """Number the expressions of one puzzle's samples in the order in which they first occur."""
    numbers: dict[str, int] = {}
    found = map(expression, texts)
    return [None if one is None else numbers.setdefault(one, len(numbers)) for one in found]


def rows(folder: Path) -> list[dict[str, object]]:
    """One row per run and puzzle. One log tells what is right in `infos`, the other in `accs`."""
    return [
        {
            "model": model,
            "id": str(puzzle["idx"]),
            "sample_cluster": clusters(puzzle["ys"]),
            "sample_correct": [sample["r"] for sample in puzzle["infos"]]
            if "infos" in puzzle
            else [int(right) for right in puzzle["accs"]],
        }
        for model, log in LOGS.items()
        for puzzle in _puzzles(folder / log)
    ]


def _puzzles(log: Path) -> list[dict[str, Any]]:
    return json.loads(log.read_text(encoding="utf-8"))


def write(source: Path, folder: Path) -> None:
    """Write the file into `folder` from the logs in `source`, and its entry in the manifest."""
    made = rows(source)
    lines = [json.dumps(line, separators=(",", ":")) for line in ({"calib": METADATA}, *made)]
    (folder / NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")
    record(folder, {NAME: len(made)}, recipe=RECIPE, seed=None, made_with=(), source=SOURCE)


def main() -> None:
    """Write data/game24.answers.jsonl from the folder named on the command line."""
    parser = ArgumentParser(prog="python -m demo.game24", description="Keep what 100 samples a puzzle say.")
    parser.add_argument("folder", type=Path, help="the folder with the logs")
    write(parser.parse_args().folder, Path(__file__).parent.parent / "data")


if __name__ == "__main__":
    main()
