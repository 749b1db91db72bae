"""What the name of a column says: which of Calib's names it stands for, and in which direction.

A name says something if it is a usual spelling (`SPELLINGS`), or if one of its words does (`WORDS`) and the
others add nothing (`NEUTRAL`). With other words beside it, it only hints: whether it is meant is asked.
A new spelling is a word in one of these tables and a line in the test's table of headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from calib_core.readers.format import Clarity
from calib_core.runs import RUN_COLUMNS, confidence_name

SPELLINGS: Final = MappingProxyType[str, tuple[str, ...]](
    {
        "id": (
            "id",
            "question_id",
            "qid",
            "doc_id",
            "sample_id",
            "example_id",
            "instance_id",
            "custom_id",
            "uid",
            "idx",
            "index",
            "key",
        ),
        "p_true": ("p_true", "prob_true", "p(true)", "p_correct", "true_prob"),
        "p_false": ("p_false", "prob_false", "p(false)", "false_prob"),
        "path_mean_prob": (
            "path_mean_prob",
            "avg_prob",
            "mean_prob",
            "seq_prob",
            "logit_perplexity_confidence",
        ),
        "answer_mean_prob": ("answer_mean_prob", "answer_prob", "extracted_seq_prob"),
        "verbal_confidence": (
            "verbal_confidence",
            "verbalized",
            "verbalized_confidence",
            "verbal_numerical_confidence",
            "stated_confidence",
            "self_reported",
            "conf_text",
            "extracted_prob",
        ),
        "confidence": (
            "confidence",
            "conf",
            "prob",
            "probability",
            "p",
            "certainty",
            "score_conf",
            "confidence_score",
            "confidence_level",
            "confidence_levels",
            "top_prob",
            "max_prob",
            "msp",
            "y_prob",
            "y_score",
            "y_proba",
            "predict_proba",
            "p_ik",
        ),
        "event_prob": ("event_prob", "event_probability", "prob_event", "p_event", "probability_of_event"),
        "event": ("event", "event_occurred", "event_happened", "event_outcome", "event_true"),
        "correct": (
            "correct",
            "is_correct",
            "acc",
            "accuracy",
            "em",
            "exact_match",
            "hit",
            "evals",
            "passed",
            "grade",
            "correctness",
            "extracted_prom46_score",
        ),
        "gold": (
            "gold",
            "target",
            "y_true",
            "answer_key",
            "correct_answer",
            "correct_option",
            "ground_truth",
            "ground_truth_answer",
            "gt",
            "reference",
            "references",
            "gold_answer",
            "gold_answers",
            "answers.text",
            "expected",
            "ideal",
            "solution",
            "standard_answer",
            "actual",
            "label",
            "answer",
            "answer_idx",
            "answer_index",
            "y_test",
            "y",
        ),
        "prediction": (
            "prediction",
            "pred",
            "predicted",
            "model_answer",
            "parsed_answer",
            "extracted_answer",
            "final_answer",
            "answer_pred",
            "y_pred",
            "greedy",
            "response",
            "output",
            "completion",
            "generation",
            "actual_output",
            "pred_idx",
            "pred_index",
            "y_hat",
            "most_likely_answer",
            "selected_option",
            "actual",
            "label",
            "answer",
            "answer_idx",
            "answer_index",
        ),
        "choice_logprobs": (
            "choice_logprobs",
            "logprobs",
            "log_probs",
            "lls",
            "loglikelihoods",
            "choice_scores",
            "option_logprobs",
        ),
        "choice_logits": ("choice_logits", "logits", "option_logits"),
        "choice_probs": (
            "choice_probs",
            "probs",
            "probabilities",
            "softmax",
            "option_probs",
            "proba",
            "choice_masses",
            "masses",
            "y_proba",
            "predict_proba",
        ),
        "samples": (
            "samples",
            "generations",
            "responses",
            "completions",
            "answers",
            "outputs",
            "sampled_answers",
            "predictions",
        ),
        "choices": ("choices", "options", "candidates", "endings"),
        "path_logprobs": ("path_logprobs", "token_logprobs", "completion_logprobs"),
        "answer_logprobs": ("answer_logprobs", "answer_token_logprobs"),
        "question": (
            "question",
            "prompt",
            "input",
            "user_input",
            "query",
            "problem",
            "text",
            "instruction",
            "ctx",
            "frage",
        ),
        "model": ("model", "model_name", "model_id", "engine", "llm", "checkpoint_name"),
        "dataset": ("dataset", "dataset_name", "task", "task_name", "benchmark"),
        "subject": ("subject", "category", "topic", "domain", "subtask", "group", "subject_name"),
        "shots": ("shots", "n_shot", "num_fewshot", "k_shot", "fewshot", "n_shots"),
        "params_b": ("params_b", "params", "n_params", "model_size", "num_parameters", "parameters"),
        "tuning": (
            "tuning",
            "tuned",
            "variant",
            "instruct",
            "finetuned",
            "is_chat",
            "aligned",
        ),
        "temperature": ("temperature", "temp"),
        "checkpoint": ("checkpoint", "revision"),
        "tokens_seen": ("tokens_seen", "training_tokens"),
    }
)
"""Calib's name → usual spellings, the likeliest first; a spelling of several names is decided by values."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WORDS: Final = MappingProxyType[str, frozenset[str]](
    {
        "confidence": _words(
            "confidence confidences conf certainty certain sure sureness probability probabilities prob "
            "probs proba likelihood credence konfidenz sicherheit wahrscheinlichkeit confiance confianza"
        ),
        "confidence:inverted": _words("uncertainty uncertain doubt unsicherheit"),
        "confidence:log": _words("logprob logprobs logp lp loglik loglikelihood"),
        "confidence:nll": _words("nll nlls negloglik negloglikelihood surprisal"),
        "correct": _words(
            "correct correctly correctness right accurate accuracy acc pass passed successful "
            "succeeded solved hit ok okay match matched richtig korrekt"
        ),
        "correct:not": _words(
            "wrong incorrect incorrectly inaccurate error errors err mistake mistaken fail failed fails "
            "failure hallucination hallucinations hallucinated hallucinates hallucinating falsch fehler"
        ),
        "gold": _words("gold golden truth true target reference ref expected solution gt groundtruth"),
        "prediction": _words(
            "prediction predicted pred model llm ai assistant response output outputs completion generation "
            "generated extracted parsed said says guess guessed chosen picked given"
        ),
        "id": _words("id ids uid uuid nr no number index idx num key"),
        "subject": _words("subject subjects topic category domain field area theme fach thema"),
    }
)
"""What a word of a name says, as it is written after `--map COLUMN=`."""

