"""What do the tests of files without known names share: the proposed mapping, and one method's figures?"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from calib_core import readers
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import check_file
from calib_core.results.score import score
from calib_core.runs import AnswerRun

Figures = tuple[int, float, float]
"""n, accuracy, ECE (M = 10)."""


def printed(path: Path) -> dict[str, str]:
    """The mapping that a person gets who types what is proposed for a file, rivals left aside."""
    text = check_file(readers.read(path)).message
    words = shlex.split(re.sub(r" \(or instead: .*", "", text[text.index("--map") :]))
    return dict(word.rsplit("=", 1) for word in words if word != "--map")


def figures(run: AnswerRun, method: str, options: MethodOptions | None = None) -> Figures:
    """What the program says of one method."""
    evidence = gather_evidence(run, method, options or MethodOptions())
    accuracy, error = (score(evidence, metric).value for metric in ("accuracy", "ece"))
    assert accuracy is not None
    assert error is not None
    return evidence.n_used, accuracy, error
