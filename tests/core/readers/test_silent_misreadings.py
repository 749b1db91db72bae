"""Files that are easily misread in silence: what is proposed or asked comes to what they say."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest

from calib_core import readers
from calib_core.readers.format import AS_IT_LIES, Reading, ReadOptions
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.files import check_file
from calib_core.runs import AnswerRun
from core.readers.conftest import ReadText
from core.readers.proposed_mappings import figures, tried_report

N: Final = 40
LETTERS: Final = "ABCD"

Outcome = tuple[int, float, float, float]
"""n, accuracy, ECE (M = 10), mean confidence."""


def outcome(confidence: Sequence[float], right: Sequence[bool]) -> Outcome:
    """What confidences and outcomes come to, in ten right-closed bins, computed by plain sums."""
    sums = np.zeros(10)
    for value, is_right in zip(confidence, right, strict=True):
        sums[max(int(np.ceil(value * 10 - 1e-9)) - 1, 0)] += is_right - value
    n = len(right)
    return n, sum(right) / n, float(np.abs(sums).sum()) / n, sum(confidence) / n


# Confidences from 0.503 on, more than half of whose answers are right.
CONFIDENCE: Final = [(503 + 12 * at) / 1000 for at in range(N)]
RIGHT: Final = [at % 10 not in (1, 4, 8) for at in range(N)]
OTHER: Final = [at % 6 == 0 for at in range(N)]
"""What has nothing to do with being right."""
SUMS: Final = outcome(CONFIDENCE, RIGHT)
NOT_ATTEMPTED: Final = [at % 10 == 4 for at in range(N)]
WRONG: Final = [not right and not none for right, none in zip(RIGHT, NOT_ATTEMPTED, strict=True)]
ALSO_RIGHT: Final = [at % 10 not in (2, 4, 8) for at in range(N)]
"""As many, others."""
FIFTHS: Final = [1 + at * 7 % 5 for at in range(N)]
SAID_OF_OTHER: Final = [other == right for other, right in zip(OTHER, RIGHT, strict=True)]
"""What a model says of `OTHER` that is right where `RIGHT` says so."""


def opposite(values: Sequence[bool]) -> list[bool]:
    return [not value for value in values]


def inverted(values: Sequence[float]) -> list[float]:
    return [round(1 - value, 3) for value in values]


def yes_no(values: Sequence[bool]) -> list[str]:
    return ["yes" if value else "no" for value in values]


def csv_text(**columns: Sequence[object]) -> str:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return "\n".join(lines) + "\n"


def rows_of(**columns: Sequence[object]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def classes(labels: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is predicted among labels, and what is right."""
    predicted = [labels[at * 7 % len(labels)] for at in range(N)]
    shifted = [labels[(at * 7 + 1) % len(labels)] for at in range(N)]
    return predicted, [
        mine if right else other for mine, other, right in zip(predicted, shifted, RIGHT, strict=True)
    ]


def distribution(labels: Sequence[str], prefix: str) -> dict[str, list[float]]:
    """The predicted label has the confidence, and the others share the rest."""
    predicted, _ = classes(labels)
    return {
        f"{prefix}{label}": [
            value if label == mine else (1 - value) / (len(labels) - 1)
            for value, mine in zip(CONFIDENCE, predicted, strict=True)
        ]
        for label in labels
    }


@dataclass(frozen=True)
class Way:
    """A way to read a file, with what each of its runs comes to."""

    mapping: Mapping[str, str]
    runs: tuple[Outcome, ...] = (SUMS,)
    wide: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: str = ""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class File:
    """A file, and the ways that are proposed or asked; none where nothing is."""

    content: str
    ways: tuple[Way, ...] = ()
    reason: str = ""
    """What the question says; "" where there is none."""
    told: tuple[str, ...] = ()
    """Columns that are said not to be used."""


