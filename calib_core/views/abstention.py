"""The page Abstention: share of questions answered against accuracy, one view for each run of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from calib_core.errors import Unavailable
from calib_core.figures.abstention import abstention_figure, describe_abstention, precision_title
from calib_core.figures.cascade import cascade_figure, describe_cascade
from calib_core.figures.threshold_cost import describe_threshold_cost, threshold_cost_figure
from calib_core.inference.missingness import missing_caveat
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.results.abstention import (
    AURC_FORMULA,
    EMPIRICAL_CAUTION,
    PRECISION_HELP,
    AbstentionCurve,
    GuaranteedThreshold,
    abstention_curve,
    guarantee_headline,
    guaranteed_threshold,
    largest_guaranteed,
    threshold_columns,
)
from calib_core.results.cascade import CASCADE_COLUMNS, Cascade, Costs, cascade_headline, cascade_table
from calib_core.results.columns import Column, frame_of
from calib_core.results.defaults import by_kind, default_methods
from calib_core.results.evidence import Evidence
from calib_core.results.run_names import full_name
from calib_core.results.threshold_cost import (
    COVERAGE_NOTE,
    MIN_QUESTIONS,
    ThresholdCost,
    cost_columns,
    format_cost,
    threshold_cost,
)
from calib_core.results.uncertainty import MIN_OF_RARER_OUTCOME
from calib_core.terms import Terms
from calib_core.views.inputs import ReportInput
from calib_core.views.score import places_of_methods, unused_rows_help
from calib_core.views.view import (
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    file_parts,
    not_drawn_views,
    text_lines,
    varying_columns,
)
from calib_core.wording import (
    format_number,
    format_percent,
    format_percent_down,
    names_sharing,
    plural,
    target_text,
    threshold_text,
    with_article,
)

ID, TITLE, QUESTION = "abstention", "Abstention", "What if the model only answers when confident?"
EVENT_QUESTION: Final = "From which probability on is it yes?"

DEFAULT_TARGET_ACCURACY: Final = 0.9
"""The target accuracy where none is chosen."""

DEFAULT_CONFIDENCE: Final = 0.95
"""The confidence of a guarantee where none is chosen."""

NO_SINGLE_CONFIDENCES: Final = (
    "Abstention needs the confidence of every question. Token-level runs keep sums only."
)
_CASCADE_FACT: Final = Fact(
    "Costs and differences",
    "The first run answers every question, since its confidence decides, so its cost is always paid. "
    "Differences are paired by question, with 95 % intervals as if t had been chosen beforehand.",
)


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Build the view of every run; raises Unavailable if no run has single confidences."""
    runs = report_input.answer_runs
    if not runs:
        raise Unavailable(NO_SINGLE_CONFIDENCES)
    views: list[View] = []
    refused: list[str] = []
    for index, run in enumerate(runs):
        progress(index / len(runs), run.title)
        requested = [id_ for id_ in run.usable if id_ in report_input.settings.methods]
        for methods in by_kind(requested or default_methods(run.usable)):
            evidences: list[Evidence] = []
            thresholds: list[GuaranteedThreshold] = []
            for method in methods:
                try:
                    evidence = report_input.evidence(run, method)
                    curve = abstention_curve(evidence)
                except Unavailable as reason:
                    refused.append(f"{run.title}, {METHODS[method].title}: {reason}")
                else:
                    evidences.append(evidence)
                    found = guaranteed_threshold(curve, DEFAULT_TARGET_ACCURACY, DEFAULT_CONFIDENCE)
                    thresholds.append(found)
            if thresholds:
                best, *others = thresholds
                views.append(abstention_view(best, others, title=run.title, evidences=evidences))
                if costs := report_input.settings.costs:
                    priced = [threshold_cost(evidence, costs) for evidence in evidences]
                    lead = largest_guaranteed(thresholds).curve.method
                    view = cost_view(priced, run.title, lead=lead)
                    views.append(replace(view, title=f"{run.title}: what a threshold costs"))
    if not views:
        raise Unavailable(refused[0] if refused else "No run has any of these methods.")
    return Section(ID, TITLE, QUESTION, (*views, *not_drawn_views(refused)))


def curve_view(result: AbstentionCurve) -> View:
    """Accuracy over the share of questions answered, with the usual target."""
    return abstention_view(guaranteed_threshold(result, DEFAULT_TARGET_ACCURACY, DEFAULT_CONFIDENCE))


