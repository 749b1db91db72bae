"""The pages: everything that the shell, the menu and other pages need to know about each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Final, TypeAlias

from calib_core.results.recalibration import SUMS_ONLY
from calib_core.results.training import place_checkpoints
from calib_core.runs import AnswerRun
from calib_core.views.abstention import NO_SINGLE_CONFIDENCES
from calib_core.views.groups import NO_GROUPS
from calib_core.views.judge import NO_JUDGE
from calib_core.views.registry import SECTIONS
from calib_core.views.sampling import NO_SAMPLES, SAMPLED_METHOD
from calib_core.views.training import NO_CHECKPOINT
from pages.state.runs import LoadedRun, cached_groupings

HasContent: TypeAlias = Callable[[Sequence[LoadedRun]], bool]

NO_CONFIDENCE: Final = "These runs have a judge's labels beside people's, and no confidence: see Judge."
"""What a page of confidences says where no run has one."""


def has_confidence(run: LoadedRun) -> bool:
    """Whether a run has a confidence and an outcome."""
    return bool(run.report.survey.usable)


def has_judge_and_people(run: LoadedRun) -> bool:
    """Whether a run has a judge's labels beside people's."""
    return run.report.has_judge_and_people


def any_run(_run: LoadedRun) -> bool:
    """Whether a page shows a run that may have either."""
    return True


@dataclass(frozen=True, slots=True)
class PageInfo:
    """One page.

    Attributes
    ----------
    id : str
        Its address, and the name of its file under `pages/`.
    icon : str
        As Streamlit names it.
    group : str
        Heading of its group in the menu.
    title, question : str
        Where omitted, those of its section of a report.
    event_question : str
        The question about probabilities of an event; "" where it is the same.
    body_keys : tuple of str
        Keys of the address that are set in the page's body rather than in the sidebar.
    is_of_one_run : bool
        Whether it waits for the run that the address names while files are being read.
    shows_verdicts : bool
        Whether a run or group is called over-confident or the like on it, so that it has the tolerance.
    shares_all : bool
        Whether it shows what is chosen on the others, so that its link holds all of it.
    needs_runs : bool
        Whether it has nothing to show where no run is loaded.
    shows : Callable
        Whether it can show a run at all.
    has_content : Callable, optional
        Whether it can show something of these runs; where omitted, it can of any.
    no_content : str
        What it says where it cannot.
    """

    id: str
    icon: str
    group: str
    title: str = ""
    question: str = ""
    event_question: str = ""
    body_keys: tuple[str, ...] = ()
    is_of_one_run: bool = False
    shows_verdicts: bool = False
    shares_all: bool = False
    needs_runs: bool = True
    shows: Callable[[LoadedRun], bool] = has_confidence
    has_content: HasContent | None = None
    no_content: str = ""

    def __post_init__(self) -> None:
        """Complete the icon, and the title and question by those of the section."""
        section = SECTIONS.get(self.id)
        if section is not None:
            object.__setattr__(self, "title", section.title)
            object.__setattr__(self, "question", section.question)
            object.__setattr__(self, "event_question", section.event_question)
        object.__setattr__(self, "icon", f":material/{self.icon}:")

    def split(self, runs: Sequence[LoadedRun]) -> tuple[tuple[LoadedRun, ...], tuple[LoadedRun, ...]]:
        """Divide runs into those that it can show and the others."""
        return tuple(filter(self.shows, runs)), tuple(run for run in runs if not self.shows(run))

    @property
    def nothing_shown(self) -> str:
        """What it says where it can show none of the runs that are loaded."""
        return NO_CONFIDENCE if self.shows is has_confidence else self.no_content

    @property
    def script(self) -> str:
        """The file that Streamlit runs."""
        return "app.py" if self.id == "start" else f"pages/{self.id}.py"


def _answer_runs(runs: Sequence[LoadedRun]) -> dict[str, AnswerRun]:
    return {run.id: run.report.run for run in runs if isinstance(run.report.run, AnswerRun)}


def _have_answers(runs: Sequence[LoadedRun]) -> bool:
    return bool(_answer_runs(runs))


def _have_samples(runs: Sequence[LoadedRun]) -> bool:
    answers = _answer_runs(runs)
    return any(run.id in answers and SAMPLED_METHOD in run.report.survey.usable for run in runs)


def _have_groups(runs: Sequence[LoadedRun]) -> bool:
    return bool(cached_groupings(runs))


def _have_checkpoints(runs: Sequence[LoadedRun]) -> bool:
    infos = {run.id: run.report.run.info for run in runs}
    return bool(place_checkpoints(infos, {run.id: run.report.run.n_total for run in runs}).lines)


_ONE_RUN, _SEVERAL, _JUDGES = "One run", "Compare", "Judges"

_PAGES: Final = (
    PageInfo(
        "start",
        "home",
        "Overview",
        title="Start",
        question="When a model says it is 80 % sure, is it right 80 times in 100?",
        body_keys=("every", "find", "verdict"),
        shows_verdicts=True,
        needs_runs=False,
    ),
    PageInfo(
        "tour",
        "tour",
        "Overview",
        title="Tour",
        question="What is calibration? Five steps on your data.",
        body_keys=("step", "large"),
        is_of_one_run=True,
        shows_verdicts=True,
    ),
    PageInfo(
        "reliability",
        "show_chart",
        _ONE_RUN,
        body_keys=("view", "bin", "log", "logx", "class", "search", "outcome", "form"),
        is_of_one_run=True,
        shows_verdicts=True,
    ),
    PageInfo("concentration", "bar_chart", _ONE_RUN, is_of_one_run=True),
    PageInfo(
        "robustness",
        "tune",
        _ONE_RUN,
        body_keys=("place", "relative", "published"),
        is_of_one_run=True,
        shows_verdicts=True,
    ),
    PageInfo(
        "abstention",
        "front_hand",
        _ONE_RUN,
        is_of_one_run=True,
        has_content=_have_answers,
        no_content=NO_SINGLE_CONFIDENCES,
    ),
    PageInfo(
        "recalibrate",
        "balance",
        _ONE_RUN,
        is_of_one_run=True,
        has_content=_have_answers,
        no_content=SUMS_ONLY,
    ),
    PageInfo(
        "sampling",
        "casino",
        _ONE_RUN,
        body_keys=("place",),
        is_of_one_run=True,
        has_content=_have_samples,
        no_content=NO_SAMPLES,
    ),
    PageInfo("comparison", "scatter_plot", _SEVERAL, body_keys=("at",)),
    PageInfo("methods", "table_chart", _SEVERAL, body_keys=("paper",)),
    PageInfo(
        "groups",
        "category",
        _SEVERAL,
        body_keys=("hidden",),
        shows_verdicts=True,
        has_content=_have_groups,
        no_content=NO_GROUPS,
    ),
    PageInfo(
        "training",
        "timeline",
        _SEVERAL,
        body_keys=("at", "alone"),
        shows_verdicts=True,
        has_content=_have_checkpoints,
        no_content=NO_CHECKPOINT,
    ),
    PageInfo(
        "judge",
        "gavel",
        _JUDGES,
        body_keys=("at",),
        shows=has_judge_and_people,
        has_content=bool,
        no_content=NO_JUDGE,
    ),
    PageInfo(
        "report",
        "summarize",
        "Share",
        title="Report",
        question="One file to share.",
        shows_verdicts=True,
        shares_all=True,
        shows=any_run,
    ),
    PageInfo("files", "folder_open", "Data", needs_runs=False, shows=any_run),
)

PAGES: Final = MappingProxyType({page.id: page for page in _PAGES})
"""Page id → page, in the order of the menu."""

MENU: Final = MappingProxyType({group: tuple(of) for group, of in groupby(_PAGES, lambda page: page.group)})
"""Heading in the menu → its pages."""