QUESTIONS: Final = [f"Which river passes town {at}?" for at in range(N)]
TWO, TWO_GOLD = classes(("neg", "pos"))
BITS, BITS_GOLD = classes("01")
POSITIVE: Final = [value if mine == "pos" else 1 - value for value, mine in zip(CONFIDENCE, TWO, strict=True)]
FOUR, FOUR_GOLD = classes(LETTERS)
IN_ORDER, IN_OTHER_ORDER = (
    [letters.index(letter) for letter in FOUR_GOLD] for letters in (LETTERS, LETTERS[::-1])
)
MASSES: Final = {
    column: [value / 64 for value in values] for column, values in distribution(LETTERS, "p_").items()
}
PARTS: Final = {
    (model, task): rows_of(confidence=CONFIDENCE[at : at + 10], correct=RIGHT[at : at + 10])
    for at, (model, task) in zip((0, 10, 20, 30), product(("oak", "elm"), ("dev", "test")), strict=True)
}
OF_PARTS: Final = tuple(outcome(CONFIDENCE[at : at + 10], RIGHT[at : at + 10]) for at in (0, 10, 20, 30))
OF_PARTS_BY_TASK: Final = tuple(OF_PARTS[at] for at in (0, 2, 1, 3))
VERDICTS: Final = [
    "abstain" if at % 4 == 3 else "correct" if right else "incorrect" for at, right in enumerate(RIGHT)
]
JUDGED: Final = [at for at, verdict in enumerate(VERDICTS) if verdict != "abstain"]
RATINGS: Final = {"oak": [6 + at % 5 for at in range(N)], "elm": [7 + at % 4 for at in range(N)]}


def direction_asked(column: str) -> tuple[Way, Way]:
    return (
        Way({column: "correct"}, (outcome(CONFIDENCE, opposite(RIGHT)),)),
        Way({column: "correct:not"}),
    )