def abstention_view(
    result: GuaranteedThreshold,
    others: Sequence[GuaranteedThreshold] = (),
    *,
    title: str = "",
    evidences: Sequence[Evidence] = (),
    typed: float | None = None,
    left_out: Sequence[str] = (),
) -> View:
    """The thresholds of one run by one method or several of one kind, on their curves.

    Parameters
    ----------
    result : GuaranteedThreshold
    others : sequence of GuaranteedThreshold
        By further methods of the same run, with the same target.
    title : str
        The run's title; its label where omitted.
    evidences : sequence of Evidence
        What the curves are of, for why rows are not used.
    typed : float, optional
        A further threshold, at which each method is shown, too.
    left_out : sequence of str
        What is not drawn, and why.
    """
    results = (result, *others)
    curves = [found.curve for found in results]
    title = title or result.curve.run
    method = "" if others else METHODS[result.curve.method].title
    recipes = tuple(f"{METHODS[found.curve.method].heading}: {found.recipe}" for found in results)
    recipe = "\n".join(recipes)
    judged = dict.fromkeys(curve.judged for curve in curves)
    terms = result.curve.terms
    return View(
        title=title,
        terms=terms,
        left_out=tuple(left_out),
        method_title=method,
        headline=guarantee_headline(results),
        caveat=" ".join(
            text_lines(
                missing_caveat(places_of_methods((curve.method, curve.missing) for curve in curves)),
                f"The lines judge different answers: {', '.join(judged)}." if len(judged) > 1 else "",
            )
        ),
        tiles=tuple(_tiles(results, typed)),
        recipes=recipes,
        figures=(
            ViewFigure(
                lambda theme: abstention_figure(
                    curves,
                    theme,
                    target_accuracy=result.target_accuracy,
                    threshold=typed,
                    guaranteed=results,
                ),
                describe_abstention(curves, results),
                precision_title(terms),
                id="abstention",
                numbers=Numbers(
                    lambda: pl.concat(curve.to_frame() for curve in curves), recipe, ("abstention",)
                ),
            ),
        ),
        tables=(_threshold_table(results, typed, recipe), _method_table(curves, recipe)),
        how_to_read=_how_to_read(terms),
        facts=(
            *(
                Fact(METHODS[found.curve.method].heading, f"{found.headline} {found.empirical_note}")
                for found in results
            ),
            *(Fact("Judged", one) for one in judged if len(judged) == 1 and terms.of != "event"),
            *_used(curves, evidences),
            *_remarks(curves),
            *_server_facts(curves),
            *(
                [Fact("Guaranteed threshold", f"It holds on new {terms.questions} like these.")]
                if any(found.point is not None for found in results)
                else ()
            ),
            Fact("Empirical threshold", f"It has no guarantee. {EMPIRICAL_CAUTION}"),
        ),
        subject=", ".join(filter(None, (full_name(title), method))),
        name=(title, *file_parts((curve.method for curve in curves), "methods")),
    )


def _how_to_read(terms: Terms) -> str:
    """What the marks of the figure are."""
    lead = {
        "answer": "To the left, the model answers only its most confident questions.",
        "event": "To the left, only the items of the highest probability are called yes.",
    }[terms.of]
    return (
        f"{lead} Shaded band: 95 % Wilson interval, from {MIN_ROWS} {terms.answer}s on. Square: the "
        "guaranteed threshold, above a line down to the lower bound."
    )


def _remarks(curves: Sequence[AbstentionCurve]) -> list[Fact]:
    """What else is to be known of methods; those that share a remark are named together."""
    sharing = names_sharing(
        (METHODS[curve.method].heading, remark) for curve in curves for remark in curve.remarks
    )
    return [Fact(", ".join(titles), remark) for remark, titles in sharing.items()]


def _server_facts(curves: Sequence[AbstentionCurve]) -> list[Fact]:
    """How well a server's own confidence orders the decisions, beside their probability."""
    return [
        Fact(
            "Server's confidence",
            f"As a rank only, which has no threshold: AUROC {format_number(curve.server.auroc)}, that of the "
            f"probability {format_number(curve.auroc)}. "
            + ("Dashed: its order." if curve.other_order else "Both are one order here."),
        )
        for curve in curves
        if curve.server
    ]