NEUTRAL: Final = _words(
    "is was were are has the a an it its of out in on for by to how i y model models llm ai gpt lm assistant "
    "answer answers answered question item row sample example doc task response output prediction predicted "
    "pred completion choice option label letter text class token top max mean avg average final raw overall "
    "extracted parsed score value level levels percent pct percentage estimate estimated self stated verbal "
    "verbalized verbalised reported numeric numerical number softmax calibrated flag judge judged judgement "
    "judgment grade graded eval evaluated evaluation exact em frage antwort"
)
"""Words that change nothing about what the others say."""

PEOPLE: Final = _words(
    "human humans annotator annotators rater raters labeler labeller expert experts person people "
    "crowd manual mensch menschlich annotateur anotador"
)
"""Words of a column that holds what people say of an answer …"""
JUDGES: Final = _words(
    "judge judges judged judgement judgment grader autograder evaluator autorater autoeval verdict"
)
"""… and of one that holds what a model says of it, where another one holds what people say."""
LABELS: Final = _words(
    "label labels labeled labelled score scores rating ratings verdict verdicts grade grades judgement "
    "judgment judgments decision annotation annotated eval evaluation feedback pass passed correct "
    "correctness acceptable accept accepted result outcome choice preference preferred winner vote value "
    "final majority is was the a by of llm gpt ai as lm"
)
"""Words of such a column that add nothing: what is said may be a label, a grade or a number."""

