"""Does a file mean something else than it was taken for? A list of checks, each a function in `CHECKS`.

Hardly a right answer, confidences that fall where answers are right, or rows that repeat come from a misread
or a faulty file more often than from a model. The numbers are computed all the same, and come with a warning.
How often a check suspects an honest file is measured in `benchmarks/suspicion.md`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import permutations
from math import exp, log, sqrt
from typing import Final

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from calib_core.advice import Advice
from calib_core.edges import Scheme
from calib_core.errors import Suspicion, shorten
from calib_core.inference.clusters import cluster_numbers, design_effect, repeated_question_keys
from calib_core.methods.answers.gold_match import has_gold
from calib_core.methods.answers.normalise import AnswerNormaliser, choice_texts
from calib_core.methods.answers.outcomes import prediction_matches_gold
from calib_core.methods.columns import column
from calib_core.methods.method import Confidences
from calib_core.metrics.auroc import auroc, least_auroc
from calib_core.pairs import Distribution
from calib_core.runs import AnswerRun, kept_for_last_run
from calib_core.terms import ANSWER_TERMS, Terms

Check = Callable[[AnswerRun, Confidences], Suspicion | None]
"""A run and the confidences of one method → what is suspicious about it."""

MIN_ANSWERS: Final = 10
"""With fewer answers, none of them right is no surprise."""
FEW_RIGHT: Final = 0.02
"""Share of right answers up to which they are hardly any."""
FEW_MARKED: Final = 0.1
"""Share of samples with a readable answer up to which they are hardly any."""
MIN_ROWS_OF_ORDER: Final = 30
"""Answers from which on another order of the choices is looked for."""
BELOW_CHANCE: Final = 5.0
"""Standard deviations below guessing at which an accuracy is below it beyond doubt."""
NEAR_CHANCE: Final = 3.0
"""Standard deviations above guessing up to which another order of the choices is looked for …"""
ABOVE_CHANCE: Final = 6.0
"""… and by which that order must be above guessing. The best of 24 random orders is about 2 above it."""
CHOICE_COLUMNS: Final = ("choice_probs", "choice_logprobs", "choice_logits", "choices")
"""Columns with an entry for each choice."""
MAX_REORDERED_CHOICES: Final = 6
"""Choices up to which every order of them is tried."""
MAX_CONTRADICTING: Final = 0.05
"""Share of rows up to which outcomes may differ from a comparison of answer and gold, or from each other."""
MAX_COMPARED_ROWS: Final = 1_000
"""First rows of a run in which they are compared."""
LOW_AUROC: Final = 0.4
"""An AUROC below this is suspicious …"""
MILD_AUROC: Final = 0.45
"""… if it is this many standard deviations below that of a model that knows a little less than nothing."""
BELOW_MILD: Final = 3.0
MIN_ROWS_OF_OUTCOME: Final = 20
"""Right and wrong answers from which on confidences that tell them apart without fault are suspicious …"""
ROWS_PER_VALUE: Final = 10
"""… if there are so many rows to a value, …"""
MANY_ROWS_OF_OUTCOME: Final = 50
"""… and from which on they are in any case."""
MIN_ROWS_OF_CLASS: Final = 5
"""Rows of each of two classes, …"""
ONE_SIDED: Final = 0.95
"""… the share of them on one side of one half, …"""
CHI_SQUARED_OF_SIDES: Final = 20.0
"""… and the χ² of class by side from which on the confidence is that of one class."""
NOT_BY_CHANCE: Final = 1e-12
"""Probability up to which rows do not repeat by chance, nor because a small table was made in cycles."""
ALIKE: Final = 0.9
"""Share of pairs of rows with the same confidence that are alike where rows were copied."""
_NUMBERS: Final = (*(floats := (pl.Float16, pl.Float32, pl.Float64)), *map(pl.List, floats))
"""What confidences are, or are computed from."""

_HASHED_TOGETHER: Final = 2**18
"""Rows whose hashes are computed together: all of a large run would take several times their memory."""

_SORTED_TOGETHER: Final = 2**21
_MAX_PARTS: Final = 8
"""Rows, about, whose hashes are sorted together to find equal ones, and the most parts: all rows are hashed
again for each."""

_MAX_CHARACTERS: Final = 60
_LOOK: Final = "Check which columns were taken for the outcome and the right answer."


def suspicions(run: AnswerRun, confidences: Confidences) -> tuple[Suspicion, ...]:
    """What suggests that a run means something else than it was taken for, as one method shows it.

    Parameters
    ----------
    run : AnswerRun
    confidences : Confidences
        Those of one method for the run.

    Returns
    -------
    tuple of Suspicion
        In the order of `CHECKS`; () where nothing is suspicious.
    """
    checks = CHECKS_OF_EVENTS if confidences.probability_of == "event" else CHECKS
    return tuple(found for check in checks if (found := check(run, confidences)) is not None)


# --- Accuracy ---------------------------------------------------------------------------------------------


def accuracy_near_zero(run: AnswerRun, confidences: Confidences) -> Suspicion | None:
    """Hardly an answer is right."""
    n, n_right = confidences.pairs.n, int(confidences.pairs.correct.sum())
    if n < MIN_ANSWERS or n_right > FEW_RIGHT * n:
        return None
    count = "none" if n_right == 0 else f"only {n_right:,}"
    counts = f"{count} of {n:,} answers count{'s' if n_right < 2 else ''} as right"
    look = _position_text(run) or _LOOK
    return Suspicion("accuracy_near_zero", f"{counts}. {look}", _first_wrong(run, confidences))


def _position_text(run: AnswerRun) -> str:
    """How right answers that are numbers beside letters are read as positions; "" for all others."""
    if not run.has_columns("gold", "prediction"):
        return ""
    are_numbers = run.rows["gold"].str.contains(r"^[0-9](\.0*)?$").all()
    if not (are_numbers and run.rows["prediction"].str.contains(r"^[A-Ja-j]$").all()):
        return ""
    return (
        "The answers are letters and the right ones numbers. If these are positions counted from 0: "
        f"{Advice(columns={'COLUMN': 'gold_index'})}; if from 1: "
        f"{Advice(columns={'COLUMN': 'gold_index:from1'})}."
    )


def below_chance(run: AnswerRun, confidences: Confidences) -> Suspicion | None:
    """Fewer answers are right than guessing among the choices gives."""
    counts = _choice_counts(run)
    if counts is None:
        return None
    guessed = _guessed_rows(run, confidences)
    n_choices = counts.gather(pl.Series(confidences.pairs.rows[guessed])).to_numpy()
    n, n_right = guessed.size, int(confidences.pairs.correct[guessed].sum())
    if n < MIN_ANSWERS or n_right <= FEW_RIGHT * n or np.isnan(n_choices).any():
        return None
    chance, accuracy = float(np.mean(1 / n_choices)), n_right / n
    if _distance_from_chance(accuracy, n, chance) >= -BELOW_CHANCE:
        return None
    n_independent = n / design_effect(cluster_numbers(run, confidences.pairs.rows[guessed]))
    if _distance_from_chance(accuracy, n_independent, chance) >= -BELOW_CHANCE:
        return None
    message = (
        f"accuracy {accuracy:.3f} is far below the {chance:.3f} expected from guessing among the "
        f"choices. {_LOOK}"
    )
    return Suspicion("below_chance", message, _first_wrong(run, confidences))


def _guessed_rows(run: AnswerRun, confidences: Confidences) -> NDArray[np.intp]:
    """Positions of the pairs whose answer is a choice: a text that is none of them is no guess among them."""
    if confidences.answers is None or not run.has_columns("choices", "answer_kind"):
        return np.arange(confidences.pairs.n)
    rows = run.rows.select("choices", "answer_kind")[confidences.pairs.rows]
    is_text = (rows["answer_kind"] == "text").fill_null(value=False)
    is_choice = rows.select(pl.col("choices").list.contains(confidences.answers)).to_series()
    return np.flatnonzero(~is_text | is_choice.fill_null(value=True))


def _distance_from_chance(accuracy: float, n: float, chance: float) -> float:
    """How many standard deviations the accuracy is above guessing, for n questions; negative below it."""
    return (accuracy - chance) / sqrt(chance * (1 - chance) / n)


def _choice_counts(run: AnswerRun) -> pl.Series | None:
    """The number of choices of each row, null where there is one alone; None where the file does not say."""
    counts: pl.Series | None = None
    for name in filter(run.has_columns, CHOICE_COLUMNS):
        own = column(run, name).list.len().cast(pl.Float64)
        counts = own if counts is None else counts.fill_null(own)
    return None if counts is None else counts.set((counts < 2).fill_null(value=False), None)


# --- The order of the choices -----------------------------------------------------------------------------


def order_of_choices(run: AnswerRun, confidences: Confidences) -> Suspicion | None:
    """Another order of the choices would turn the accuracy round.

    Rows of one question asked again count as rows: it is the order that is in question, not the model.
    """
    distribution = confidences.distribution
    if distribution is None or distribution.n < MIN_ROWS_OF_ORDER:
        return None
    n, n_choices = distribution.n, int(distribution.sizes[0])
    if not 2 <= n_choices <= MAX_REORDERED_CHOICES or np.any(distribution.sizes != n_choices):
        return None
    counts = _counts_by_target(distribution, n_choices)
    n_right = int(np.trace(counts))
    if _distance_from_chance(n_right / n, n, 1 / n_choices) > NEAR_CHANCE:
        return None
    targets = np.arange(n_choices)
    best = max(permutations(range(n_choices)), key=lambda order: int(counts[targets, list(order)].sum()))
    n_in_order = int(counts[targets, list(best)].sum())
    if _distance_from_chance(n_in_order / n, n, 1 / n_choices) < ABOVE_CHANCE:
        return None
    message = (
        f"with the choices {_order_text(best)}, accuracy would be {n_in_order / n:.3f} "
        f"instead of {n_right / n:.3f}. Check the order of the choices, and whether gold counts from 0."
    )
    top, target = distribution.top_index, distribution.target
    turned = np.flatnonzero((top == np.array(best)[target]) & (top != target))
    return Suspicion("order_of_choices", message, _pair_in_words(run, confidences, int(turned[0])))


def _counts_by_target(distribution: Distribution, n_choices: int) -> NDArray[np.int64]:
    """How often each choice is the top label where each is right; shape (target, top label)."""
    cell = distribution.target * n_choices + distribution.top_index
    return np.bincount(cell, minlength=n_choices**2).reshape(n_choices, n_choices)


def _order_text(order: tuple[int, ...]) -> str:
    """What distinguishes an order of the choices: right choice → the one that is taken instead."""
    n_choices = len(order)
    if n_choices == 2:
        return "swapped"
    if all(taken == (right - 1) % n_choices for right, taken in enumerate(order)):
        return "shifted by one (as if gold were counted from 1)"
    if all(taken == (right + 1) % n_choices for right, taken in enumerate(order)):
        return "shifted by one the other way (as if they were counted from 1 and gold from 0)"
    if list(order) == list(range(n_choices))[::-1]:
        return "in reverse order"
    return f"in the order {', '.join(str(taken + 1) for taken in order)}"


# --- Answers and outcomes ---------------------------------------------------------------------------------


def samples_unmarked(run: AnswerRun, confidences: Confidences) -> Suspicion | None:
    """Hardly one of the sampled answers can be read."""
    n_samples, n_unparsed = confidences.n_samples, confidences.n_unparsed
    n_marked = n_samples - n_unparsed
    if n_samples < MIN_ANSWERS or n_marked > FEW_MARKED * n_samples:
        return None
    samples = column(run, "samples")
    first = int(samples.is_not_null().arg_max() or 0)
    text = samples.list.drop_nulls().list.first()[first]
    shown = "its samples hold no answer" if text is None else f"sample {shorten(text, _MAX_CHARACTERS)!r}"
    message = (
        f"an answer can be read in only {n_marked:,} of {n_samples:,} samples. Check that the column holds "
        f"answers, and how they are marked."
    )
    return Suspicion("samples_unmarked", message, f"{_place(run, first)}: {shown}")


def outcome_contradicts_answer(run: AnswerRun, confidences: Confidences) -> Suspicion | None:
    """Outcomes contradict answers and golds: equal and wrong, or different and right.

    A text that differs from its gold may be right, so of texts only equal ones count. Where the accuracy is
    suspicious, that is said instead.
    """
    rows, n_compared = _contradicting_rows(run)
    if rows.size <= MAX_CONTRADICTING * n_compared:
        return None
    if accuracy_near_zero(run, confidences) or below_chance(run, confidences):
        return None
    message = f"in {rows.size:,} of {n_compared:,} rows the outcome contradicts the answer. {_LOOK}"
    at = int(rows[0])
    example = _row_in_words(run, at, column(run, "prediction")[at], correct=bool(run.rows["correct"][at]))
    return Suspicion("outcome_contradicts_answer", message, example)


@kept_for_last_run
def _contradicting_rows(run: AnswerRun) -> tuple[NDArray[np.intp], int]:
    """Positions of the rows in which the outcome contradicts the answer, and how many were compared."""
    none = np.zeros(0, np.intp), 0
    has_answer = run.has_columns("prediction") or run.has_columns("prediction_index")
    may_have_gold = any(name in run.rows.columns for name in ("gold", "gold_index", "gold_all"))
    if not (has_answer and may_have_gold and run.has_columns("correct") and has_gold(run).any()):
        return none
    first = replace(run, rows=run.rows.head(MAX_COMPARED_ROWS))
    is_same_text = column(first, "prediction") == column(first, "gold")
    if (is_same_text != first.rows["correct"]).mean() == 0:
        return none  # as in most files, which takes no reading of the answers
    normaliser = AnswerNormaliser.for_run(first)
    matched, _ = prediction_matches_gold(first, normaliser)
    stored = first.rows["correct"]
    compared = matched.is_not_null() & stored.is_not_null()
    opposite = compared & (matched != stored) & (matched | (normaliser.kind != "text"))
    return np.flatnonzero(opposite.to_numpy()), int(compared.sum())


def outcomes_disagree(
    first: str, second: str, n_differing: int, n_compared: int, example: str
) -> Suspicion | None:
    """Two columns of outcomes say different things of the same answers.

    Parameters
    ----------
    first, second : str
        What they are called in the file.
    n_differing, n_compared : int
        Rows in which they differ, of those that have both.
    example : str
        A row in which they do, in words.
    """
    if n_compared < MIN_ANSWERS or n_differing <= MAX_CONTRADICTING * n_compared:
        return None
    message = (
        f"the outcomes in {first!r} and {second!r} differ in {n_differing:,} of the first {n_compared:,} "
        f"rows. Check which of them says whether the answer is right."
    )
    return Suspicion("outcomes_disagree", message, example)


# --- Confidence against outcome ---------------------------------------------------------------------------


def auroc_below_half(run: AnswerRun, confidences: Confidences) -> Suspicion | None:
    """Right answers have lower confidences than wrong ones, beyond doubt.

    The standard deviation is that of a model whose confidences say nothing and do not tie, for ties make it
    smaller; rows of a repeated question count as if they were one.
    """
    pairs = confidences.pairs
    n_right = int(pairs.correct.sum())
    n_wrong = pairs.n - n_right
    if pairs.n < MIN_ANSWERS or not n_right or not n_wrong:
        return None
    variance = (pairs.n + 1) / (12 * n_right * n_wrong)
    if BELOW_MILD * sqrt(variance) > MILD_AUROC:
        return None  # too few, even if each right answer is below each wrong one
    sums, suspicious_below = pairs.sums(), min(LOW_AUROC, MILD_AUROC - BELOW_MILD * sqrt(variance))
    if least_auroc(sums) >= suspicious_below:  # as in most files, whose confidences need not be sorted then
        return None
    area = auroc(sums, Scheme())
    if area is None or area >= suspicious_below:
        return None
    variance *= design_effect(cluster_numbers(run, pairs.used_rows))
    if area >= MILD_AUROC - BELOW_MILD * sqrt(variance):
        return None
    of_event = confidences.probability_of == "event"
    stated, outcome = ("event_prob", "event") if of_event else ("confidence", "correct")
    inverted, swapped = (
        Advice(columns={"COLUMN": name}) for name in (f"{stated}:inverted", f"{outcome}:not")
    )
    found = (
        "rows with no have a higher probability of yes than rows with yes"
        if of_event
        else "wrong answers have higher confidences than right ones"
    )
    message = (
        f"{found} (AUROC {area:.3f}; 0.5 is no better than chance). The score may run the other way, as "
        f"{'the probability of no' if of_event else 'a risk or an uncertainty'} does (then {inverted}), or "
        f"{confidences.terms.right} and {confidences.terms.wrong} may be swapped (then {swapped})."
    )
    most_confident = int(np.argmax(np.where(pairs.correct, -1, pairs.confidence)))
    return Suspicion("auroc_below_half", message, _pair_in_words(run, confidences, most_confident))


def confidence_tells_outcome(run: AnswerRun, confidences: Confidences) -> Suspicion | None:
    """Every right answer has a higher confidence than every wrong one."""
    pairs = confidences.pairs
    n_right = int(np.count_nonzero(pairs.correct))
    n_wrong = pairs.n - n_right
    least_right = pairs.confidence.min(where=pairs.correct, initial=np.inf)
    most_wrong = pairs.confidence.max(where=~pairs.correct, initial=-np.inf)
    n_of_rarer = min(n_right, n_wrong)
    if n_of_rarer < MIN_ROWS_OF_OUTCOME or least_right <= most_wrong:
        return None
    if n_of_rarer < MANY_ROWS_OF_OUTCOME and ROWS_PER_VALUE * np.unique(pairs.confidence).size > pairs.n:
        return None
    message = (
        f"all {n_right:,} right answers have a confidence of {least_right:.4g} or more, and all "
        f"{n_wrong:,} wrong ones {most_wrong:.4g} or less. No model knows itself that well: the "
        "column was probably made from the outcome. Use the confidence from before the answer was judged."
    )
    if confidences.probability_of == "event":
        message = (
            f"all {n_right:,} rows with yes have a probability of {least_right:.4g} or more, and all "
            f"{n_wrong:,} rows with no {most_wrong:.4g} or less. Either the event is easy to foresee, "
            "or the column was made from the outcome. Check that it was there before."
        )
    least_confident = int(np.argmin(np.where(pairs.correct, pairs.confidence, 2)))
    return Suspicion("confidence_tells_outcome", message, _pair_in_words(run, confidences, least_confident))


def one_sided_class(run: AnswerRun, confidences: Confidences) -> Suspicion | None:
    """Of two classes, one is predicted with confidences below one half alone, the other with higher ones."""
    pairs, answers = confidences.pairs, confidences.answers
    if answers is None or pairs.computed or answers.len() - answers.null_count() < 2 * MIN_ROWS_OF_CLASS:
        return None
    classes = answers.drop_nulls().unique().sort().to_list()
    if len(classes) != 2:
        return None
    golds, n_choices = column(run, "gold").gather(pl.Series(pairs.rows)).drop_nulls(), _choice_counts(run)
    if golds.n_unique() > 2 or (n_choices is not None and (n_choices > 2).any()):
        return None
    is_second = (answers == classes[1]).to_numpy().astype(np.bool_)
    known = answers.is_not_null().to_numpy()
    is_high = pairs.confidence >= 0.5
    table = np.bincount(2 * is_second[known] + is_high[known], minlength=4).reshape(2, 2)
    high = 1 if table[1, 1] * table[0, 0] > table[0, 1] * table[1, 0] else 0
    sides = np.array([table[1 - high, 0], table[high, 1]])  # the other class below one half, this one above
    by_class, by_side = table.sum(axis=1), table.sum(axis=0)
    if by_class.min() < MIN_ROWS_OF_CLASS or np.any(sides < ONE_SIDED * by_class[[1 - high, high]]):
        return None
    determinant = int(table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0])
    if determinant**2 * int(known.sum()) < CHI_SQUARED_OF_SIDES * float(by_class.prod() * by_side.prod()):
        return None
    label, other = classes[high], classes[1 - high]
    of_class = Advice(columns={"COLUMN": f"confidence:class:{shorten(label)}"})
    message = (
        f"rows that predict {shorten(other)!r} have confidences below 0.5, those that predict "
        f"{shorten(label)!r} higher ones. The column is probably the probability of {shorten(label)!r}, and "
        f"the confidence is 1 minus it where the prediction is {shorten(other)!r}: {of_class}"
    )
    example = _pair_in_words(run, confidences, int(np.argmax(known & (is_second != bool(high)) & ~is_high)))
    return Suspicion("one_sided_class", message, example)


# --- Rows -------------------------------------------------------------------------------------------------


def rows_repeat(run: AnswerRun, confidences: Confidences) -> Suspicion | None:
    """Rows are equal in all that is read but their ids, more often than by chance.

    Rows that count as one question asked again are no suspicion.
    """
    pairs = confidences.pairs
    contents = _row_contents(run)
    if contents is None:
        return None
    if pairs.used_rows is not None:
        contents = contents.gather(pl.Series(pairs.used_rows))
    repeated = ~contents.is_first_distinct()
    if not repeated.any():
        return None
    if not (_occur_twice(contents) or _equal_confidences_agree(run, confidences)):
        return None
    at = int(repeated.arg_max() or 0)
    of = int((contents == contents[at]).arg_max() or 0)
    message = (
        f"{int(repeated.sum()):,} of {contents.len():,} rows equal another row in every column that is "
        "read except the id, more often than by chance. Each counts as a separate question. Leave out "
        "what was added twice, or name the question that each row asks: "
        f"{Advice(columns={'COLUMN': 'trial_of'})}"
    )
    example = f"{_pair_in_words(run, confidences, at)}, all as in {_place(run, int(pairs.rows[of]))}"
    return Suspicion("rows_repeat", message, example)


@kept_for_last_run
def _row_contents(run: AnswerRun) -> pl.Series | None:
    """Hash of all that each row holds but its id; None where all differ, as in nearly every large file."""
    n_parts = min(1 + run.rows.height // _SORTED_TOGETHER, _MAX_PARTS)
    for part in range(n_parts):  # hashing all rows again for each takes time, but no memory
        hashes = (some[some % n_parts == part] for some in _hashes_of_rows(run, cs.all()))
        in_order = _joined(hashes)
        in_order.sort()
        if bool((in_order[1:] == in_order[:-1]).any()):
            return pl.Series(_joined(_hashes_of_rows(run, cs.all())))
    return None


def _joined(hashes: Iterable[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """All in one array, in hardly more memory than that takes."""
    joined = io.BytesIO()
    for some in hashes:
        joined.write(some.data)
    return np.frombuffer(joined.getbuffer(), np.uint64)


def _hashes_of_rows(run: AnswerRun, columns: cs.Selector) -> Iterator[NDArray[np.uint64]]:
    """Hashes of these columns without row and id, of some rows after others.

    Rows that count as one question asked again never agree.
    """
    keys = repeated_question_keys(run)
    own_row = pl.lit(None) if keys is None else pl.when(keys.is_duplicated()).then(pl.col("row"))
    rows = run.rows.select(columns - cs.by_name("row", "id", require_all=False), own_row.alias("row"))
    for start in range(0, rows.height, _HASHED_TOGETHER):
        yield rows.slice(start, _HASHED_TOGETHER).hash_rows().to_numpy()


def _occur_twice(contents: pl.Series) -> bool:
    """Whether most contents occur in an even number of rows, as in a file that was copied into itself.

    Of contents that occur at all and are to be expected λ times, (1 + exp(−λ))/2 occur an odd number of times
    by chance: at least half, whatever the frequencies.
    """
    counts = contents.value_counts()["count"].to_numpy()
    return _chance_bound(int(np.sum(counts % 2 == 0)), counts.size, 0.5) <= NOT_BY_CHANCE


def _equal_confidences_agree(run: AnswerRun, confidences: Confidences) -> bool:
    """Whether two rows that share a confidence are alike far more often than rows with neighbouring ones.

    Whatever confidences are rounded to, rows that share one by chance have the same answer, gold and outcome
    no more often than their neighbours do. Confidences that three rows share or more are passed over.
    """
    pairs = confidences.pairs
    order = np.argsort(pairs.confidence, kind="stable")
    texts_and_outcomes = _joined(_hashes_of_rows(run, cs.all() - cs.by_dtype(_NUMBERS)))
    confidence, content = pairs.confidence[order], texts_and_outcomes[pairs.rows[order]]
    is_tied, is_alike = (np.pad(values[1:] == values[:-1], 1) for values in (confidence, content))
    is_twin = is_tied[1:-1] & ~is_tied[:-2] & ~is_tied[2:]
    is_beside = ~is_tied[1:-1] & (np.pad(is_twin, (0, 1))[1:] | np.pad(is_twin, (1, 0))[:-1])
    alike = is_alike[1:-1]
    n_twins, n_beside = int(is_twin.sum()), int(is_beside.sum())
    if not n_twins or not n_beside or alike[is_twin].mean() < ALIKE:
        return False
    share = float(alike[is_beside].mean())
    share += 3 * sqrt(share * (1 - share) / n_beside) + 3 / n_beside  # as it may be, at most
    return _chance_bound(int(alike[is_twin].sum()), n_twins, share) <= NOT_BY_CHANCE


def _chance_bound(n: int, n_of: int, share: float) -> float:
    """Chernoff's upper bound on the probability of n or more of n_of, each with probability `share`."""
    found = n / n_of
    if found <= share:
        return 1.0
    divergence = (
        found * log(found / share) + (1 - found) * log((1 - found) / (1 - share)) if n < n_of else -log(share)
    )
    return exp(-n_of * divergence)