def _used(curves: Sequence[AbstentionCurve], evidences: Sequence[Evidence]) -> list[Fact]:
    """How many rows are used and why the others are not; methods of equal numbers are named together."""
    why = {evidence.method.id: unused_rows_help(evidence) for evidence in evidences}
    sharing = names_sharing(
        (METHODS[curve.method].title, f"{curve.n_used:,} of {curve.n_total:,}. {why.get(curve.method, '')}")
        for curve in curves
    )
    return [
        Fact("Rows used" if len(sharing) == 1 else f"Rows used, {', '.join(titles)}", text.strip())
        for text, titles in sharing.items()
    ]


def _threshold_table(results: Sequence[GuaranteedThreshold], typed: float | None, recipe: str) -> ViewTable:
    """The guaranteed and the empirical threshold of each method, and the one that was typed."""
    precision = results[0].curve.terms.precision
    columns = (
        *threshold_columns(results[0].curve.terms),
        Column(
            "interval_low",
            f"{precision.capitalize()} 95 %",
            "share",
            "Wilson interval, as if the threshold had been chosen before.",
            upper="interval_high",
        ),
        Column("interval_high", kind="share"),
    )
    frame = frame_of(columns, (row for found in results for row in found.rows(typed)))
    return ViewTable(
        f"Thresholds for {with_article(precision)} of {target_text(results[0].target_accuracy)}",
        frame,
        columns,
        id="thresholds",
        numbers=Numbers(lambda: frame, recipe, ("thresholds",)),
    )


def _method_table(curves: Sequence[AbstentionCurve], recipe: str) -> ViewTable:
    """What is the same at every threshold, a row for each method."""
    rows = (
        {
            "method": curve.method,
            "accuracy": curve.accuracy_of_all,
            "auroc": curve.auroc,
            "aurc": curve.aurc,
            "n_used": curve.n_used,
            "n_total": curve.n_total,
            "judged": curve.judged,
        }
        for curve in curves
    )
    terms = curves[0].terms
    # The risk is the share of wrong answers; a share of no is no fault of a forecast.
    has_risk = terms.of == "answer"
    columns = (
        Column("method", "Method", "method"),
        Column(
            "accuracy",
            "Accuracy of all" if has_risk else terms.accuracy.capitalize(),
            "share",
            f"With every {terms.question} {terms.answered}, whatever its {terms.confidence}.",
        ),
        Column("auroc", "AUROC", "number"),
        *((Column("aurc", "AURC", "number"),) if has_risk else ()),
        Column("n_used", "Rows used", "count"),
        Column("n_total", "Rows", "count"),
        Column("judged", "Judged"),
    )
    frame = frame_of(columns, rows)
    note = f"AURC, the area under risk against coverage: {AURC_FORMULA}; lower is better."
    return ViewTable(
        "Over all thresholds",
        frame,
        varying_columns(columns, frame, "n_used", "n_total", "judged"),
        note if has_risk else "",
        id="methods",
        numbers=Numbers(lambda: frame, recipe, ("over-all-thresholds",)),
    )


def _tiles(thresholds: Sequence[GuaranteedThreshold], typed: float | None) -> list[Tile]:
    """What answering from a threshold on does: the one typed, or else the guaranteed one."""
    found = largest_guaranteed(thresholds)
    title, confidence = METHODS[found.curve.method].title, target_text(found.confidence)
    terms = found.curve.terms
    point = found.point if typed is None else found.curve.at_threshold(typed)
    is_guaranteed = typed is None and point is not None
    promise = (
        f" On new {terms.questions} at least {format_percent_down(found.accuracy_low)}, with {confidence} "
        "confidence."
    )
    return [
        Tile(
            f"{terms.to_answer.capitalize()} from",
            threshold_text(point.threshold) if point else "none",
            f"What “{title}” says where {terms.questions} are {terms.answered}: guaranteed, unless you chose "
            "another.",
        ),
        Tile(
            terms.answered.capitalize(),
            format_percent(point.coverage if point else None),
            f"Share of all {terms.questions}, with a {terms.confidence} or without.",
        ),
        Tile(
            terms.precision.capitalize(),
            format_percent(point.accuracy if point else None),
            (PRECISION_HELP if terms.of == "event" else "Of the answered questions.")
            + (promise if is_guaranteed else ""),
            "" if is_guaranteed else f"all {terms.answered}: {format_percent(found.curve.accuracy_of_all)}",
        ),
    ]


