"""Probabilities, grades and golds in the shapes people write: what is proposed comes to what NumPy says."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from calib_core.errors import Refused
from calib_core.readers.format import AS_IT_LIES, Reading, ReadOptions
from calib_core.readers.table.names import meanings
from calib_core.results.files import FileReport, Proposal, check_file
from calib_core.runs import AnswerRun
from core.readers.conftest import ReadText

Row = Mapping[str, object]

N: Final = 40
CLASSES: Final = ("cat", "dog", "fish")
LETTERS: Final = ("A", "B", "C", "D")
WORDS: Final = ("yes", "no", "both", "neither")
_RANDOM: Final = np.random.default_rng(7)
PROBS: Final = _RANDOM.dirichlet(np.ones(3), N).round(4)
PROBS[:, 2] = (1 - PROBS[:, 0] - PROBS[:, 1]).round(4)
MASSES: Final = (_RANDOM.dirichlet(np.ones(4), N) * _RANDOM.uniform(0.2, 0.9, (N, 1))).round(5)


def golds(scores: np.ndarray, *, right: float = 0.6) -> np.ndarray:
    """A right class for each row, which is often the likeliest."""
    others = _RANDOM.integers(0, scores.shape[1], N)
    return np.where(_RANDOM.uniform(size=N) < right, scores.argmax(axis=1), others)


GOLD: Final = golds(PROBS)
MASS_GOLD: Final = golds(MASSES)


def of_classes() -> list[tuple[str, dict[str, float]]]:
    """The name of the right class and the probability of each by name."""
    return [
        (CLASSES[g], dict(zip(CLASSES, map(float, p), strict=True))) for g, p in zip(GOLD, PROBS, strict=True)
    ]


def of_letters() -> list[tuple[int, dict[str, float]]]:
    """The position of the right choice and the mass of each letter."""
    return [
        (int(g), dict(zip(LETTERS, map(float, p), strict=True)))
        for g, p in zip(MASS_GOLD, MASSES, strict=True)
    ]


def expected(scores: np.ndarray, gold: np.ndarray) -> tuple[float, float]:
    """Accuracy and mean confidence of the likeliest choice."""
    shares = scores / scores.sum(axis=1, keepdims=True)
    return float(np.mean(scores.argmax(axis=1) == gold)), float(np.mean(shares.max(axis=1)))


def json_lines(rows: Sequence[Row]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def as_csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0]], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def report_on(content: str, read_text: ReadText) -> FileReport:
    def read(further: ReadOptions = AS_IT_LIES) -> Reading:
        return read_text(content, columns=further.columns, rows=further.rows, missing=further.missing)

    return check_file(read(), read_again=read)


def proposal_for(content: str, read_text: ReadText) -> Proposal:
    proposal = report_on(content, read_text).proposal
    assert proposal is not None
    return proposal


def figures(proposal: Proposal) -> tuple[float | None, float | None]:
    return proposal.figures.accuracy, proposal.figures.mean_confidence


# --- A number for each choice -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        json_lines([{"gold_label": name, "scores": probs} for name, probs in of_classes()]),
        json_lines([{"label": name, "out": {"all": probs}} for name, probs in of_classes()]),
        as_csv([{"label": name, **probs} for name, probs in of_classes()]),
        as_csv([{"difficulty": 0.3, **probs, "gold": name} for name, probs in of_classes()]),
        as_csv(
            [
                {"target": name.upper(), **{f"{c}_prob": p for c, p in probs.items()}}
                for name, probs in of_classes()
            ]
        ),
    ],
    ids=["object", "nested object", "names", "another column of shares", "words before"],
)
def test_columns_or_keys_named_by_the_right_answers_are_a_distribution(
    content: str, read_text: ReadText
) -> None:
    proposal = proposal_for(content, read_text)
    assert figures(proposal) == pytest.approx(expected(PROBS, GOLD), abs=1e-9)
    assert not proposal.is_question


@pytest.mark.parametrize(
    "content",
    [
        json_lines([{"label": LETTERS[gold], "option_probs": masses} for gold, masses in of_letters()]),
        json_lines([{"answer_idx": gold, "option_probs": masses} for gold, masses in of_letters()]),
        as_csv([{**masses, "answer": LETTERS[gold]} for gold, masses in of_letters()]),
        as_csv(
            [
                {"correct_answer": LETTERS[gold], **{f"{c}_prob": masses[c] for c in reversed(LETTERS)}}
                for gold, masses in of_letters()
            ]
        ),
        json_lines(
            [
                {"reference": WORDS[gold], "scores": dict(zip(WORDS, masses.values(), strict=True))}
                for gold, masses in of_letters()
            ]
        ),
    ],
    ids=["object", "positions", "letters", "letters before", "named object"],
)
def test_masses_of_named_choices_are_asked(content: str, read_text: ReadText) -> None:
    proposal = proposal_for(content, read_text)
    assert {*proposal.mapping.values()} == {"gold", "choice_masses"}
    assert figures(proposal) == pytest.approx(expected(MASSES, MASS_GOLD), abs=1e-9)
    assert proposal.is_question
    assert proposal.alternatives == (), "no letter's own mass is the confidence"


def test_an_object_of_logarithms_is_one_of_the_choices(read_text: ReadText) -> None:
    rows = [
        {
            "answer_idx": gold,
            "logprobs": {f" {letter}": float(np.log(mass)) for letter, mass in masses.items()},
        }
        for gold, masses in of_letters()
    ]
    proposal = proposal_for(json_lines(rows), read_text)
    assert figures(proposal) == pytest.approx(expected(MASSES, MASS_GOLD), abs=1e-9)
    assert not proposal.is_question


@pytest.mark.parametrize("name", ["A_prob", "1_prob", "prob_1", "out.option_probs.B"])
def test_the_probability_of_one_letter_is_not_said_to_be_the_confidence(name: str) -> None:
    assert [meaning.clarity for meaning in meanings(name)] == ["hinted"]


def test_keys_that_no_answer_names_are_no_distribution(read_text: ReadText) -> None:
    rows = [{"label": "bird", "scores": probs} for _, probs in of_classes()]
    assert report_on(json_lines(rows), read_text).proposal is None


# --- Classifiers of Hugging Face --------------------------------------------------------------------------

RANKED: Final = [sorted(probs.items(), key=lambda item: -item[1]) for _, probs in of_classes()]
PREDICTED: Final = PROBS.argmax(axis=1)


@pytest.mark.parametrize(
    "content",
    [
        json_lines(
            [
                {
                    "sequence": "x",
                    "labels": [c for c, _ in ranked],
                    "scores": [p for _, p in ranked],
                    "gold": name,
                }
                for ranked, (name, _) in zip(RANKED, of_classes(), strict=True)
            ]
        ),
        json_lines(
            [
                {"output": [{"label": c, "score": p} for c, p in ranked], "reference": name}
                for ranked, (name, _) in zip(RANKED, of_classes(), strict=True)
            ]
        ),
        json_lines(
            [
                {
                    "out": [{"label": f"LABEL_{CLASSES.index(c)}", "score": p} for c, p in ranked],
                    "target": int(gold),
                }
                for ranked, gold in zip(RANKED, GOLD, strict=True)
            ]
        ),
        json_lines(
            [
                {
                    "scores": {f"LABEL_{at}": p for at, p in enumerate(probs.values())},
                    "label": f"LABEL_{gold}",
                }
                for gold, (_, probs) in zip(GOLD, of_classes(), strict=True)
            ]
        ),
    ],
    ids=["zero-shot", "all scores", "numbered classes", "numbered keys"],
)
def test_ranked_labels_with_scores_are_a_distribution(content: str, read_text: ReadText) -> None:
    proposal = proposal_for(content, read_text)
    assert figures(proposal) == pytest.approx(expected(PROBS, GOLD), abs=1e-9)
    assert not proposal.is_question


@pytest.mark.parametrize(
    "rows",
    [
        [
            {"output": [{"label": CLASSES[said], "score": p}], "reference": CLASSES[gold]}
            for said, p, gold in zip(PREDICTED, PROBS.max(axis=1), GOLD, strict=True)
        ],
        [
            {"label": f"LABEL_{said}", "score": p, "target": int(gold)}
            for said, p, gold in zip(PREDICTED, PROBS.max(axis=1), GOLD, strict=True)
        ],
        [
            {"pred": int(said), "score": p, "gold": f"class {gold}"}
            for said, p, gold in zip(PREDICTED, PROBS.max(axis=1), GOLD, strict=True)
        ],
        [
            {
                "score": p,
                "start": 0,
                "answer": CLASSES[said],
                "answers": {"text": [CLASSES[gold]], "answer_start": [0]},
            }
            for said, p, gold in zip(PREDICTED, PROBS.max(axis=1), GOLD, strict=True)
        ],
    ],
    ids=["lists of one", "numbered predictions", "numbered golds", "spans of SQuAD"],
)
def test_the_score_of_the_one_label_is_asked(rows: Sequence[Row], read_text: ReadText) -> None:
    proposal = proposal_for(json_lines(rows), read_text)
    assert figures(proposal) == pytest.approx(expected(PROBS, GOLD), abs=1e-9)
    assert proposal.is_question


def test_lists_of_several_labels_hide_no_first_one(read_text: ReadText) -> None:
    rows = [
        {"output": [{"label": "cat", "score": 0.5}] * (1 + at % 2), "reference": "cat"} for at in range(20)
    ]
    mapped = {column for one in report_on(json_lines(rows), read_text).candidates for column in one.names}
    assert not any(column.startswith("output.0") for column in mapped)


def test_numbers_of_other_classes_stay_what_they_are(read_text: ReadText) -> None:
    content = "confidence,prediction,gold\n0.5,class_1,0\n0.6,class_2,1\n0.7,class_3,2\n"
    for text, said in (
        (content, ["class_1", "class_2", "class_3"]),
        (content.replace("_3", "_0"), ["1", "2", "0"]),
    ):
        (run,) = read_text(text).good_runs
        assert isinstance(run, AnswerRun)
        assert run.rows["prediction"].to_list() == said


# --- One confidence, not written as such ------------------------------------------------------------------

SURE: Final = PROBS.max(axis=1)
RIGHT: Final = PREDICTED == GOLD


@pytest.mark.parametrize(
    ("name", "values", "is_asked"),
    [
        ("nll", -np.log(SURE), False),
        ("neg_log_likelihood", -np.log(SURE), False),
        ("answer_loss", -np.log(SURE), True),
        ("nll", np.log(SURE), True),
    ],
)
def test_a_negative_log_likelihood_is_read_as_one(
    name: str, values: np.ndarray, *, is_asked: bool, read_text: ReadText
) -> None:
    rows = [{name: float(x), "correct": int(right)} for x, right in zip(values, RIGHT, strict=True)]
    proposal = proposal_for(json_lines(rows), read_text)
    assert figures(proposal) == pytest.approx(expected(PROBS, GOLD), abs=1e-9)
    assert proposal.is_question == is_asked


def test_a_negative_log_likelihood_below_zero_is_bad(read_text: ReadText) -> None:
    reading = read_text("nll,correct\n0.1,1\n-0.1,0\n", columns={"nll": "confidence:nll"})
    (problem,) = reading.problems
    assert problem.first_cells[0].expected == "a negative log-likelihood, at least 0"


@pytest.mark.parametrize("name", ["perplexity", "ppl", "train_loss", "log"])
def test_what_only_resembles_a_likelihood_is_never_a_confidence(name: str, read_text: ReadText) -> None:
    rows = [{name: float(1 / p), "correct": int(right)} for p, right in zip(SURE, RIGHT, strict=True)]
    assert report_on(json_lines(rows), read_text).proposal is None


@pytest.mark.parametrize(("name", "scale"), [("p_false", 1), ("prob_false", 1), ("p(False)", 100)])
@pytest.mark.parametrize("outcome", ["correct", "is_wrong"])
def test_p_false_alone_is_the_probability_of_being_wrong(
    name: str, scale: int, outcome: str, read_text: ReadText
) -> None:
    rows = [
        {outcome: int(right == (outcome == "correct")), name: scale * float(1 - p)}
        for p, right in zip(SURE, RIGHT, strict=True)
    ]
    proposal = proposal_for(as_csv(rows), read_text)
    assert figures(proposal) == pytest.approx(expected(PROBS, GOLD), abs=1e-9)
    assert not proposal.is_question


def test_p_false_beside_p_true_is_what_it_is(read_text: ReadText) -> None:
    rows = [
        {"is_wrong": int(not right), "true_prob": float(p), "false_prob": float(1 - p)}
        for p, right in zip(SURE, RIGHT, strict=True)
    ]
    proposal = proposal_for(as_csv(rows), read_text)
    assert dict(proposal.mapping) == {
        "is_wrong": "correct:not",
        "true_prob": "p_true",
        "false_prob": "p_false",
    }


# --- Right answers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["label", "gold"])
@pytest.mark.parametrize("letters", [False, True])
def test_golds_from_one_to_the_number_of_choices_are_counted_from_one(
    name: str, *, letters: bool, read_text: ReadText
) -> None:
    rows = [
        {name: int(gold) + 1}
        | ({f"p_{LETTERS[at]}": x for at, x in enumerate(p)} if letters else {"probs": [*p]})
        for gold, p in zip(GOLD, PROBS.tolist(), strict=True)
    ]
    proposal = proposal_for(json_lines(rows), read_text)
    assert proposal.mapping[name] == "gold_index:from1"
    assert figures(proposal) == pytest.approx(expected(PROBS, GOLD), abs=1e-9)


def test_golds_that_do_not_reach_the_number_of_choices_are_counted_from_zero(read_text: ReadText) -> None:
    rows = [{"label": 1 + at % 2, "probs": [0.5, 0.25, 0.25]} for at in range(20)]
    assert proposal_for(json_lines(rows), read_text).mapping["label"] == "gold"


def gold_refusal(table: str, read_text: ReadText, tmp_path: Path, content: str) -> str:
    (tmp_path / "gold.csv").write_text(table)
    with pytest.raises(Refused) as caught:
        read_text(content, gold=tmp_path / "gold.csv")
    return str(caught.value)


def test_a_gold_table_is_refused_with_what_its_columns_may_be(read_text: ReadText, tmp_path: Path) -> None:
    content = "id,confidence\n1,0.5\n2,0.75\n"
    message = gold_refusal("id,hallucinated\n1,0\n2,1\n", read_text, tmp_path, content)
    assert message.endswith("By their names and values: --map-gold hallucinated=correct:not")


def test_labels_of_0_and_1_beside_other_answers_are_asked(read_text: ReadText, tmp_path: Path) -> None:
    table, content = "id,label\n1,0\n2,1\n", "id,prediction,confidence\n1,Rome,0.5\n2,Oslo,0.75\n"
    message = gold_refusal(table, read_text, tmp_path, content)
    assert message.endswith("--map-gold label=gold or --map-gold label=correct")
    (run,) = read_text(
        content.replace("Rome", "0").replace("Oslo", "0"), gold=tmp_path / "gold.csv"
    ).good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["gold"].to_list() == ["0", "1"]


# --- Grades -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["grade", "grade_letter", "judge.verdict"])
def test_letters_of_a_judge_are_asked_with_and_without_what_was_not_attempted(
    name: str, read_text: ReadText
) -> None:
    grades = ["C" if at % 5 == 0 else "A" if right else "B" for at, right in enumerate(RIGHT)]
    rows = [{name: grade, "conf": float(p)} for grade, p in zip(grades, SURE, strict=True)]
    proposal = proposal_for(json_lines(rows), read_text)
    n_right = grades.count("A")
    attempted = [at for at, grade in enumerate(grades) if grade != "C"]
    assert proposal.is_question
    assert {one.missing: figures(one) for one in proposal.readings} == {
        (): pytest.approx((n_right / N, SURE.mean()), abs=1e-9),
        ("C",): pytest.approx((n_right / len(attempted), SURE[attempted].mean()), abs=1e-9),
    }


@pytest.mark.parametrize("values", ["ABCD", "BC", "A"])
def test_other_letters_are_no_grades(values: str, read_text: ReadText) -> None:
    rows = [{"grade": values[at % len(values)], "conf": float(p)} for at, p in enumerate(SURE)]
    assert report_on(json_lines(rows), read_text).proposal is None


def test_a_grade_beside_gold_and_answer_is_told_once(read_text: ReadText) -> None:
    rows = [
        {"conf": float(p), "gold": CLASSES[gold], "response": CLASSES[said], "grade": "ABC"[at % 3]}
        for at, (p, gold, said) in enumerate(zip(SURE, GOLD, PREDICTED, strict=True))
    ]
    report = report_on(json_lines(rows), read_text)
    assert [one.mappings for one in report.columns_not_used] == [({"grade": "correct:A"},)]