# --- Examples ---------------------------------------------------------------------------------------------


def _first_wrong(run: AnswerRun, confidences: Confidences) -> str:
    """The first wrong answer, of those with answer and gold where there are any."""
    wrong = np.flatnonzero(~confidences.pairs.correct)
    gold = column(run, "gold").gather(pl.Series(confidences.pairs.rows[wrong]))
    answers = gold if confidences.answers is None else confidences.answers.gather(pl.Series(wrong))
    complete = (answers.is_not_null() & gold.is_not_null()).arg_max() or 0
    return _pair_in_words(run, confidences, int(wrong[complete]))


def _pair_in_words(run: AnswerRun, confidences: Confidences, at: int) -> str:
    """The row of the pair at this position, with its confidence, outcome, answer and gold."""
    pairs = confidences.pairs
    answer = None if confidences.answers is None else confidences.answers[at]
    return _row_in_words(
        run,
        int(pairs.rows[at]),
        answer,
        float(pairs.confidence[at]),
        correct=bool(pairs.correct[at]),
        terms=confidences.terms,
    )


def _row_in_words(
    run: AnswerRun,
    at: int,
    answer: str | None,
    confidence: float | None = None,
    *,
    correct: bool | None = None,
    terms: Terms = ANSWER_TERMS,
) -> str:
    """A row in words: "row 17 (id 'q3'): confidence 0.93, counts as wrong; answer '7', gold '8'"."""
    row = replace(run, rows=run.rows[at : at + 1])
    gold = column(row, "gold").fill_null(choice_texts(row.rows, column(row, "gold_index")))[0]
    facts = [
        "" if confidence is None else f"{terms.confidence} {confidence:.4g}",
        "" if correct is None else f"counts as {terms.right if correct else terms.wrong}",
    ]
    texts = [
        f"{what} {shorten(text, _MAX_CHARACTERS)!r}"
        for what, text in (("answer", answer), ("gold", gold))
        if text
    ]
    return f"{_place(run, at)}: {'; '.join(filter(None, (', '.join(filter(None, facts)), ', '.join(texts))))}"


def _place(run: AnswerRun, at: int) -> str:
    """The number of the row at this position, and its id."""
    id_ = column(run, "id")[at]
    return f"row {run.rows['row'][at]}" + ("" if id_ is None else f" (id {shorten(id_)!r})")


CHECKS: Final[tuple[Check, ...]] = (
    accuracy_near_zero,
    below_chance,
    order_of_choices,
    samples_unmarked,
    outcome_contradicts_answer,
    auroc_below_half,
    confidence_tells_outcome,
    one_sided_class,
    rows_repeat,
)
"""What is checked, the plainest first."""

CHECKS_OF_EVENTS: Final[tuple[Check, ...]] = (auroc_below_half, confidence_tells_outcome, rows_repeat)
"""Those for probabilities of events: a rare event is not a fault, and there is no answer to be guessed."""