NOUNS: Final = _words("answer answers antwort option choice label letter response text index idx key class")
"""What a name ends in that says which answer it is: the right one, or the model's."""
NEGATIVES: Final = _words("neg negative minus")
"""What makes a logarithm a negative log-likelihood."""
LOSSES: Final = _words("loss losses")
"""What is often a negative log-likelihood."""
NEGATIONS: Final = _words("not non never")
SCORES: Final = _words("score reward success outcome result")
"""What is given to an answer, and may be good or bad; a name of these alone says no direction.

`success` may be that of the answer, of the call that brought it, or of an attack.
"""
OF_ONE_CLASS: Final = _words("p prob probs proba probability")
"""Words that, with a number or letter beside, name the probability of one class, not of the answer."""
OUTPUTS: Final = _words("output outputs response completion generation prediction choices options")
"""What the model wrote, or may choose; a text inside is no question."""
QUESTIONS: Final = _words("question q item row sample example doc instance problem prompt task request frage")
"""What ids may be of."""
NO_SHARE: Final = _words(
    "low lower lo lb high higher upper hi ub bound bounds ci interval stderr std variance cost costs price"
)
"""Words of numbers that are no confidence, though they may lie between 0 and 1: bounds, spreads, prices."""
UNANSWERED: Final = _words(
    "attempt attempted abstain abstained abstains abstention refuse refused refuses refusal decline declined "
    "skip skipped answer answered unanswered unparsed unparseable empty timeout"
)
"""Words of columns that tell whether there is an answer at all."""
JUDGED_BY: Final = _words("filter judge grader scorer metric")
"""Words of columns that tell by what the answer of a row was judged: several rows have the same answer."""
RIGHTS: Final = _words("correct right true richtig richtige")
_PERCENT: Final = _words("percent percentage pct")
_SCALE_FROM_ZERO: Final = re.compile(
    r"(?:(?<![0-9.])0 ?(?:[-–_]|to|_to_) ?|(?<![0-9])/|out[ _]of[ _])([1-9][0-9]{0,2})(?![0-9.])"
)


class Meaning(NamedTuple):
    """What a name says."""

    name: str
    clarity: Clarity


def normalise_name(name: str) -> str:
    """Normalise a column name for comparison: its letters and digits, in lower case.

    Examples
    --------
    >>> normalise_name("Is_Correct"), normalise_name("conf (%)")
    ('iscorrect', 'conf')
    """
    return "".join(filter(str.isalnum, name.lower()))


