"""How many samples of which run, drawn how often, and what is enough?  Controls → one plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from calib_core.analysis.preferred import default_run
from calib_core.analysis.samples_draws import DEFAULT_METRICS, SamplingPlan
from calib_core.analysis.samples_enough import BRIER_TOLERANCE
from calib_core.analysis.samples_sizes import subsample_sizes
from calib_core.confidence.method import MethodOptions
from calib_core.confidence.subsets import SampleMatrix, sample_matrix
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun
from calib_core.report.sections.sampling import NO_SAMPLES, SAMPLED_METHOD
from pages.parts import cache, picking
from pages.parts.address import UrlState, parse_whole_number
from pages.parts.runs import LoadedRun
from pages.parts.switches import pick_method_options
from pages.parts.whole import NumberListSpec, number_list_input

MAX_SIZES: Final = 12
MAX_SAMPLES: Final = 10**9 - 1
MAX_REPEATS: Final = 1000
MAX_SEED: Final = 10**9 - 1


@dataclass(frozen=True, slots=True, eq=False)
class SamplingChoice:
    """What the page Sampling shows.

    answers: the run with its samples; within: the largest difference of the Brier score that is none.
    """

    run: LoadedRun
    answers: AnswerRun
    metric: str
    plan: SamplingPlan
    options: MethodOptions
    tolerance: float

    def cache_key(self) -> tuple[object, ...]:
        """What tells a result of these draws from any other; what is read off them is not part of it."""
        return (*_source_key(self.run, self.options), self.plan)

    def sample_codes(self) -> SampleMatrix:
        """The samples as codes."""
        return _cached_codes(self.run, self.answers, self.options)


def _source_key(run: LoadedRun, options: MethodOptions) -> tuple[object, ...]:
    return (run.file.name, run.file.stamp, run.id, options)


def _cached_codes(run: LoadedRun, answers: AnswerRun, options: MethodOptions) -> SampleMatrix:
    key = ("codes", *_source_key(run, options))
    return cache.cached_result(key, lambda: sample_matrix(answers, options), max_results=cache.MAX_LARGE_RESULTS)


def choose_sampling(url_state: UrlState, runs: Sequence[LoadedRun]) -> SamplingChoice:
    """The controls of the page. Raises Unavailable where no run has samples."""
    able = {
        run.id: (run, answers)
        for run in runs
        if isinstance(answers := run.report.run, AnswerRun) and SAMPLED_METHOD in run.report.survey.usable
    }
    if not able:
        raise Unavailable(NO_SAMPLES)
    used = {id_: run.report.survey.usable[SAMPLED_METHOD].n_used for id_, (run, _) in able.items()}
    run = picking.pick_run(url_state, {id_: run for id_, (run, _) in able.items()}, default_run(used))
    answers = able[run.id][1]
    metric = url_state.pick("metric", DEFAULT_METRICS, DEFAULT_METRICS[0])
    help_ = METRICS[metric].help
    st.selectbox("Metric", DEFAULT_METRICS, key="metric", format_func=lambda id_: METRICS[id_].title, help=help_)
    sizes = _sizes_input(url_state, _default_sizes_text(run, answers))
    left, right = st.columns(2)
    with left:
        repeats = _whole_number_input(
            url_state, "repeats", "Repeats", (100, 1, MAX_REPEATS), "How often parts of each size are drawn."
        )
    with right:
        seed = _whole_number_input(url_state, "seed", "Seed", (0, 0, MAX_SEED), "The same seed draws the same parts.")
    chosen = pick_method_options(url_state, run.report.survey.usable[SAMPLED_METHOD])
    within = _tolerance_input(url_state)
    return SamplingChoice(run, answers, metric, SamplingPlan(sizes, repeats, seed), chosen, within)


def _sizes_input(url_state: UrlState, placeholder: str) -> tuple[int, ...] | None:
    """N' typed as a list; None where nothing is typed; usual: what is drawn then."""
    return number_list_input(url_state, "sizes", NumberListSpec(
        "Numbers of samples N'", "a number of samples", MAX_SAMPLES, MAX_SIZES,
        "Whole numbers with commas, up to the samples a question has; empty: those shown pale.",
        placeholder=placeholder,
    )) or None


def _default_sizes_text(run: LoadedRun, answers: AnswerRun) -> str:
    """The sizes that are drawn where none is typed: "4, 8, 16"."""
    coded = _cached_codes(run, answers, MethodOptions())
    try:
        return ", ".join(map(str, subsample_sizes(coded.n_samples, coded.usable_rows).sizes))
    except Unavailable:  # the page says why in the place of the figure
        return ""


def _whole_number_input(url_state: UrlState, key: str, label: str, limits: tuple[int, int, int], help_: str) -> int:
    """A whole number; span: default, least, most."""
    default, least, most = limits
    wanted = url_state.pick(key, None, str(default))
    known = parse_whole_number(wanted, least, most)
    number = default if known is None else known
    _store_value(url_state, key, str(number), str(default), valid=known is not None)
    url_state.set_widget(f"{key}_typed", number)
    st.number_input(
        label, least, most, key=f"{key}_typed", step=1, help=help_, on_change=_on_number, args=(key, "d")
    )
    return number


def _tolerance_input(url_state: UrlState) -> float:
    """How near two Brier scores are to count as the same."""
    default = f"{BRIER_TOLERANCE:g}"
    wanted = url_state.pick("within", None, default)
    known = re.fullmatch(r"0?\.\d{1,6}", wanted) is not None and float(wanted) > 0
    number = float(wanted) if known else BRIER_TOLERANCE
    _store_value(url_state, "within", f"{number:g}" if number >= 1e-4 else f"{number:.6f}", default, valid=known)
    url_state.set_widget("within_typed", number)
    st.number_input(
        "Enough: Brier within ±", 0.000001, 0.999999, key="within_typed", step=0.001, format="%g",
        on_change=_on_number, args=("within", ".6f"),
        help="N' is enough where the 95 % interval of the paired difference to the largest N' that is not "
        "greyed lies inside.",
    )
    return number


def _store_value(url_state: UrlState, key: str, value: str, default: str, *, valid: bool) -> None:
    """Takes a value that can be had; one of a link that cannot is told."""
    if not valid and url_state.moved and key in url_state.url:
        url_state.lost[key] = url_state.url[key]
    url_state.set_widget(key, value)
    url_state.remember(key, value, default)


def _on_number(key: str, number_format: str) -> None:
    """A number somebody typed, as the address has it."""
    st.session_state[key] = format(st.session_state[f"{key}_typed"], number_format).rstrip("0" if "f" in number_format else "")
