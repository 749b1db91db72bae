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
    from calib_core.api import (
        abstention,
        audit,
        compare,
        compare_methods,
        concentration,
        groups,
        judge,
        load,
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
    from calib_core.results.robustness import Sweep
    from calib_core.results.run_verdict import RunVerdict
    from calib_core.results.score import Score
    from calib_core.runs import Run

__all__ = [
    "BinSums",
    "Run",
    "RunVerdict",
    "Score",
    "Sweep",
    "__version__",
    "abstention",
    "audit",
    "compare",
    "compare_methods",
    "concentration",
    "groups",
    "judge",
    "load",
    "recalibrate",
    "reliability",
    "sampling",
    "score",
    "sweep",
    "threshold",
    "threshold_cost",
    "training",
    "verdict",
]

__version__ = VERSION

_PLACES = dict.fromkeys(__all__, "calib_core.api") | {"BinSums": "calib_core.bins"}


def __getattr__(name: str) -> object:
    """A name of the interface, or a module of this package, imported on first use (PEP 562).

    Commands that need none of them, such as `calib --help`, start without loading any library.
    """
    if name in _PLACES:
        value: object = getattr(import_module(_PLACES[name]), name)
    elif not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