FILES: Final = {
    # --- which value of a column means right
    "hallucination yes/no": File(
        csv_text(question=QUESTIONS, confidence=CONFIDENCE, hallucination=yes_no(opposite(RIGHT))),
        (Way({"hallucination": "correct:not"}),),
    ),
    "is_hallucination beside a score": File(
        csv_text(question=QUESTIONS, faithfulness_score=CONFIDENCE, is_hallucination=opposite(RIGHT)),
        told=("faithfulness_score", "is_hallucination"),
    ),
    "flagged": File(
        csv_text(question=QUESTIONS, confidence=CONFIDENCE, flagged=yes_no(opposite(RIGHT))),
        direction_asked("flagged"),
        "'flagged': its name does not say which of its values means right, no or yes",
    ),
    "cached": File(
        csv_text(question=QUESTIONS, confidence=CONFIDENCE, cached=OTHER),
        (
            Way({"cached": "correct"}, (outcome(CONFIDENCE, OTHER),)),
            Way({"cached": "correct:not"}, (outcome(CONFIDENCE, opposite(OTHER)),)),
        ),
        "'cached': its name does not say which of its values means right, False or True",
    ),
    "cached beside an outcome": File(
        csv_text(confidence=CONFIDENCE, cached=OTHER, passed=yes_no(RIGHT)),
        (Way({"passed": "correct"}),),
        told=("cached",),
    ),
    "a judge that abstains": File(
        csv_text(qid=range(N), confidence=CONFIDENCE, judge_label=VERDICTS),
        (
            Way(
                {"qid": "id", "judge_label": "correct"},
                (outcome([CONFIDENCE[at] for at in JUDGED], [RIGHT[at] for at in JUDGED]),),
                missing=("abstain",),
            ),
        ),
    ),
    "wrong beside not attempted": File(
        csv_text(confidence=CONFIDENCE, is_incorrect=WRONG, is_not_attempted=NOT_ATTEMPTED),
        (Way({"is_incorrect": "correct:not"}, (outcome(CONFIDENCE, opposite(WRONG)),)),),
        "'is_incorrect': its name and the values False and True; inverted, it counts as right where "
        "'is_not_attempted' is 'True'",
    ),
    "wrong beside refusals in words": File(
        csv_text(
            confidence=CONFIDENCE,
            hallucinated=["yes" if wrong else "no" for wrong in WRONG],
            kind=["refused" if none else "given" for none in NOT_ATTEMPTED],
        ),
        (Way({"hallucinated": "correct:not"}, (outcome(CONFIDENCE, opposite(WRONG)),)),),
        "inverted, it counts as right where 'kind' is 'refused'",
    ),
    "wrong beside refusals of which some are": File(
        csv_text(confidence=CONFIDENCE, error=opposite(RIGHT), refused=OTHER),
        (Way({"error": "correct:not"}),),
    ),
    "right and wrong beside not attempted": File(
        csv_text(confidence=CONFIDENCE, is_incorrect=WRONG, is_correct=RIGHT, is_not_attempted=NOT_ATTEMPTED),
        (Way({"is_correct": "correct"}),),
        told=("is_incorrect",),
    ),
    "a hallucination and whether the model saw it": File(
        csv_text(confidence=CONFIDENCE, hallucination=yes_no(OTHER), judgement=yes_no(SAID_OF_OTHER)),
        (
            Way({"hallucination": "correct:not"}, (outcome(CONFIDENCE, opposite(OTHER)),)),
            Way({"hallucination": "gold", "judgement": "prediction"}),
        ),
        "'judgement' has the same, so that one may be the right answer, the other the model's",
    ),
    "a hallucination and what the model predicts": File(
        csv_text(confidence=CONFIDENCE, hallucination=yes_no(OTHER), prediction=yes_no(SAID_OF_OTHER)),
        (
            Way({"hallucination": "correct:not"}, (outcome(CONFIDENCE, opposite(OTHER)),)),
            Way({"hallucination": "gold"}),
        ),
        "'hallucination': the same values as 'prediction'",
    ),
    "a hallucination and a judgement beside the right answer": File(
        csv_text(
            conf=CONFIDENCE,
            pred=FOUR,
            y_true=FOUR_GOLD,
            hallucination=yes_no(opposite(RIGHT)),
            judgement=yes_no(OTHER),
        ),
        (
            Way(
                {
                    "conf": "confidence",
                    "hallucination": "correct:not",
                    "y_true": "gold",
                    "pred": "prediction",
                },
            ),
        ),
    ),
    "a judgement, the truth and an answer in words": File(
        csv_text(
            answer=QUESTIONS,
            ground_truth=yes_no(OTHER),
            judgement=yes_no(SAID_OF_OTHER),
            confidence=CONFIDENCE,
        ),
        (Way({"ground_truth": "gold", "judgement": "prediction"}),),
        "'judgement': the same values as 'ground_truth'; its name does not say whose answer it is",
    ),
    # --- which numbers are a confidence
    "hallucination score": File(
        csv_text(question=QUESTIONS, hallucination_score=inverted(CONFIDENCE), is_correct=RIGHT),
        (
            Way({"is_correct": "correct", "hallucination_score": "confidence:inverted"}),
            Way(
                {"is_correct": "correct", "hallucination_score": "confidence"},
                (outcome(inverted(CONFIDENCE), RIGHT),),
            ),
        ),
        "'hallucination_score': its values from 0.029 to 0.497 could be a confidence, but its name does not",
    ),
    "uncertainty": File(
        csv_text(id=range(N), uncertainty=inverted(CONFIDENCE), correct=RIGHT),
        (Way({"uncertainty": "confidence:inverted"}),),
    ),
    "seconds and steps": File(
        json.dumps(
            rows_of(
                question_id=range(N),
                correct=RIGHT,
                elapsed=[round(3 + 1.37 * at, 2) for at in range(N)],
                num_steps=[5 + at % 21 for at in range(N)],
            ),
            indent=1,
        )
    ),
    "ratings from 1 to 5": File(
        csv_text(confidence=FIFTHS, is_correct=RIGHT),
        (
            Way(
                {"is_correct": "correct", "confidence": "confidence/5"},
                (outcome([rating / 5 for rating in FIFTHS], RIGHT),),
            ),
            Way(
                {"is_correct": "correct", "confidence": "confidence:1=0|2=0.25|3=0.5|4=0.75|5=1"},
                (outcome([(rating - 1) / 4 for rating in FIFTHS], RIGHT),),
            ),
        ),
        "'confidence': its name and whole numbers from 1 to 5, but nothing says on which scale. Choose one",
    ),
    "percentages up to 1": File(
        csv_text(confidence_pct=CONFIDENCE, is_correct=RIGHT),
        (
            Way({"is_correct": "correct", "confidence_pct": "confidence"}),
            Way(
                {"is_correct": "correct", "confidence_pct": "confidence/100"},
                (outcome([value / 100 for value in CONFIDENCE], RIGHT),),
            ),
        ),
        "'confidence_pct': its name says percent, but it has values from 0.503 to 0.971",
    ),
    "the logarithm of being wrong": File(
        csv_text(log_prob_wrong=[math.log(1 - value) for value in CONFIDENCE], is_correct=RIGHT),
        (Way({"is_correct": "correct", "log_prob_wrong": "confidence:log:inverted"}),),
        "'log_prob_wrong': its name and values from -3.54 to -0.6992. Use this reading only if you know that",
    ),
    "two outcomes that are as often right": File(
        csv_text(conf=CONFIDENCE, is_correct=RIGHT, acc=ALSO_RIGHT, hit=ALSO_RIGHT),
        (
            Way({"conf": "confidence", "is_correct": "correct"}),
            Way({"conf": "confidence", "acc": "correct"}, (outcome(CONFIDENCE, ALSO_RIGHT),)),
        ),
        "choose one. 'acc' differs from 'is_correct' in 8 of the first 40 rows.",
    ),
    # --- distributions over classes
    "two classes by number": File(
        csv_text(y_true=BITS_GOLD, y_pred=BITS, **distribution("01", "proba_")),
        (
            Way(
                {
                    "y_true": "gold",
                    "y_pred": "prediction",
                    "proba_0": "choice_probs",
                    "proba_1": "choice_probs",
                }
            ),
        ),
    ),
    "two classes without a prediction": File(
        csv_text(y_true=BITS_GOLD, **distribution("01", "proba_")),
        (Way({"y_true": "gold", "proba_0": "choice_probs", "proba_1": "choice_probs"}),),
    ),
    "three classes": File(
        csv_text(y_true=classes("012")[1], **distribution("012", "prob_")),
        (Way({"y_true": "gold", **dict.fromkeys(("prob_0", "prob_1", "prob_2"), "choice_probs")}),),
    ),
    "two classes by name": File(
        csv_text(label=TWO_GOLD, pred=TWO, **distribution(("neg", "pos"), "prob_")),
        (
            Way(
                {
                    "label": "gold",
                    "pred": "prediction",
                    "prob_neg": "choice_probs",
                    "prob_pos": "choice_probs",
                }
            ),
        ),
    ),
    "the probability of one class": File(
        csv_text(label=TWO_GOLD, predicted_label=TWO, probability=POSITIVE),
        (
            Way({"label": "gold", "predicted_label": "prediction", "probability": "confidence:class:pos"}),
            Way(
                {"label": "gold", "predicted_label": "prediction", "probability": "confidence"},
                (outcome(POSITIVE, [said == gold for said, gold in zip(TWO, TWO_GOLD, strict=True)]),),
            ),
        ),
        "values that are lower exactly where 'predicted_label' is not 'pos'",
    ),
    "probabilities of letters in a whole vocabulary": File(
        csv_text(id=range(N), answer=FOUR_GOLD, **MASSES),
        (Way({"answer": "gold", **dict.fromkeys(MASSES, "choice_masses")}),),
        "rows that sum to less than 1: probabilities within a larger vocabulary",
    ),
    "golds that count the letters backwards": File(
        csv_text(id=range(N), gold=IN_OTHER_ORDER, **distribution(LETTERS, "prob_")),
        (
            Way(
                dict.fromkeys(distribution(LETTERS, "prob_"), "choice_probs"),
                (outcome(CONFIDENCE, [FOUR[at] == LETTERS[IN_OTHER_ORDER[at]] for at in range(N)]),),
            ),
        ),
        "Suspicious: ",
    ),
    # --- labels with scores
    "a label and its score": File(
        json.dumps(rows_of(id=range(N), text=QUESTIONS, label=TWO, score=CONFIDENCE, gold=TWO_GOLD)),
        (Way({"label": "prediction", "text": "question", "score": "confidence"}),),
        "'score': its values from 0.503 to 0.971 could be a confidence, but its name does not say so",
    ),
    "a label, its score and the true label": File(
        json.dumps(rows_of(prompt=QUESTIONS, label=TWO, score=CONFIDENCE, true_label=TWO_GOLD)),
        (
            Way(
                {"true_label": "gold", "label": "prediction", "prompt": "question", "score": "confidence"},
            ),
        ),
        "'score': its values from 0.503 to 0.971 could be a confidence, but its name does not say so",
    ),
    "lists of labels with scores": File(
        json.dumps(
            [
                {
                    "gold": gold,
                    "scores": [
                        {"label": mine, "score": value},
                        {"label": {"neg": "pos", "pos": "neg"}[mine], "score": 1 - value},
                    ],
                }
                for gold, mine, value in zip(TWO_GOLD, TWO, CONFIDENCE, strict=True)
            ]
        ),
        (Way({"scores.label": "choices", "scores.score": "choice_probs"}),),
    ),
    # --- which rows
    "ids that repeat in each data set": File(
        csv_text(
            ds_name=["north" if at < N // 2 else "south" for at in range(N)],
            id=[at % (N // 2) for at in range(N)],
            confidence=CONFIDENCE,
            is_correct=RIGHT,
        ),
        (Way({"is_correct": "correct", "ds_name": "subject"}),),
    ),
    "several models by key": File(
        json.dumps(
            {
                model: rows_of(confidence=CONFIDENCE[part], correct=RIGHT[part])
                for model, part in (("oak", slice(12)), ("elm", slice(12, N)))
            }
        ),
        (
            Way(
                {},
                tuple(outcome(CONFIDENCE[part], RIGHT[part]) for part in (slice(12), slice(12, N))),
                rows="*",
            ),
        ),
    ),
    "several models side by side": File(
        csv_text(
            oak_confidence=RATINGS["oak"],
            oak_correctness=list(map(int, RIGHT)),
            elm_confidence=RATINGS["elm"],
            elm_correctness=list(map(int, OTHER)),
        ),
        (
            Way(
                {},
                tuple(
                    outcome([rating / 10 for rating in RATINGS[model]], right)
                    for model, right in (("oak", RIGHT), ("elm", OTHER))
                ),
                wide={"*_confidence": "confidence/10", "*_correctness": "correct"},
            ),
        ),
        "from 6 to 10, but nothing says on which scale. Use this reading only if you know that it is meant.",
    ),
    # --- rows inside others
    "models of tasks": File(
        json.dumps(
            {model: {task: PARTS[model, task] for task in ("dev", "test")} for model in ("oak", "elm")}
        ),
        (Way({}, OF_PARTS, rows="*.{dataset}"), Way({}, OF_PARTS_BY_TASK, rows="{dataset}.*")),
        "2 readings are equally likely: choose one.",
    ),
    "models of tasks with summaries": File(
        json.dumps(
            {
                model: {task: {"acc": 0.9, "rows": PARTS[model, task]} for task in ("dev", "test")}
                for model in ("oak", "elm")
            }
        ),
        (Way({}, OF_PARTS, rows="*.{dataset}.rows"), Way({}, OF_PARTS_BY_TASK, rows="{dataset}.*.rows")),
        "2 readings are equally likely: choose one.",
    ),
    "runs in a list": File(
        json.dumps(
            {
                "version": 1,
                "runs": [
                    {"llm": model, "accuracy": 0.9, "results": PARTS[model, "dev"]}
                    for model in ("oak", "elm")
                ],
            }
        ).replace('"correct"', '"is_correct"'),
        (Way({"is_correct": "correct", "llm": "model"}, OF_PARTS[::2]),),
    ),
    "a summary beside the rows of each model": File(
        json.dumps(
            {
                model: {"accuracy": 0.9, "note": "x", "samples": PARTS[model, "dev"]}
                for model in ("oak", "elm")
            }
        ),
        (Way({}, OF_PARTS[::2], rows="*.samples"),),
    ),
    "columns of each model": File(
        json.dumps(
            {
                model: {
                    name: [row[name] for row in PARTS[model, "dev"]] for name in ("confidence", "correct")
                }
                for model in ("oak", "elm")
            }
        ),
        (Way({}, OF_PARTS[::2], rows="*"),),
    ),
    "a list of rows for each model": File(
        json.dumps([PARTS[model, "dev"] for model in ("oak", "elm")]),
        (Way({}, OF_PARTS[::2], rows="*"),),
    ),
    "answers of several models inside each question": File(
        "\n".join(
            json.dumps(
                {
                    "qid": at,
                    "target": gold,
                    "responses": [
                        {"llm": "oak", "reply": mine, "confidence": value},
                        {"llm": "elm", "reply": gold, "confidence": value},
                    ],
                }
            )
            for at, (gold, mine, value) in enumerate(zip(FOUR_GOLD, FOUR, CONFIDENCE, strict=True))
        ).replace('"reply"', '"model_answer"'),
        (
            Way(
                {"qid": "id", "target": "gold", "model_answer": "prediction", "llm": "model"},
                (SUMS, outcome(CONFIDENCE, [True] * N)),
            ),
        ),
    ),
    # --- classes, letters and positions
    "classes by number": File(
        csv_text(target=[f"{value}.0" for value in BITS_GOLD], **distribution("01", "class_")),
        (Way({"class_0": "choice_probs", "class_1": "choice_probs", "target": "gold"}),),
    ),
    "logits by name": File(
        csv_text(
            truth=TWO_GOLD,
            **{
                name: [9 + math.log(value) for value in values]
                for name, values in distribution(("neg", "pos"), "logit_").items()
            },
        ),
        (Way({"logit_neg": "choice_logits", "logit_pos": "choice_logits", "truth": "gold"}),),
    ),
    "classes by name, and a column of them": File(
        csv_text(animal=TWO_GOLD, **distribution(("neg", "pos"), "prob_")),
        (Way({"prob_neg": "choice_probs", "prob_pos": "choice_probs", "animal": "gold"}),),
        "its name does not say whose they are. Use this reading only if you know that it is meant.",
    ),
    "classes in lists, and a column of them": File(
        json.dumps(
            [
                {
                    "labels": ["neg", "pos"] if value < 0.5 else ["pos", "neg"],
                    "scores": [max(value, 1 - value), min(value, 1 - value)],
                    "topic": gold,
                }
                for value, gold in zip(POSITIVE, TWO_GOLD, strict=True)
            ]
        ),
        (Way({"labels": "choices", "scores": "choice_probs", "topic": "gold"}),),
        "its name does not say whose they are. Use this reading only if you know that it is meant.",
    ),
    "labels of people": File(
        csv_text(predicted=TWO, expert=TWO_GOLD, prob=CONFIDENCE),
        (Way({"predicted": "prediction", "expert": "gold", "prob": "confidence"}),),
        "its name does not say whose they are. Use this reading only if you know that it is meant.",
    ),
    "positions from 0 beside letters": File(
        csv_text(cop=IN_ORDER, prediction=FOUR, confidence=CONFIDENCE),
        (Way({"cop": "gold_index"}),),
    ),
    "positions from 1 beside letters": File(
        csv_text(cop=[at + 1 for at in IN_ORDER], prediction=FOUR, confidence=CONFIDENCE),
        (Way({"cop": "gold_index:from1"}),),
    ),
    "positions that may count from 0 or from 1": File(
        csv_text(
            cop=[at % 2 + 1 for at in range(N)],
            prediction=["D" if at == 1 else "ABBA"[at % 4] for at in range(N)],
            confidence=CONFIDENCE,
        ),
        (
            Way({"cop": "gold_index"}, (outcome(CONFIDENCE, [at % 4 == 2 for at in range(N)]),)),
            Way(
                {"cop": "gold_index:from1"},
                (outcome(CONFIDENCE, [at % 4 < 2 and at != 1 for at in range(N)]),),
            ),
        ),
        "numbers from 1 to 2 beside answers that are letters",
    ),
    "a key of letters": File(
        csv_text(key=FOUR_GOLD, model_choice=FOUR, prob=CONFIDENCE),
        (Way({"key": "gold", "model_choice": "prediction", "prob": "confidence"}),),
    ),
    # --- confidences and outcomes as they are written
    "a confidence out of ten": File(
        csv_text(sureness=[f"{round(10 * value)}/10" for value in CONFIDENCE], is_correct=RIGHT),
        (
            Way(
                {"sureness": "confidence/10", "is_correct": "correct"},
                (outcome([round(10 * value) / 10 for value in CONFIDENCE], RIGHT),),
            ),
        ),
    ),
    "objects in cells": File(
        pl.DataFrame(
            {
                "gt": FOUR_GOLD,
                "said": [
                    json.dumps({"answer": mine, "confidence": value})
                    for mine, value in zip(FOUR, CONFIDENCE, strict=True)
                ],
            }
        ).write_csv(),
        (Way({"gt": "gold", "said.answer": "prediction", "said.confidence": "confidence"}),),
    ),
    "a rating of good and bad": File(
        csv_text(rating=["Good" if right else "Bad" for right in RIGHT], confidence=CONFIDENCE),
        (
            Way({"rating": "correct:Good"}),
            Way({"rating": "correct:Bad"}, (outcome(CONFIDENCE, opposite(RIGHT)),)),
        ),
        "its name does not say which of its values means right, Bad or Good",
    ),
    "a probability that is stored as its negative logarithm": File(
        csv_text(MaximumSequenceProbability=[-4 * math.log(value) for value in CONFIDENCE], correct=RIGHT),
        (
            Way(
                {"MaximumSequenceProbability": "confidence:nll"},
                (outcome([value**4 for value in CONFIDENCE], RIGHT),),
            ),
        ),
        "perhaps its negative logarithm. Use this reading only if you know that it is meant.",
    ),
    "a score of uqlm": File(
        csv_text(cosine_sim=inverted(CONFIDENCE), noncontradiction=CONFIDENCE, response_correct=RIGHT),
        (Way({"noncontradiction": "confidence", "response_correct": "correct"}),),
        told=("cosine_sim",),
    ),
    # --- judges
    "names of judges": File(
        csv_text(
            item=[at % (N // 2) for at in range(N)],
            judge=["oak" if at < N // 2 else "elm" for at in range(N)],
            agrees=list(map(int, RIGHT)),
            confidence=CONFIDENCE,
        )
        .replace("item", "item_id")
        .replace("agrees", "is_correct"),
        (
            Way(
                {"item_id": "id", "judge": "model", "is_correct": "correct"},
                tuple(outcome(CONFIDENCE[part], RIGHT[part]) for part in (slice(N // 2), slice(N // 2, N))),
            ),
        ),
    ),
    "whether answers were judged, or cached": File(
        csv_text(question=QUESTIONS, judged=yes_no(RIGHT), cached=yes_no(OTHER)),
        told=("judged", "cached"),
    ),
}


def outcomes(reading: Reading) -> list[Outcome]:
    """What the program says of each run with the first of its methods."""
    found: list[Outcome] = []
    for of_run in check_file(reading).runs:
        method, evidence = next(iter(of_run.survey.usable.items()))
        assert isinstance(of_run.run, AnswerRun)
        assert isinstance(evidence, AnswerEvidence)
        found.append((*figures(of_run.run, method), float(np.mean(evidence.pairs.confidence))))
    return found


@pytest.mark.parametrize("name", FILES)
def test_what_is_proposed_or_asked_comes_to_what_the_file_says(name: str, read_text: ReadText) -> None:
    file = FILES[name]

    def read(further: ReadOptions = AS_IT_LIES) -> Reading:
        wishes = {key: getattr(further, key) for key in ("columns", "rows", "wide", "missing")}
        return read_text(file.content, "quiz", **wishes)

    report = check_file(read(), read_again=read)
    found = () if report.proposal is None else report.proposal.readings
    assert [(dict(one.mapping), dict(one.wide), one.rows, one.missing) for one in found] == [
        (way.mapping, way.wide, way.rows, way.missing) for way in file.ways
    ]
    for one, way in zip(found, file.ways, strict=True):
        assert one.n_bad_rows == 0
        again = read(ReadOptions(one.mapping, one.rows, one.wide, one.missing))
        assert outcomes(again) == [pytest.approx(run, abs=1e-9) for run in way.runs]
        assert (one.figures.accuracy, one.figures.mean_confidence) == pytest.approx(
            (way.runs[0][1], way.runs[0][3]), abs=1e-9
        )
    if found and report.proposal is not None:
        assert report.suspicions == (), "of columns that no one reads yet"
        assert report.proposal.is_question == bool(file.reason)
        assert file.reason in report.proposal.question
    assert {unused.column for unused in report.columns_not_used} >= {*file.told}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("summary", [{}, {"accuracy": 0.99, "confidence": 0.98, "correct": 1}])
@pytest.mark.parametrize("key", ["model", "dataset", "id", "question", "temperature", "name"])
def test_rows_below_a_key_are_read_however_the_json_is_laid_out(
    key: str, summary: dict[str, float], indent: int | None, read_text: ReadText
) -> None:
    content = {key: "1", **summary, "results": rows_of(confidence=CONFIDENCE, correct=RIGHT)}
    reading = read_text(json.dumps(content, indent=indent), "run.json")
    assert outcomes(reading) == [pytest.approx(SUMS, abs=1e-9)]


def test_a_gold_counts_the_choices_in_the_order_they_are_mapped_in(read_text: ReadText) -> None:
    content = FILES["golds that count the letters backwards"].content
    mapping = {f"prob_{letter}": "choice_probs" for letter in reversed(LETTERS)}
    assert outcomes(read_text(content, columns=mapping)) == [pytest.approx(SUMS, abs=1e-9)]


@pytest.mark.parametrize(
    ("column", "written"),
    [
        ("correct", "{:d}"),
        ("correct", "{!s}"),
        ("label", "{!s}"),
    ],
)
def test_outcomes_of_another_table_are_joined(
    column: str, written: str, read_text: ReadText, tmp_path: Path
) -> None:
    table = tmp_path / "judged.csv"
    labels = [written.format(right) for right in reversed(RIGHT)]
    table.write_text(csv_text(question=QUESTIONS[::-1], **{column: labels}))
    rows = rows_of(question=QUESTIONS, guess=FOUR, confidence=CONFIDENCE)
    reading = read_text("\n".join(map(json.dumps, rows)), gold=table, gold_on="question")
    assert outcomes(reading) == [pytest.approx(SUMS, abs=1e-9)]


# --- Files of other people --------------------------------------------------------------------------------

AS_PROPOSED: Final = ReadOptions(columns={"as": "proposed"})
"""With the first of what is proposed or asked."""
TABLES: Final = "proba-columns-as-confidence"


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        (
            "gold-index-in-mapped-order/index_dcba.csv",
            ReadOptions({f"prob_{letter}": "choice_probs" for letter in reversed(LETTERS)}),
            [(24, 1.0, None)],
        ),
        ("hallucination-as-correct/hallu2.csv", AS_PROPOSED, [(40, 0.8, 0.16)]),
        (
            "hallucination-as-correct/hall.csv",
            ReadOptions({"is_hallucination": "correct:not", "faithfulness_score": "confidence"}),
            [(10, 0.8, 0.244)],
        ),
        ("hallucination-score-as-confidence/p_hall.csv", AS_PROPOSED, [(40, 0.6, 0.294)]),
        ("hallucination-score-as-confidence/uncert.csv", AS_PROPOSED, [(40, 0.6, 0.294)]),
        ("hf-pipeline-label-score/hf_pipe.json", AS_PROPOSED, [(30, 0.8, 0.095)]),
        ("hf-pipeline-label-score/hf_pipe2.json", AS_PROPOSED, [(30, 0.8, 0.095)]),
        ("hf-pipeline-label-score/hf_topk.json", AS_PROPOSED, [(30, 0.8, 0.095)]),
        ("ids-repeat-in-each-data-set/perds.csv", AS_PROPOSED, [(40, 0.75, 0.1175)]),
        ("json-one-line-model-results/r1.json", AS_IT_LIES, [(12, 0.6667, 0.19)]),
        ("json-one-line-model-results/r1i.json", AS_IT_LIES, [(12, 0.6667, 0.19)]),
        ("json-one-line-model-results/r8.json", AS_IT_LIES, [(12, 0.6667, 0.19)]),
        ("json-one-line-model-results/r8i.json", AS_IT_LIES, [(12, 0.6667, 0.19)]),
        ("judge-label-with-abstain/alias.csv", AS_PROPOSED, [(20, 0.5, 0.4)]),
        (f"{TABLES}/prob2p.csv", AS_PROPOSED, [(40, 0.775, 0.0757)]),
        (f"{TABLES}/prob_pos_neg.csv", AS_PROPOSED, [(40, 0.775, 0.0757)]),
        (f"{TABLES}/sk_3.csv", AS_PROPOSED, [(30, 0.8333, 0.1283)]),
        (f"{TABLES}/sk_binary.csv", AS_PROPOSED, [(40, 0.775, 0.0757)]),
        (f"{TABLES}/sk_nopred.csv", AS_PROPOSED, [(40, 0.775, 0.0757)]),
        (f"{TABLES}/sk_pred_prob.csv", AS_PROPOSED, [(40, 0.775, 0.0757)]),
        (f"{TABLES}/sk_words.csv", AS_PROPOSED, [(40, 0.775, 0.0757)]),
        ("raw-letter-probabilities/rawmass.csv", AS_PROPOSED, [(24, 0.3333, 0.3357)]),
        ("several-systems-in-one-file/bymodel.json", AS_PROPOSED, [(20, 0.75, 0.15), (20, 0.75, 0.18)]),
        ("several-systems-in-one-file/tiers.csv", AS_PROPOSED, [(30, 0.5, 0.4), (30, 0.6667, 0.1767)]),
    ],
)
def test_published_kinds_of_misreadings(
    extra_files: Path, name: str, options: ReadOptions, expected: list[tuple[int, float, float | None]]
) -> None:
    path = extra_files / "cases" / name
    if options is AS_PROPOSED:
        proposal = tried_report(path).proposal
        assert proposal is not None
        assert proposal.n_bad_rows == 0
        options = proposal.options
    for (n, accuracy, error, _), wanted in zip(
        outcomes(readers.read(path, options=options)), expected, strict=True
    ):
        assert (n, accuracy) == pytest.approx(wanted[:2], abs=5e-5)
        assert wanted[2] is None or error == pytest.approx(wanted[2], abs=5e-5)


@pytest.mark.parametrize(
    ("name", "n_readings"),
    [
        ("seconds-as-confidence/elapsed.json", 0),
        ("hallucination-as-correct/hall.csv", 0),
        ("hallucination-as-correct/judged.csv", 2),
        ("hallucination-as-correct/cached.csv", 2),
    ],
)
def test_what_cannot_be_known_is_asked_or_left(extra_files: Path, name: str, n_readings: int) -> None:
    proposal = tried_report(extra_files / "cases" / name).proposal
    assert (len(proposal.readings) if proposal else 0) == n_readings
    assert proposal is None or proposal.is_question


def test_outcomes_of_a_published_table_are_joined(extra_files: Path) -> None:
    folder = extra_files / "cases" / "gold-table-label-column"
    reading = readers.read(
        folder / "labp.jsonl", options=ReadOptions(gold_on="question"), gold=folder / "labn.csv"
    )
    assert [found[:3] for found in outcomes(reading)] == [pytest.approx((5, 0.6, 0.51), abs=5e-5)]
