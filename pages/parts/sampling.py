"""How many samples of which run, drawn how often, and what is enough?  Controls → one plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from calib_core.analysis.preferred import telling
from calib_core.analysis.samples_draws import USUAL, Plan
from calib_core.analysis.samples_enough import WITHIN
from calib_core.analysis.samples_sizes import sizes_of
from calib_core.confidence.method import Options
from calib_core.confidence.subsets import SampleCodes, codes
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun
from calib_core.report.sections.sampling import NO_SAMPLES, SAMPLED
from pages.parts import cache, picking
from pages.parts.address import Address, whole_number
from pages.parts.runs import Run
from pages.parts.switches import options
from pages.parts.whole import Numbers, whole_numbers

MOST_SIZES: Final = 12
MOST_SAMPLES: Final = 10**9 - 1
MOST_REPEATS: Final = 1000
MOST_SEED: Final = 10**9 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """What the page Sampling shows.

    answers: the run with its samples; within: the largest difference of the Brier score that is none.
    """

    run: Run
    answers: AnswerRun
    metric: str
    plan: Plan
    options: Options
    within: float

    def key(self) -> tuple[object, ...]:
        """What tells a result of these draws from any other; what is read off them is not part of it."""
        return (*_source(self.run, self.options), self.plan)

    def coded(self) -> SampleCodes:
        """The samples as codes."""
        return _coded(self.run, self.answers, self.options)


def _source(run: Run, chosen: Options) -> tuple[object, ...]:
    return (run.file.name, run.file.stamp, run.id, chosen)


def _coded(run: Run, answers: AnswerRun, chosen: Options) -> SampleCodes:
    key = ("codes", *_source(run, chosen))
    return cache.kept(key, lambda: codes(answers, chosen), most=cache.LARGE_RESULTS)


def choose_sampling(address: Address, runs: Sequence[Run]) -> Sampling:
    """The controls of the page. Raises Unavailable where no run has samples."""
    able = {
        run.id: (run, answers)
        for run in runs
        if isinstance(answers := run.report.run, AnswerRun) and SAMPLED in run.report.survey.usable
    }
    if not able:
        raise Unavailable(NO_SAMPLES)
    used = {id_: run.report.survey.usable[SAMPLED].n_used for id_, (run, _) in able.items()}
    run = picking.one_run(address, {id_: run for id_, (run, _) in able.items()}, telling(used))
    answers = able[run.id][1]
    metric = address.pick("metric", USUAL, USUAL[0])
    help_ = METRICS[metric].help
    st.selectbox("Metric", USUAL, key="metric", format_func=lambda id_: METRICS[id_].title, help=help_)
    sizes = _sizes(address, _usual(run, answers))
    left, right = st.columns(2)
    with left:
        repeats = _whole(
            address, "repeats", "Repeats", (100, 1, MOST_REPEATS), "How often parts of each size are drawn."
        )
    with right:
        seed = _whole(address, "seed", "Seed", (0, 0, MOST_SEED), "The same seed draws the same parts.")
    chosen = options(address, run.report.survey.usable[SAMPLED])
    within = _within(address)
    return Sampling(run, answers, metric, Plan(sizes, repeats, seed), chosen, within)


def _sizes(address: Address, usual: str) -> tuple[int, ...] | None:
    """N' typed as a list; None where nothing is typed; usual: what is drawn then."""
    return whole_numbers(address, "sizes", Numbers(
        "Numbers of samples N'", "a number of samples", MOST_SAMPLES, MOST_SIZES,
        "Whole numbers with commas, up to the samples a question has; empty: those shown pale.",
        placeholder=usual,
    )) or None


def _usual(run: Run, answers: AnswerRun) -> str:
    """The sizes that are drawn where none is typed: "4, 8, 16"."""
    coded = _coded(run, answers, Options())
    try:
        return ", ".join(map(str, sizes_of(coded.counted, coded.usable).sizes))
    except Unavailable:  # the page says why in the place of the figure
        return ""


def _whole(address: Address, key: str, label: str, span: tuple[int, int, int], help_: str) -> int:
    """A whole number; span: default, least, most."""
    default, least, most = span
    wanted = address.pick(key, None, str(default))
    known = whole_number(wanted, least, most)
    number = default if known is None else known
    _settle(address, key, str(number), str(default), known=known is not None)
    address.put(f"{key}_typed", number)
    st.number_input(
        label, least, most, key=f"{key}_typed", step=1, help=help_, on_change=_typed, args=(key, "d")
    )
    return number


def _within(address: Address) -> float:
    """How near two Brier scores are to count as the same."""
    default = f"{WITHIN:g}"
    wanted = address.pick("within", None, default)
    known = re.fullmatch(r"0?\.\d{1,6}", wanted) is not None and float(wanted) > 0
    number = float(wanted) if known else WITHIN
    _settle(address, "within", f"{number:g}" if number >= 1e-4 else f"{number:.6f}", default, known=known)
    address.put("within_typed", number)
    st.number_input(
        "Enough: Brier within ±", 0.000001, 0.999999, key="within_typed", step=0.001, format="%g",
        on_change=_typed, args=("within", ".6f"),
        help="N' is enough where the 95 % interval of the paired difference to the largest N' that is not "
        "greyed lies inside.",
    )
    return number


def _settle(address: Address, key: str, value: str, default: str, *, known: bool) -> None:
    """Takes a value that can be had; one of a link that cannot is told."""
    if not known and address.moved and key in address.url:
        address.lost[key] = address.url[key]
    address.put(key, value)
    address.note(key, value, default)


def _typed(key: str, form: str) -> None:
    """A number somebody typed, as the address has it."""
    st.session_state[key] = format(st.session_state[f"{key}_typed"], form).rstrip("0" if "f" in form else "")