_SPELT: Final = {name: tuple(map(normalise_name, spellings)) for name, spellings in SPELLINGS.items()}
_CONFIDENCE_WORD: Final = re.compile(r"[^A-Za-z0-9]*confidence[^A-Za-z0-9]*", re.IGNORECASE)


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, in lower case.

    Examples
    --------
    >>> name_words("Is_it correct?"), name_words("modelAnswer")
    (('is', 'it', 'correct'), ('model', 'answer'))
    """
    spaced = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-Z])", " ", name)
    return tuple(re.findall(r"[^\W_]+", spaced.lower()))


def spelling_rank(column: str, name: str) -> int | None:
    """Return the place of a column's name, or of its path's last step, among the spellings of a name."""
    return _rank_among(_SPELT.get(name, ()), *_whole_and_last(column))


def _whole_and_last(column: str) -> tuple[str, str]:
    return normalise_name(column), normalise_name(column.rpartition(".")[2])


def _rank_among(spellings: Sequence[str], *ends: str) -> int | None:
    return next((spellings.index(end) for end in ends if end in spellings), None)


def meanings(column: str) -> tuple[Meaning, ...]:
    """Return what a column's name says, the likeliest first; () where it says nothing.

    Parameters
    ----------
    column : str
        The name, or the path of a nested field, whose last step counts, or else its last two.

    Examples
    --------
    >>> meanings("is_hallucination"), meanings("judge.was_right")
    ((Meaning(name='correct:not', clarity='said'),), (Meaning(name='correct', clarity='said'),))
    >>> meanings("uncertainty"), meanings("confidence_of_rain")
    ((Meaning(name='confidence:inverted', clarity='said'),), (Meaning(name='confidence', clarity='hinted'),))
    >>> [meaning.name for meaning in meanings("label")], meanings("elapsed")
    (['gold', 'prediction'], ())
    """
    ends = _whole_and_last(column)
    ranks = {name: _rank_among(spellings, *ends) for name, spellings in _SPELT.items()}
    spelt = {name: rank for name, rank in ranks.items() if rank is not None}
    found = [Meaning(name, "said") for name in sorted(spelt, key=lambda name: spelt[name] > 0)]
    before, _, last = column.rpartition(".")
    if "id" in spelt and before and not QUESTIONS.intersection(name_words(before)):
        return ()  # the id of something else, such as a provider
    if {"gold", "prediction"} <= spelt.keys() and before:
        return tuple(_of_words(name_words(column)[-2:])) or tuple(found)
    if "question" in spelt and before and OUTPUTS.intersection(name_words(before)):
        return tuple(_of_words(name_words(column)[-2:]))
    if "correct" in spelt and RIGHTS.intersection(name_words(last)):
        found.append(Meaning("gold", "said"))  # a column "Correct" of letters
    for end in dict.fromkeys((last, ".".join(column.split(".")[-2:]))):
        found = found or [*_of_words(name_words(end))]
    if not found and len(last) > 3 and last.isalpha() and last.endswith("s"):
        return meanings(column[:-1])  # "labels" of one row each
    return tuple(found)


def _of_words(words: Sequence[str]) -> Iterator[Meaning]:
    """Yield what the words of a name say together."""
    ends = {words[0], words[-1]} - OF_ONE_CLASS if len(words) > 1 else set[str]()
    is_of_class = bool(OF_ONE_CLASS.intersection(words)) and (
        any(len(word) == 1 or word.isdecimal() for word in ends)
        or any(len(word) == 1 for word in words[1:-1])
    )
    words = [bare for word in words if (bare := word.rstrip("0123456789"))]
    judged = WORDS["correct"] | WORDS["correct:not"]
    n_negations = sum(word in NEGATIONS or word in WORDS["correct:not"] for word in words)
    if WORDS["confidence"].intersection(words):
        if (WORDS["gold"] | NO_SHARE).intersection(words):
            return  # known from the right answer, or the bound of an interval
        form = _log_form(words)
        known = NEUTRAL | WORDS["confidence"] | judged | NEGATIONS | {"log"}
        known |= NEGATIVES if form else frozenset[str]()
        direction = ":inverted" if n_negations % 2 else form
        # "wrong confidence" may be that of being wrong, or the confidence in wrong answers
        is_clear = not is_of_class and (not n_negations or bool(OF_ONE_CLASS.intersection(words)))
        is_said = known.issuperset(words) and is_clear
        yield Meaning(f"confidence{direction}", "said" if is_said else "hinted")
    elif other := _on_other_scale(words):
        yield other
    elif _names_right_answer(words):
        known = NEUTRAL | NOUNS | RIGHTS | WORDS["gold"]
        yield Meaning("gold", "said" if known.issuperset(words) else "hinted")
    elif judged.intersection(words):
        names_both = WORDS["correct"].intersection(words) and WORDS["correct:not"].intersection(words)
        is_said = (NEUTRAL | NEGATIONS | judged).issuperset(words) and not names_both  # "right or wrong"
        is_said = is_said and "self" not in words  # the model's own view
        name = "correct:not" if n_negations % 2 and not names_both else "correct"
        yield Meaning(name, "said" if is_said else "hinted")
        if name == "correct" and is_said and RIGHTS.intersection(words) and words[0] not in ("is", "was"):
            yield Meaning("gold", "said")  # a column "Right?" of letters
    elif SCORES.intersection(words) and (NEUTRAL | SCORES).issuperset(words):
        yield Meaning("correct", "hinted")
    else:
        for name in ("gold", "prediction", "id", "subject"):
            if WORDS[name].intersection(words) and (NEUTRAL | WORDS[name]).issuperset(words):
                yield Meaning(name, "said")


def _on_other_scale(words: Sequence[str]) -> Meaning | None:
    """Return what a name says of a doubt, or of a logarithm; a loss may be that of something else."""
    if WORDS["confidence:inverted"].intersection(words):
        known = NEUTRAL | WORDS["confidence:inverted"]
        return Meaning("confidence:inverted", "said" if known.issuperset(words) else "hinted")
    logarithms = WORDS["confidence:log"] | WORDS["confidence:nll"]
    is_known = (NEUTRAL | logarithms | NEGATIVES | LOSSES).issuperset(words)
    if logarithms.intersection(words):
        return Meaning(f"confidence{_log_form(words)}", "said" if is_known else "hinted")
    return Meaning("confidence:nll", "hinted") if is_known and LOSSES.intersection(words) else None


def _log_form(words: Sequence[str]) -> str:
    """Return what follows the name of a probability for the logarithm that words name; "" for none."""
    if (WORDS["confidence:nll"] | LOSSES).intersection(words):
        return ":nll"
    if "log" not in words and WORDS["confidence:log"].isdisjoint(words):
        return ""
    return ":nll" if NEGATIVES.intersection(words) else ":log"


def _names_right_answer(words: Sequence[str]) -> bool:
    """Return whether words end in a noun that they call right: "correct answer", not "answer correct"."""
    is_noun = len(words) > 1 and words[-1] in NOUNS and words[0] not in ("is", "was")
    return is_noun and bool((RIGHTS | WORDS["gold"]).intersection(words))


def named_top(column: str) -> int | None:
    """Return the top of the scale from 0 that a name says its numbers are on; None where it says none.

    Examples
    --------
    >>> named_top("Confidence (0-10)"), named_top("conf_pct"), named_top("sure_1_to_5")
    (10, 100, None)
    """
    if scale := _SCALE_FROM_ZERO.search(column.lower()):
        return int(scale[1])
    return 100 if "%" in column or _PERCENT.intersection(name_words(column)) else None


def name_within(column: str) -> str:
    """Return what a column is read as within whose values no id repeats.

    Examples
    --------
    >>> name_within("llm"), name_within("lm_eval_filter"), name_within("fold")
    ('model', 'model', 'subject')
    """
    if JUDGED_BY.intersection(name_words(column)):
        return "model"  # in one run, each answer would count once for each of them
    return next((name for name, _ in meanings(column) if name in RUN_COLUMNS), "subject")


def says_who_labels(column: str) -> Literal["judge", "human"] | None:
    """Return whether a name says that a column holds the labels of a judge or of people; None for neither.

    Examples
    --------
    >>> says_who_labels("llm_judge"), says_who_labels("annotator_1"), says_who_labels("human_label")
    ('judge', 'human', 'human')
    >>> says_who_labels("judge_explanation"), says_who_labels("human_answer"), says_who_labels("humaneval")
    (None, None, None)
    """
    words = {bare for word in name_words(column) if (bare := word.rstrip("0123456789")) and len(bare) > 1}
    rest = words - LABELS
    if rest and rest <= PEOPLE:
        return "human"
    if words & JUDGES and rest <= JUDGES:
        return "judge"
    return None


def further_confidence(column: str) -> str | None:
    """Return the name `confidence.NAME` of a column whose own name says that it is one; None for any other.

    Examples
    --------
    >>> further_confidence("verbal_linguistic_confidence"), further_confidence("token_length")
    ('confidence.verbal_linguistic', None)
    """
    rest = _CONFIDENCE_WORD.sub("_", column, count=1).strip("_")
    name = f"confidence.{rest}"
    return name if rest not in ("", column) and confidence_name(name) else None
