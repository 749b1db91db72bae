"""Which run may refuse, by which confidences, and how right shall it be?  The Abstention page's parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
import streamlit as st

from calib_core.analysis.abstention import FORMULA, Abstention, Answering, abstention
from calib_core.analysis.abstention_reading import target_text, threshold_text
from calib_core.analysis.evidence import Evidence
from calib_core.confidence import METHODS
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun
from pages.parts import cache, show, tables
from pages.parts.address import Address
from pages.parts.choice import size
from pages.parts.literal import literal
from pages.parts.many import PREFERRED
from pages.parts.runs import Run
from pages.parts.several import several

MOST = 3
"""So many methods at first: more are a tangle."""


@dataclass(frozen=True, slots=True, eq=False)
class Abstaining:
    """One run seen by several methods. wanted: an accuracy; threshold: a confidence, or None."""

    run: Run
    evidences: tuple[Evidence, ...]
    wanted: float
    threshold: float | None

    @property
    def judged(self) -> tuple[str, ...]:
        """Whose outcomes the lines speak of, each once."""
        return tuple(dict.fromkeys(evidence.judged for evidence in self.evidences))


def choose_abstention(address: Address, runs: Sequence[Run]) -> Abstaining:
    """Run, methods, the accuracy that is wanted and a threshold. Raises Unavailable where no run fits."""
    fit = {run.id: run for run in runs if isinstance(run.report.run, AnswerRun)}
    if not fit:
        raise Unavailable(
            "Refusing needs the confidence of every single question. The runs here are token-level sums, "
            "which do not keep them."
        )
    run = fit[address.pick("run", list(fit), next(iter(fit)))]
    st.selectbox("Run", list(fit), key="run", format_func=lambda id_: fit[id_].title)
    st.caption(f"{size(run)}, {literal(run.file.name)}")
    usable = run.report.survey.usable
    preferred = [id_ for id_ in dict.fromkeys(PREFERRED) if id_ in usable][:MOST]
    methods = several(
        address, "methods", list(usable), label="Confidence methods",
        titled=lambda id_: METHODS[id_].title, default=[id_ for id_ in usable if id_ in preferred],
    )
    wanted = _share(
        address, "wanted", "0.9", "Accuracy wanted", "0.9 or 90 %: the largest share answered with as much."
    )
    threshold = _share(
        address, "threshold", "", "Confidence threshold t",
        "0.8 or 80 %: what answering when confidence ≥ t gives. Empty: none.",
    )
    chosen = [id_ for id_ in usable if id_ in methods]
    return Abstaining(run, tuple(usable[id_] for id_ in chosen), 0.9 if wanted is None else wanted, threshold)


def _share(address: Address, key: str, default: str, label: str, help_: str) -> float | None:
    """A share typed as 0.9 or 90 %; what is none is told, and the default shown."""
    typed = address.pick(key, None, default).strip()
    found = _parsed(typed)
    if found is None and typed:
        st.caption(f":material/error: Not a share from 0 to 1: {literal(typed[:40])}.")
        found = _parsed(default)
    shown = "" if found is None else f"{found:.6g}"
    address.put(key, shown)
    address.note(key, shown, default)
    st.text_input(label, key=key, help=help_)
    return found


def _parsed(text: str) -> float | None:
    number = text.removesuffix("%").strip().replace(",", ".")
    try:
        share = float(number)
    except ValueError:
        return None
    share = share / 100 if text.endswith("%") else share
    return share if 0 <= share <= 1 else None


def curves(wanted: Abstaining) -> list[Abstention]:
    """The curve of each method."""
    run = wanted.run
    return [
        cache.kept(
            ("abstention", run.file.name, run.file.stamp, run.id, evidence.method.id),
            lambda evidence=evidence: abstention(evidence),
            most=4 * cache.LARGE_RESULTS,
        )
        for evidence in wanted.evidences
    ]


def recipes(made: Sequence[Abstention]) -> str:
    """How each line was made, one below the other."""
    return "\n".join(f"{METHODS[curve.method].title}: {curve.recipe}" for curve in made)


def tiles(wanted: Abstaining, made: Sequence[Abstention]) -> None:
    """At the wanted accuracy, at the threshold, and answering all: of the line that answers most."""
    found = [(curve, answering) for curve in made if (answering := curve.for_accuracy(wanted.wanted))]
    curve, most = max(found, key=lambda one: one[1].share, default=(made[0], None))
    title = METHODS[curve.method].title
    every = curve.all
    show.tiles([
        (
            f"Answered at {target_text(wanted.wanted)}", show.percent(most.share if most else None),
            f"The largest share of questions that {title} answers with the accuracy wanted.", title,
        ),
        (
            "By confidence ≥", threshold_text(most.threshold) if most else "–",
            "The threshold that gives it, chosen on these same rows.",
        ),
        (
            "Lower end there", show.percent(most.low if most else None),
            "Of the 95 % Wilson interval of the accuracy on those answered.",
            f"n = {most.answered:,}" if most else "",
        ),
        (
            "Right, answering all", show.percent(every.accuracy), f"Judged on the {curve.judged}.",
            curve.judged,
        ),
        (
            "Rows used / total", f"{curve.n_used:,} / {curve.n_total:,}",
            show.rows_help(next(one for one in wanted.evidences if one.method.id == curve.method)),
        ),
    ])


def table(wanted: Abstaining, made: Sequence[Abstention]) -> None:
    """One row a method: at the wanted accuracy, at the threshold, and over all thresholds."""
    rows = [_row(curve, wanted) for curve in made]
    tables.plain(
        pl.DataFrame(rows, infer_schema_length=None), key="answering",
        alt=f"{len(rows)} methods at an accuracy of {target_text(wanted.wanted)}",
    )
    st.caption(f"AURC, the area under risk against coverage: {FORMULA}; lower is better.")
    show.download(
        "Curves as CSV", lambda: pl.concat([curve.to_frame() for curve in made]),
        f"{wanted.run.id}-abstention.csv", key="download_abstention",
    )


def _row(curve: Abstention, wanted: Abstaining) -> dict[str, str]:
    at = curve.for_accuracy(wanted.wanted)
    best = curve.best
    never = f"never: at best {show.percent(best.accuracy)} (n = {best.answered:,})"
    row = {
        "Method": METHODS[curve.method].title,
        "t": threshold_text(at.threshold) if at else "–",
        f"Answered at {target_text(wanted.wanted)}": show.percent(at.share) if at else never,
        "Right": _right(at),
    }
    if wanted.threshold is not None:
        typed = curve.at_threshold(wanted.threshold)
        row[f"Answered at t = {wanted.threshold:g}"] = show.percent(typed.share)
        row["Right there"] = _right(typed)
    return row | {
        "AUROC": show.number(curve.auroc),
        "AURC": show.number(curve.area),
        "Right of all": show.percent(curve.all.accuracy),
        "Rows used / total": f"{curve.n_used:,} / {curve.n_total:,}",
        "Judged": curve.judged,
    }


def _right(answering: Answering | None) -> str:
    """"90.1 % (87.0 % to 92.6 %)", with a dash where nothing is answered."""
    if answering is None or answering.accuracy is None:
        return "–"
    ends = f"{show.percent(answering.low)} to {show.percent(answering.high)}"
    return f"{show.percent(answering.accuracy)} ({ends}), n = {answering.answered:,}"
