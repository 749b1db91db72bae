"""The page Abstention: what if the model only answers when it is confident?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import streamlit as st

from calib_core.errors import Unavailable
from calib_core.inference.decision_loss import ErrorCosts
from calib_core.methods import METHODS, in_order
from calib_core.results.abstention import (
    AbstentionCurve,
    GuaranteedThreshold,
    abstention_curve,
    guaranteed_threshold,
    largest_guaranteed,
)
from calib_core.results.cascade import Cascade, Costs, cascade, cascade_threshold
from calib_core.results.defaults import by_kind, default_method, default_methods, other_kind_note
from calib_core.results.evidence import Evidence, refuse_weights
from calib_core.results.threshold_cost import ThresholdCost, threshold_cost
from calib_core.results.view_caption import view_caption
from calib_core.runs import AnswerRun
from calib_core.terms import Terms
from calib_core.views.abstention import (
    DEFAULT_CONFIDENCE,
    DEFAULT_TARGET_ACCURACY,
    NO_SINGLE_CONFIDENCES,
    abstention_view,
    cascade_view,
    cost_view,
)
from calib_core.views.view import text_lines
from pages.state.cache import MAX_LARGE_RESULTS, cached_result
from pages.state.costs import DEFAULT_COSTS, parse_cost
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.multiselect import multiselect
from pages.widgets.pickers import pick_run, pick_second_run, usual_run
from pages.widgets.run_selection import METHODS_HELP
from pages.widgets.shell import shell
from pages.widgets.summary import show_warnings
from pages.widgets.view import show_part, show_view

_LEAST_BARE_PERCENTAGE: Final = 2
"""From here on, a number without a sign can only be a percentage: "95" is 0.95. 1.5 is rather a slip."""

_SLIDER_KEY: Final = "threshold_slid"

DefaultT = TypeVar("DefaultT", bound="float | None")


@dataclass(frozen=True, slots=True, eq=False)
class AbstentionChoice:
    """What the page Abstention shows: one run scored by several methods.

    Attributes
    ----------
    run : LoadedRun
    evidences : tuple of Evidence
        The run's evidence by each chosen method, in the order of the registry.
    target_accuracy : float
        Accuracy that the answered questions should reach, from 0 to 1.
    confidence : float
        Probability with which the target accuracy is guaranteed, between 0 and 1.
    threshold : float or None
        Confidence from which a question is answered; None where none was typed.
    errors : ErrorCosts or None
        What wrong answers and questions that are handed on cost; None where a wrong answer costs nothing.
    second : LoadedRun or None
        The run that answers what is handed on.
    costs : Costs or None
        What a question costs, where both costs were typed.
    left_out : str
        Which chosen methods are not shown, and why; "" where all are.
    """

    run: LoadedRun
    evidences: tuple[Evidence, ...]
    target_accuracy: float
    confidence: float
    threshold: float | None
    errors: ErrorCosts | None
    second: LoadedRun | None
    costs: Costs | None
    left_out: str = ""

    @property
    def terms(self) -> Terms:
        """The words for the probabilities, which are of one kind."""
        return self.evidences[0].terms


def choose_abstention(url_state: UrlState, runs: Sequence[LoadedRun]) -> AbstentionChoice:
    """Draw the sidebar controls: run, methods, target accuracy and confidence threshold.

    Raises
    ------
    Unavailable
        Where no run has a confidence per answer.
    """
    answer_runs = {run.id: run for run in runs if isinstance(run.report.run, AnswerRun)}
    if not answer_runs:
        raise Unavailable(NO_SINGLE_CONFIDENCES)
    n_used = {
        id_: max(evidence.n_used for evidence in run.report.survey.usable.values())
        for id_, run in answer_runs.items()
    }
    run = pick_run(url_state, answer_runs, usual_run(answer_runs, n_used))
    usable = run.report.survey.usable
    methods = multiselect(
        url_state,
        "methods",
        list(usable),
        label="Methods",
        title_of=lambda id_: METHODS[id_].heading,
        default=default_methods(usable),
        help_=METHODS_HELP,
        placeholder="Choose a method",
    )
    chosen = in_order(methods)
    selected = tuple(usable[id_] for id_ in by_kind(chosen)[0])
    for evidence in selected:
        refuse_weights(evidence, "Abstention")
    terms = selected[0].terms
    target_accuracy = _share_input(
        url_state,
        "wanted",
        DEFAULT_TARGET_ACCURACY,
        f"Target {terms.precision}",
        f"Type 0.9 or 90 %: how often {terms.questions} that are {terms.answered} should be {terms.hit}.",
    )
    confidence = _share_input(
        url_state,
        "sure",
        DEFAULT_CONFIDENCE,
        "Level of the guarantee",
        f"Type 0.95 or 95 %: how sure it has to be that new {terms.questions} reach the target, too.",
        exclusive=True,
    )
    threshold = _share_input(
        url_state,
        "threshold",
        None,
        "Threshold t",
        f"Type 0.8 or 80 % to see how many {terms.questions} are {terms.answered} from there on, and with "
        f"which {terms.precision}. Leave empty for none.",
    )
    errors = _choose_error_costs(url_state, terms)
    # A probability of an event comes with no answer that a second run could give instead.
    second, costs = (None, None) if terms.of == "event" else _choose_cascade(url_state, run, answer_runs)
    note = other_kind_note(chosen)
    return AbstentionChoice(
        run, selected, target_accuracy, confidence, threshold, errors, second, costs, note
    )


def _choose_error_costs(url_state: UrlState, terms: Terms) -> ErrorCosts | None:
    """Draw what a wrong answer and a question that is handed on cost."""
    unit = f"In any unit, the same for both. A {terms.right_answer} costs nothing."
    wrong = _cost_input(url_state, "wrong", f"Cost of a {terms.wrong_answer}", unit, DEFAULT_COSTS.wrong)
    handed_on = _cost_input(
        url_state, "handed_on", f"Cost of a handed-on {terms.question}", unit, DEFAULT_COSTS.handed_on
    )
    if not wrong:
        st.caption(f":material/error: A {terms.wrong_answer} has to cost more than 0.")
    return ErrorCosts(wrong, handed_on) if wrong and handed_on is not None else None


def _choose_cascade(
    url_state: UrlState, run: LoadedRun, runs: Mapping[str, LoadedRun]
) -> tuple[LoadedRun | None, Costs | None]:
    """Draw the controls of a cascade: the second run, of the same data set, and the cost of each."""
    dataset = run.report.run.info.dataset
    others = {
        id_: other
        for id_, other in runs.items()
        if id_ != run.id and other.report.run.info.dataset == dataset and other.report.survey.usable
    }
    second = pick_second_run(
        url_state,
        "Hand on to",
        others,
        "no second run",
        "A run on the same questions that answers where the first is not confident enough (a cascade).",
    )
    if not others:
        st.caption("No other run has the same data set.")
    if second is None:
        return None, None
    unit = "In any unit, the same for both runs. With both costs, costs are shown."
    first_cost = _cost_input(url_state, "cost", "Cost per question", unit)
    second_cost = _cost_input(url_state, "second_cost", "Cost per question of the second run", unit)
    if first_cost is None or second_cost is None:
        return second, None
    return second, Costs(first_cost, second_cost)


def _cost_input(
    url_state: UrlState, key: str, label: str, help_: str, default: float | None = None
) -> float | None:
    """Draw a text field for a cost of 0 or more; an invalid text is reported, an empty one is the default."""
    default_text = _number_text(default)
    text = url_state.pick(key, None, default_text).strip()
    cost = parse_cost(text)
    if cost is None and text:
        st.caption(f":material/error: Type a number of 0 or more: {escape_markdown(text[:40])}.")
    cost = default if cost is None else cost
    url_state.set_widget(key, _number_text(cost))
    url_state.remember(key, _number_text(cost), default_text)
    st.text_input(label, _number_text(cost), key=key, help=help_)
    return cost


def _share_input(
    url_state: UrlState, key: str, default: DefaultT, label: str, help_: str, *, exclusive: bool = False
) -> float | DefaultT:
    """Draw a text field for a share such as 0.9 or 90 %; an invalid text is reported and the default used.

    0 and 1 are invalid where `exclusive`.
    """
    default_text = _number_text(default)
    text = url_state.pick(key, None, default_text).strip()
    share = _parse_share(text)
    share = None if exclusive and share in (0, 1) else share
    if share is None and text:
        bounds = "between 0 and 1" if exclusive else "from 0 to 1"
        st.caption(
            f":material/error: “{escape_markdown(text[:40])}” is not a share. Type a number {bounds}, or a "
            "percentage such as 90 %."
        )
    value = default if share is None else share
    url_state.set_widget(key, _number_text(value))
    url_state.remember(key, _number_text(value), default_text)
    st.text_input(label, _number_text(value), key=key, help=help_)
    return value


def _number_text(share: float | None) -> str:
    return "" if share is None else f"{share:.12g}"


def _parse_share(text: str) -> float | None:
    number = text.removesuffix("%").strip().replace(",", ".")
    try:
        share = float(number)
    except ValueError:
        return None
    is_percentage = text.endswith("%") or _LEAST_BARE_PERCENTAGE <= share <= 100
    share = share / 100 if is_percentage else share
    return share if 0 <= share <= 1 else None


def cached_curves(choice: AbstentionChoice) -> list[AbstentionCurve]:
    """Return the curve of each chosen method, each computed once."""
    run = choice.run
    return [
        cached_result(
            ("abstention", *run.source, evidence.method.id),
            lambda evidence=evidence: abstention_curve(evidence),
            max_results=4 * MAX_LARGE_RESULTS,
        )
        for evidence in choice.evidences
    ]


def cached_thresholds(
    choice: AbstentionChoice, curves: Sequence[AbstentionCurve]
) -> list[GuaranteedThreshold]:
    """Return the guaranteed threshold of each curve, each computed once."""
    run, target, confidence = choice.run, choice.target_accuracy, choice.confidence
    return [
        cached_result(
            ("guarantee", *run.source, curve.method, target, confidence),
            lambda curve=curve: guaranteed_threshold(curve, target, confidence),
            max_results=4 * MAX_LARGE_RESULTS,
        )
        for curve in curves
    ]


def choose_on_curve(choice: AbstentionChoice, thresholds: Sequence[GuaranteedThreshold]) -> None:
    """Draw the threshold as a slider, at the guaranteed one until it is moved; it moves the text field."""
    point = largest_guaranteed(thresholds).point
    guaranteed, terms = point.threshold if point else 1.0, choice.terms
    value = guaranteed if choice.threshold is None else choice.threshold
    st.session_state[_SLIDER_KEY] = round(value, 2)
    st.slider(
        f"{terms.to_answer.capitalize()} from this {terms.confidence} on",
        0.0,
        1.0,
        step=0.01,
        key=_SLIDER_KEY,
        on_change=_move_threshold,
        label_visibility="collapsed",
        help=f"Move it to see what is {terms.answered}, how often it is {terms.hit}, and what it costs.",
    )


def _move_threshold() -> None:
    st.session_state["threshold"] = _number_text(st.session_state[_SLIDER_KEY])


def show_costs(choice: AbstentionChoice, thresholds: Sequence[GuaranteedThreshold]) -> None:
    """Draw what thresholds cost, and what it costs to believe the confidence; nothing without costs."""
    if choice.errors is None:
        return
    st.subheader("What a threshold costs", anchor=False)
    lead = largest_guaranteed(thresholds).curve.method
    found = [cached_cost(choice.run, evidence, choice.errors) for evidence in choice.evidences]
    view = cost_view(found, choice.run.title, lead=lead, typed=choice.threshold)
    st.markdown(escape_markdown(view.headline))
    show_part(view, "costs")


def cached_cost(run: LoadedRun, evidence: Evidence, costs: ErrorCosts) -> ThresholdCost:
    """Return what the thresholds of one method cost, computed once."""
    return cached_result(
        ("threshold_cost", *run.source, evidence.method.id, costs),
        lambda: threshold_cost(evidence, costs),
        max_results=4 * MAX_LARGE_RESULTS,
    )


def show_cascade(choice: AbstentionChoice, thresholds: Sequence[GuaranteedThreshold]) -> None:
    """Draw what handing questions to a second run changes; nothing where none is chosen."""
    second = choice.second
    if second is None:
        return
    st.subheader("Cascade", anchor=False)
    found = largest_guaranteed(thresholds)
    evidence = next(each for each in choice.evidences if each.method.id == found.curve.method)
    try:
        result = cached_cascade(choice.run, evidence, second)
    except Unavailable as reason:
        st.info(escape_markdown(f"No cascade: {reason}"))
        return
    threshold, origin = cascade_threshold(found, choice.threshold)
    names = choice.run.title, second.title
    view = cascade_view(result, threshold, names, origin=origin, costs=choice.costs)
    st.markdown(escape_markdown(view.headline))
    show_part(view, "cascade")


def cached_cascade(run: LoadedRun, evidence: Evidence, second: LoadedRun) -> Cascade:
    """Return the cascade of two runs, computed once; the second is judged by its default method."""
    usable = second.report.survey.usable
    other = usable[default_method(usable)]
    return cached_result(
        ("cascade", *run.source, evidence.method.id, *second.source),
        lambda: cascade(evidence, other),
        max_results=MAX_LARGE_RESULTS,
    )


def page() -> None:
    """Draw the page."""
    choice = shell("abstention", choose_abstention).choice
    thresholds = cached_thresholds(choice, cached_curves(choice))
    found = dict.fromkeys(one for evidence in choice.evidences for one in evidence.suspicions)
    show_warnings(*(suspicion.text for suspicion in found))
    view = abstention_view(
        thresholds[0],
        thresholds[1:],
        title=choice.run.title,
        evidences=choice.evidences,
        typed=choice.threshold,
        left_out=text_lines(choice.left_out),
    )
    show_view(
        view,
        view_caption(view.figures[0].title, [choice.run.title], choice.evidences),
        controls=lambda: choose_on_curve(choice, thresholds),
    )
    show_costs(choice, thresholds)
    show_cascade(choice, thresholds)


if __name__ == "__main__":
    page()
