r"""Can a language model's confidence be believed?

Load saved predictions and compute a calibration metric. Data frames, lists of dicts and
arrays are loaded as files are (`load(confidence=c, correct=y)`), and results show themselves in a notebook:

>>> import tempfile
>>> from calib_core import load, score
>>> from pathlib import Path
>>> folder = tempfile.TemporaryDirectory()
>>> file = Path(folder.name) / "quiz.csv"
>>> _ = file.write_text("confidence,correct\n0.9,1\n0.9,0\n0.6,1\n0.6,1\n")
>>> (run,) = load(file)
>>> number = score(run, method="given", metric="ece")
>>> round(number.value, 4)
0.4
>>> number.recipe
'ECE-L1, equal width, M=10, right-closed, as given, n=4/4'
>>> folder.cleanup()
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from calib_core.version import VERSION

if TYPE_CHECKING:
    from calib_core import bins, errors, methods, metrics
    from calib_core.api import (
        abstention,
        audit,
        check,
        compare,
        compare_methods,
        concentration,
        groups,
        judge,
        load,
        metric_value,
        recalibrate,
        reliability,
        sampling,
        score,
        sweep,
        threshold,
        threshold_cost,
        training,
        verdict,
    )
    from calib_core.bins import BinSums
    from calib_core.errors import BadRowsFound, CalibError, Refused, Unavailable
    from calib_core.pipeline import Gate, gate, report
    from calib_core.reporting.build import Report
    from calib_core.results.abstention import AbstentionCurve, GuaranteedThreshold
    from calib_core.results.audit import ConventionAudit
    from calib_core.results.comparison import Comparison
    from calib_core.results.concentration import Concentration
    from calib_core.results.files import FileReport
    from calib_core.results.groups import GroupResults
    from calib_core.results.judge import JudgeResult
    from calib_core.results.methods_table import MethodsTable
    from calib_core.results.recalibration import Recalibration
    from calib_core.results.recalibration_map import RecalibrationMap
    from calib_core.results.reliability import Reliability
    from calib_core.results.robustness import Sweep
    from calib_core.results.run_verdict import RunVerdict
    from calib_core.results.sampling import SampleSizeSweep
    from calib_core.results.score import Score, Scores
    from calib_core.results.threshold_cost import ThresholdCost
    from calib_core.results.training import Training
    from calib_core.runs import AnswerRun, Run, Runs, TokenRun

_NAMES = {
    "calib_core.api": (
        "abstention", "audit", "check", "compare", "compare_methods", "concentration", "groups", "judge",
        "load", "metric_value", "recalibrate", "reliability", "sampling", "score", "sweep", "threshold",
        "threshold_cost", "training", "verdict",
    ),
    "calib_core.bins": ("BinSums",),
    "calib_core.errors": ("BadRowsFound", "CalibError", "Refused", "Unavailable"),
    "calib_core.pipeline": ("Gate", "gate", "report"),
    "calib_core.reporting.build": ("Report",),
    "calib_core.results.abstention": ("AbstentionCurve", "GuaranteedThreshold"),
    "calib_core.results.audit": ("ConventionAudit",),
    "calib_core.results.comparison": ("Comparison",),
    "calib_core.results.concentration": ("Concentration",),
    "calib_core.results.files": ("FileReport",),
    "calib_core.results.groups": ("GroupResults",),
    "calib_core.results.judge": ("JudgeResult",),
    "calib_core.results.methods_table": ("MethodsTable",),
    "calib_core.results.recalibration": ("Recalibration",),
    "calib_core.results.recalibration_map": ("RecalibrationMap",),
    "calib_core.results.reliability": ("Reliability",),
    "calib_core.results.robustness": ("Sweep",),
    "calib_core.results.run_verdict": ("RunVerdict",),
    "calib_core.results.sampling": ("SampleSizeSweep",),
    "calib_core.results.score": ("Score", "Scores"),
    "calib_core.results.threshold_cost": ("ThresholdCost",),
    "calib_core.results.training": ("Training",),
    "calib_core.runs": ("AnswerRun", "Run", "Runs", "TokenRun"),
}  # fmt: skip
"""Where each name of the interface lies."""

__all__ = [
    "AbstentionCurve",
    "AnswerRun",
    "BadRowsFound",
    "BinSums",
    "CalibError",
    "Comparison",
    "Concentration",
    "ConventionAudit",
    "FileReport",
    "Gate",
    "GroupResults",
    "GuaranteedThreshold",
    "JudgeResult",
    "MethodsTable",
    "Recalibration",
    "RecalibrationMap",
    "Refused",
    "Reliability",
    "Report",
    "Run",
    "RunVerdict",
    "Runs",
    "SampleSizeSweep",
    "Score",
    "Scores",
    "Sweep",
    "ThresholdCost",
    "TokenRun",
    "Training",
    "Unavailable",
    "__version__",
    "abstention",
    "audit",
    "bins",
    "check",
    "compare",
    "compare_methods",
    "concentration",
    "errors",
    "gate",
    "groups",
    "judge",
    "load",
    "methods",
    "metric_value",
    "metrics",
    "recalibrate",
    "reliability",
    "report",
    "sampling",
    "score",
    "sweep",
    "threshold",
    "threshold_cost",
    "training",
    "verdict",
]

__version__ = VERSION

_PLACES = {name: module for module, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # type checkers know the names above, and refuse others

    def __getattr__(name: str) -> object:
        """A name of the interface, or a module of this package, imported on first use (PEP 562).

        Commands that need none of them, such as `calib --help`, start without loading any library.
        """
        if name in _PLACES:
            value = getattr(import_module(_PLACES[name]), name)
        elif not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            value = import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