# --- What a threshold costs -------------------------------------------------------------------------------


def threshold_cost_view(result: ThresholdCost) -> View:
    """What the thresholds of one method cost."""
    return cost_view([result], result.curve.run)


def cost_view(
    found: Sequence[ThresholdCost], title: str, *, lead: str = "", typed: float | None = None
) -> View:
    """What the thresholds of one run cost, by one method or several.

    Parameters
    ----------
    found : Sequence[ThresholdCost]
        Of the same costs.
    title : str
        The run's title.
    lead : str
        The method that the headline is about; the first where omitted.
    typed : float, optional
        A confidence that is marked in the figure.
    """
    recipe = "\n".join(f"{METHODS[each.curve.method].heading}: {each.recipe}" for each in found)
    costs, methods = found[0].costs, [each.curve.method for each in found]
    terms = found[0].curve.terms
    columns = cost_columns(terms)
    frame = frame_of(columns, (each.row() for each in found))
    return View(
        title=title,
        terms=terms,
        headline=next((each for each in found if each.curve.method == lead), found[0]).headline,
        recipes=tuple(recipe.splitlines()),
        figures=(
            ViewFigure(
                lambda theme: threshold_cost_figure(found, theme, threshold=typed),
                describe_threshold_cost(found),
                f"Cost per {terms.question}",
                id="costs",
                numbers=Numbers(lambda: pl.concat(each.steps() for each in found), recipe, ("costs",)),
            ),
        ),
        tables=(
            ViewTable(
                "",
                frame,
                columns,
                id="cost_table",
                numbers=Numbers(lambda: frame, recipe, ("price-of-believing",)),
            ),
        ),
        how_to_read=(
            f"A {terms.wrong_answer} costs {format_cost(costs.wrong)}, {with_article(terms.question)} handed "
            f"on {format_cost(costs.handed_on)}, a {terms.right_answer} nothing. Dashed: where a calibrated "
            f"model would start to {terms.to_answer}."
        ),
        facts=(
            Fact(
                "Believed threshold",
                f"1 − the cost of handing on / the cost of a {terms.wrong_answer}: from there on, handing on "
                f"is expected to cost more, if the {terms.confidence} is calibrated.",
            ),
            Fact(
                "Price of believing",
                "Its 95 % interval covers all thresholds at once, since the best one is not known "
                f"beforehand. {COVERAGE_NOTE} It needs {MIN_QUESTIONS} {terms.questions}, and of both "
                f"outcomes, {terms.right} and {terms.wrong}, {MIN_OF_RARER_OUTCOME} each.",
            ),
        ),
        subject=full_name(title),
        name=(title, *file_parts(methods, "methods"), "costs"),
    )


# --- A second run answers the rest ------------------------------------------------------------------------


def cascade_view(
    result: Cascade,
    threshold: float,
    names: tuple[str, str],
    *,
    origin: str = "",
    costs: Costs | None = None,
) -> View:
    """What handing questions to a second run changes.

    Parameters
    ----------
    result : Cascade
    threshold : float
        Questions with a lower confidence are handed on.
    names : (str, str)
        What the two runs are called.
    origin : str
        Where the threshold comes from.
    costs : Costs, optional
        What a question costs.
    """
    method = METHODS[result.curve.method].title
    numbers = Numbers(result.to_frame, result.recipe, ("cascade",))
    frame = cascade_table(result, threshold, names, costs)
    shown = varying_columns(CASCADE_COLUMNS, frame, *(() if costs else ("cost",)))
    return View(
        title="Cascade",
        method_title=method,
        headline=cascade_headline(result, threshold, names),
        recipes=(result.recipe,),
        figures=(
            ViewFigure(
                lambda theme: cascade_figure(result, theme, threshold, names, costs),
                describe_cascade(result, threshold, names),
                "Cascade of two runs",
                id="cascade",
                numbers=numbers,
            ),
        ),
        tables=(ViewTable("", frame, shown, id="cascade_table", numbers=numbers),),
        how_to_read=(
            f"By {method}, on {plural(result.n_common, 'question')} that both runs answer"
            f"{f', at {origin}' if origin else ''}."
        ),
        facts=(_CASCADE_FACT,),
        subject=", ".join(map(full_name, names)),
        name=names,
    )
