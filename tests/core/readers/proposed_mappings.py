"""The mapping proposed for files without known column names, and the figures of one method."""

from __future__ import annotations

from pathlib import Path

from calib_core import readers
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import FileReport, check_file
from calib_core.results.score import score
from calib_core.runs import AnswerRun

Figures = tuple[int, float, float]
"""n, accuracy, ECE (M = 10)."""


def tried_report(path: Path) -> FileReport:
    """The report on a file that is read as it lies, for which what its columns may mean is tried."""
    return check_file(readers.read(path), read_again=lambda further: readers.read(path, options=further))


def proposed_mapping(path: Path) -> dict[str, str]:
    """The mapping that is proposed for a file."""
    proposal = tried_report(path).proposal
    assert proposal is not None
    return dict(proposal.mapping)


def figures(run: AnswerRun, method: str, options: MethodOptions | None = None) -> Figures:
    """What the program says of one method."""
    evidence = gather_evidence(run, method, options or MethodOptions())
    accuracy, error = (score(evidence, metric).value for metric in ("accuracy", "ece"))
    assert accuracy is not None
    assert error is not None
    return evidence.n_used, accuracy, error
