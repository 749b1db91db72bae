"""What does a threshold cost, and what does it cost to believe the confidence when choosing it?

A wrong answer and a question that is handed on have a cost each. If a confidence c is calibrated, answering
is expected to cost (1 − c) · wrong, so it pays from c* = 1 − handed_on / wrong on. What that threshold costs
more than the best one is the price of believing a confidence that is off.

References
----------
Chow (1970), "On optimum recognition error and reject tradeoff", doi:10.1109/TIT.1970.1054406.
Elkan (2001), "The foundations of cost-sensitive learning", IJCAI.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.inference.decision_loss import DecisionLoss, ErrorCosts, decision_loss
from calib_core.methods import METHODS
from calib_core.results.abstention import AbstentionCurve, abstention_curve, first_steps
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import AnswerEvidence, Evidence, refuse_weights
from calib_core.results.uncertainty import MIN_OF_RARER_OUTCOME, count_rarer_outcome
from calib_core.terms import Terms
from calib_core.wording import format_percent

MIN_QUESTIONS: Final = 60
"""With fewer, the price has no interval (benchmarks/threshold_cost.md)."""

COVERAGE_NOTE: Final = "It held the true price in 94 % or more of simulated data sets."
"""What is known of the interval (benchmarks/threshold_cost.md)."""


def cost_columns(terms: Terms) -> tuple[Column, ...]:
    """The columns of what the thresholds of a method cost."""
    return (
        Column("run"),
        Column("method", "Method", "method"),
        Column(
            "believed",
            "Believed ≥",
            "exact",
            f"{terms.confidence.capitalize()}: 1 − handed on / {terms.wrong_answer}, if it is calibrated.",
        ),
        Column("believed_share", terms.answered.capitalize(), "share"),
        Column("believed_cost", f"Cost per {terms.question}", "mixed"),
        Column(
            "cheapest",
            "Cheapest ≥",
            "exact",
            f"{terms.confidence.capitalize()} with the lowest cost on these very rows.",
        ),
        Column("cheapest_share", f"{terms.answered.capitalize()} there", "share"),
        Column(
            "cheapest_cost",
            "Cost there",
            "mixed",
            "Chosen on the rows that it is judged on, so it is too low.",
        ),
        Column(
            "price",
            "Price",
            "mixed",
            f"Cost of the believed threshold minus that of the cheapest one, per {terms.question}.",
        ),
        Column(
            "price_low",
            "95 %",
            "mixed",
            "Against the threshold that is cheapest in the long run; of all thresholds at once.",
            upper="price_high",
        ),
        Column("price_high", kind="mixed"),
        Column("recipe"),
    )


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCost(Displayable):
    """What each threshold of one method costs on one run.

    Attributes
    ----------
    curve : AbstentionCurve
    costs : ErrorCosts
    price : DecisionLoss or None
        Cost per question of the believed threshold above that of the best one; None with fewer than
        `MIN_QUESTIONS` questions, or `MIN_OF_RARER_OUTCOME` right or wrong answers (to different ones).
    seed : int
        Of the draws.
    """

    curve: AbstentionCurve
    costs: ErrorCosts
    price: DecisionLoss | None
    seed: int

    @cached_property
    def cost(self) -> NDArray[np.float64]:
        """Cost per question at each step of the curve; shape (n_steps,)."""
        return self.costs.of_steps(self.curve.n_answered, self.curve.n_correct, self.curve.n_questions)

    @property
    def believed(self) -> float:
        """The threshold that a calibrated confidence implies."""
        return self.costs.calibrated_threshold

    @property
    def believed_cost(self) -> float:
        """Cost per question of answering from the believed threshold on."""
        return self.cost_at(self.believed)

    @property
    def cheapest_step(self) -> int | None:
        """The step of lowest cost on these rows, of equal ones the most confident; None to hand on all."""
        step = int(np.argmin(self.cost))
        return step if self.cost[step] < self.costs.handed_on else None

    def cost_at(self, threshold: float) -> float:
        """Cost per question of answering where confidence ≥ threshold."""
        point = self.curve.at_threshold(threshold)
        answered, correct = np.array([point.n_answered]), np.array([point.n_correct])
        return float(self.costs.of_steps(answered, correct, point.n_questions)[0])

    @property
    def recipe(self) -> str:
        """How the costs were computed."""
        terms = self.curve.terms
        return (
            f"cost per {terms.question}, {self.costs.wrong:g} for a {terms.wrong_answer}, "
            f"{self.costs.handed_on:g} for one handed on; 95 %: multiplier band over all thresholds, by "
            f"{terms.question}, seed {self.seed}, "
            f"{self.curve.recipe}"
        )

    @property
    def headline(self) -> str:
        """What believing the confidence costs, against the best threshold."""
        terms = self.curve.terms
        means = "calling yes" if terms.of == "event" else "answering"
        lead = (
            f"Believing “{METHODS[self.curve.method].title}” means {means} from "
            f"{format_percent(self.believed)} on. That costs {format_cost(self.believed_cost)} per "
            f"{terms.question}"
        )
        if self.price is None:
            return f"{lead}."
        if self.price.low > 0:
            interval = f"95 % interval {format_cost(self.price.low)} to {format_cost(self.price.high)}"
            return f"{lead}, {format_cost(self.price.value)} more than the best threshold ({interval})."
        return (
            f"{lead}, not clearly more than the best threshold (at most {format_cost(self.price.high)} more, "
            "with 95 % confidence)."
        )

    def to_frame(self) -> pl.DataFrame:
        """One row, with `cost_columns`."""
        return frame_of(cost_columns(self.curve.terms), [self.row()])

    def steps(self) -> pl.DataFrame:
        """The steps of the curve (`AbstentionCurve.to_frame`), with the `cost` per question of each."""
        return self.curve.to_frame().with_columns(cost=self.cost, recipe=pl.lit(self.recipe))

    def row(self) -> dict[str, Any]:
        """The believed and the cheapest threshold, and the price of believing, as a row of a table."""
        step, price = self.cheapest_step, self.price
        cheapest = None if step is None else self.curve.at_step(step)
        return {
            "run": self.curve.run,
            "method": self.curve.method,
            "believed": self.believed,
            "believed_share": self.curve.at_threshold(self.believed).coverage,
            "believed_cost": self.believed_cost,
            "cheapest": cheapest and cheapest.threshold,
            "cheapest_share": cheapest.coverage if cheapest else 0.0,
            "cheapest_cost": self.costs.handed_on if step is None else float(self.cost[step]),
            "price": price and price.value,
            "price_low": price and price.low,
            "price_high": price and price.high,
            "recipe": self.recipe,
        }


def threshold_cost(evidence: Evidence, costs: ErrorCosts, *, seed: int = 0) -> ThresholdCost:
    """What each threshold of one method costs, and the price of believing its confidence.

    Rows without a confidence are handed on at every threshold.

    Parameters
    ----------
    evidence : Evidence
    costs : ErrorCosts
    seed : int
        Of the draws.

    Raises
    ------
    Unavailable
        For costs that are not as `ErrorCosts` says, for token-level sums, and where no row is usable.
    """
    if not (0 < costs.wrong < np.inf and 0 <= costs.handed_on < np.inf):
        terms = evidence.terms
        raise Unavailable(
            f"A {terms.wrong_answer} must cost more than 0, and a {terms.question} that is handed on 0 or "
            "more."
        )
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable("Costs need a confidence for each row; token-level runs keep sums only.")
    refuse_weights(evidence, "The cost of a threshold")
    curve, top = abstention_curve(evidence), evidence.top_label
    n_questions = top.n_used if top.cluster is None else int(top.cluster.max()) + 1
    pairs = top.confidences.pairs
    if n_questions < MIN_QUESTIONS or count_rarer_outcome(top) < MIN_OF_RARER_OUTCOME:
        return ThresholdCost(curve, costs, None, seed)
    step = first_steps(curve.threshold, pairs.confidence.astype(np.float64))
    n_answered = curve.at_threshold(costs.calibrated_threshold).n_answered
    believed_step = int(np.searchsorted(curve.n_answered, n_answered, side="right")) - 1
    loss = decision_loss(step, pairs.correct, believed_step, costs, top.cluster, seed)
    share = curve.n_used / curve.n_questions  # rows without a confidence cost the same at every threshold
    return ThresholdCost(
        curve, costs, DecisionLoss(share * loss.value, share * loss.low, share * loss.high), seed
    )


def format_cost(cost: float) -> str:
    """A cost with three digits: "0.312", "12.5"."""
    return f"{cost:.3g}"
