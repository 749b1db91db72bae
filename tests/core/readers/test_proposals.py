"""What the columns of a file may mean is tried before it is proposed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calib_core import api, readers
from calib_core.advice import set_surface
from calib_core.errors import Refused
from calib_core.readers.format import AS_IT_LIES, Candidate, Reading, ReadOptions
from calib_core.readers.table import possible
from calib_core.readers.table.candidates import find_candidates
from calib_core.readers.table.possible import MAX_COLUMNS_JUDGED
from calib_core.results.files import FileReport, check_file
from calib_core.runs import AnswerRun
from core.readers.conftest import ReadText
from core.readers.proposed_mappings import proposed_mapping, tried_report

LETTERS = "ABCD"


def report_on(content: str, read_text: ReadText) -> FileReport:
    def read(further: ReadOptions = AS_IT_LIES) -> Reading:
        return read_text(
            content, columns=further.columns, wide=further.wide, rows=further.rows, missing=further.missing
        )

    return check_file(read(), read_again=read)


def proposed(content: str, read_text: ReadText) -> dict[str, str] | None:
    proposal = report_on(content, read_text).proposal
    return None if proposal is None else dict(proposal.mapping)


def quiz(n_rows: int = 60) -> list[dict[str, object]]:
    """Questions of four choices, four of five answered right, with the stored outcome."""
    rows: list[dict[str, object]] = []
    for number in range(n_rows):
        gold, answer = LETTERS[number % 4], LETTERS[(number + (number % 5 == 0)) % 4]
        rows.append({"conf": 50 + number % 50, "gt": gold, "said": answer, "hit": answer == gold})
    return rows


def test_the_proposal_says_what_it_comes_to(read_text: ReadText) -> None:
    report = report_on("conf,ok,is_correct\n90,7,1\n60,8,0\n75,9,1\n55,7,1\n", read_text)
    assert report.proposal is not None
    assert dict(report.proposal.mapping) == {"conf": "confidence/100", "is_correct": "correct"}
    assert report.proposal.summary == (
        "With --map conf=confidence/100 --map is_correct=correct it loads: accuracy 0.7500 (3 of 4), "
        "mean confidence 0.7000 (given)."
    )


@pytest.mark.parametrize(
    ("cells", "mapping"),
    [
        ("87,1 55,0 92,1 40,0", {"confidence": "confidence/100"}),
        ("87%,pass 55%,fail 92%,pass 40%,fail", {"confidence": "confidence/100", "correct": "correct:pass"}),
        ("0.87,T 0.55,F 0.92,T 0.4,F", {"correct": "correct:T"}),
    ],
)
def test_a_column_that_has_its_name_but_other_values_is_proposed_as_what_they_are(
    cells: str, mapping: dict[str, str], read_text: ReadText
) -> None:
    report = report_on("confidence,correct\n" + cells.replace(" ", "\n") + "\n", read_text)
    assert report.proposal is not None
    assert dict(report.proposal.mapping) == mapping
    assert report.proposal.outcome == "accuracy 0.5000 (2 of 4), mean confidence 0.6850 (given)"


@pytest.mark.parametrize("header", ["conf,prob,acc,hit", "m-conf,n-conf,m-hit,n-hit"])
def test_what_columns_may_mean_is_looked_for_once(
    header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text(f"{header},note\n.5,.4,1,0,x\n.6,.4,0,0,y\n.7,.3,1,1,z\n")
    looked: list[None] = []

    def find(*args: Any) -> tuple[Candidate, ...]:
        looked.append(None)
        return find_candidates(*args)

    def read(further: ReadOptions = AS_IT_LIES) -> Reading:
        return readers.read_in_this_process(path, file=path.name, options=AS_IT_LIES.adding(further))

    monkeypatch.setattr(possible, "find_candidates", find)
    proposal = check_file(read(), read_again=read).proposal
    assert proposal is not None
    assert len(looked) == 1
    read(ReadOptions(wide=proposal.wide, columns=proposal.mapping))
    assert len(looked) == 2


def test_a_right_answer_alone_lacks_the_models(read_text: ReadText) -> None:
    (unused,) = report_on("confidence,label\n.5,yes\n.6,no\n", read_text).columns_not_used
    assert unused.line == (
        "'label' is not used: by its name, it is the right answer, but no column is known to be the model's "
        "answer. If it is the right answer: --map label=gold"
    )


def test_the_scale_of_ratings_is_asked(read_text: ReadText) -> None:
    report = report_on("confidence,correct\n9,1\n3,0\n10,1\n0,0\n", read_text)
    assert report.proposal is not None
    assert report.proposal.is_question
    assert (
        "whole numbers from 0 to 10, but nothing says on which scale. Use this reading only if you know"
        in report.proposal.question
    )
    assert [dict(one.mapping) for one in report.proposal.readings] == [{"confidence": "confidence/10"}]


def test_the_answer_that_agrees_with_the_outcomes_is_proposed(read_text: ReadText) -> None:
    """`prediction` is usually `pred`, but here the parsed answer is what was judged."""
    rows = [
        {"pred": f"{row['said']}{LETTERS[number % 4]}", "parsed_answer": row["said"], **row}
        for number, row in enumerate(quiz())
    ]
    mapping = proposed(json.dumps(rows), read_text)
    assert mapping is not None
    assert mapping["parsed_answer"] == "prediction"
    assert "pred" not in mapping


def test_a_column_that_does_not_fit_is_left_out(read_text: ReadText) -> None:
    """Half of the first values look right, but most of all do not."""
    rows = [
        {"conf": 0.5, "hit": number % 2, "prob_true": 0.5 if number < 20 else "see note"}
        for number in range(99)
    ]
    assert proposed("\n".join(map(json.dumps, rows)), read_text) == {"conf": "confidence", "hit": "correct"}


def test_what_suggests_a_misreading_is_asked(read_text: ReadText) -> None:
    """The gold counts the choices in another order, so that hardly an answer would be right."""
    rows = [{"conf": 0.9, "label": "ABCD"[number % 4], "pred": "BCDA"[number % 4]} for number in range(200)]
    report = report_on("\n".join(map(json.dumps, rows)), read_text)
    assert report.status == "refused"
    assert report.proposal is not None
    assert report.proposal.question.startswith("Suspicious: none of 200 answers counts as right.")


def test_a_few_bad_rows_are_told(read_text: ReadText) -> None:
    lines = ["conf,hit", *(f"0.{number % 9 + 1},{number % 2}" for number in range(40)), "high,1"]
    report = report_on("\n".join(lines), read_text)
    assert report.proposal is not None
    assert report.proposal.summary.startswith(
        "With --map conf=confidence --map hit=correct --skip-bad-rows it loads without 1 bad row:"
    )


def test_fields_are_proposed_of_an_object_that_is_called_as_a_single_value_is(read_text: ReadText) -> None:
    rows = [
        {
            "item": {"gold": LETTERS[number % 4]},
            "model": {"confidence": number / 40, "answer": LETTERS[number % 3]},
        }
        for number in range(40)
    ]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    mapping = proposed(content, read_text)
    assert mapping == {
        "item.gold": "gold",
        "model.confidence": "confidence",
        "model.answer": "prediction",
    }
    assert mapping is not None
    reading = read_text(content, columns=mapping)
    assert (reading.n_bad_rows, len(reading.good_runs), reading.unused_columns) == (0, 1, ())
    kept = read_text(content, columns={**mapping, "model": "model"})
    assert kept.n_bad_rows == 40, "the column that a person names is read"


def test_nested_fields_are_proposed_by_their_paths(read_text: ReadText) -> None:
    rows = [{"judge": {"confidence": 100 - number, "is_correct": number % 2}} for number in range(20)]
    assert proposed(json.dumps(rows), read_text) == {
        "judge.confidence": "confidence/100",
        "judge.is_correct": "correct",
    }


def test_a_file_that_loads_is_not_read_again(read_text: ReadText) -> None:
    def refuse(_further: ReadOptions) -> Reading:
        raise AssertionError

    assert check_file(read_text("confidence,correct\n0.5,1\n"), read_again=refuse).status == "loads"


def test_nothing_is_proposed_where_nothing_would_load(read_text: ReadText) -> None:
    assert proposed("label,note\na,b\n", read_text) is None


def test_load_says_what_would_load(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text("conf,hit\n0.5,1\n0.25,0\n")
    set_surface("Python")
    proposed = 'With columns={"conf": "confidence", "hit": "correct"} it loads: accuracy 0.5'
    with pytest.raises(Refused, match=re.escape(proposed)):
        api.load(path)
    assert len(api.load(path, columns={"conf": "confidence", "hit": "correct"})) == 1
    assert readers.read(path).proposed_mapping == {"conf": "confidence", "hit": "correct"}


# --- Systems side by side, and several confidences ----------------------------------------------------------


def side_by_side(n_rows: int = 60) -> list[dict[str, object]]:
    """Two systems in each row, their values in lists of one, as tools of Hugging Face write them."""
    return [
        {
            "id": str(number),
            "answerKey": "A",
            "tuned-evals": [number % 2],
            "tuned-confidence_levels": [0.5],
            "base-v2-evals": [number % 3 // 2],
            "base-v2-confidence_levels": [0.9],
            "base-v2-c_lengths": [number],
        }
        for number in range(n_rows)
    ]


def test_systems_side_by_side_are_proposed(read_text: ReadText) -> None:
    report = report_on("\n".join(map(json.dumps, side_by_side())), read_text)
    assert report.proposal is not None
    assert report.proposal.summary == (
        'With --wide "*-confidence_levels=confidence" --wide "*-evals=correct" it loads: accuracy 0.5000 '
        "(30 of 60), mean confidence 0.5000 (given), in the first of 2 runs."
    )


@pytest.mark.parametrize(
    "columns",
    [
        ["m7_confidence", "m7_correct", "m70_confidence"],  # one system alone has both
        ["confidence_1", "correct_1", "confidence_2", "correct_2"],  # several answers of one system
        ["m7_confidence", "m70_confidence"],  # no outcome
    ],
)
def test_other_columns_of_like_names_are_no_systems(columns: list[str], read_text: ReadText) -> None:
    lines = [",".join(columns), *(",".join("1" for _ in columns) for _ in range(40))]
    assert read_text("\n".join(lines)).wide_candidates == ()


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("conf_a,correct_a,conf_b,correct_b", [{"conf_*": "confidence", "correct_*": "correct"}]),
        (
            "conf_1,correct_1,conf_2,correct_2",
            [
                {"conf_1": "confidence", "correct_1": "correct"},
                {"conf_2": "confidence", "correct_2": "correct"},
            ],
        ),
        # one outcome belongs to no confidence: each other column is offered
        ("conf_1,correct_1,conf_2,correct_3", [{}] * 3),
    ],
)
def test_a_confidence_is_proposed_with_the_outcome_of_its_own_system(
    columns: str, expected: list[dict[str, str]], read_text: ReadText
) -> None:
    rows = [f"0.{number}5,{number % 2},0.{9 - number}3,{number % 3 // 2}" for number in range(10)]
    proposal = report_on("\n".join([columns, *rows]), read_text).proposal
    assert proposal is not None
    found = [{**one.mapping, **one.wide} for one in (proposal, *proposal.alternatives)]
    assert len(found) == len(expected)
    assert all(one.items() >= wanted.items() for one, wanted in zip(found, expected, strict=True))


def test_letters_with_one_right_answer_are_no_systems(read_text: ReadText) -> None:
    rows = [f"{LETTERS[n % 4]},{LETTERS[n % 3]},0.{n + 30},{LETTERS[n % 2]},0.{n + 20}" for n in range(40)]
    content = "\n".join(["gold,pred_a,conf_a,pred_b,conf_b", *rows])
    assert read_text(content).wide_candidates == ()


def families(*patterns: str, systems: Sequence[str] = ("small", "large")) -> list[dict[str, object]]:
    """Columns of two systems under these patterns, by what the pattern says."""
    values: dict[str, Callable[[int], object]] = {
        "conf": lambda n: 0.3 + n / 100,
        "prob": lambda n: 0.2 + n / 100,
        "correct": lambda n: n % 2,
        "pred": lambda n: LETTERS[(n + n % 2) % 4],
    }
    return [
        {
            pattern.replace("*", system): next(of(number) for word, of in values.items() if word in pattern)
            for pattern in patterns
            for system in systems
        }
        | {"gt": LETTERS[number % 4]}
        for number in range(60)
    ]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (("conf_*", "*-correct"), [{"conf_*": "confidence", "*-correct": "correct"}]),
        (("conf_*", "is_correct_*"), [{"conf_*": "confidence", "is_correct_*": "correct"}]),
        (("*_conf", "pred_*"), [{"*_conf": "confidence", "pred_*": "prediction"}]),
        (
            ("*_conf", "prob_*", "*_correct"),
            [
                {"*_conf": "confidence", "*_correct": "correct"},
                {"prob_*": "confidence", "*_correct": "correct"},
            ],
        ),
    ],
)
def test_families_of_columns_are_proposed(
    patterns: Sequence[str], expected: list[dict[str, str]], read_text: ReadText
) -> None:
    proposal = report_on("\n".join(map(json.dumps, families(*patterns))), read_text).proposal
    assert proposal is not None
    found = (proposal, *proposal.alternatives)
    assert [dict(one.wide) for one in found] == expected
    assert [one.figures.mean_confidence for one in found] == pytest.approx([0.595, 0.495][: len(found)])
    assert {(one.figures.accuracy, one.figures.n_runs) for one in found} == {(0.5, 2)}


def test_systems_in_percent_and_in_objects_are_proposed(read_text: ReadText) -> None:
    rows = [
        {name: {"conf": 50 + number, "is_correct": number % 2} for name in ("small", "large")}
        for number in range(40)
    ]
    reading = read_text("\n".join(map(json.dumps, rows)))
    wide = {pattern: name for one in reading.wide_candidates for pattern, name in one.names.items()}
    assert wide == {"*.conf": "confidence/100", "*.is_correct": "correct"}


def test_further_confidences_are_proposed_where_they_fit(read_text: ReadText) -> None:
    """The hedged one has a value above 1, and is not needed."""
    lines = ["conf,hit,verbal_confidence_score,hedged_confidence,stop_confidence_margin"]
    lines += [f"0.5,{number % 2},0.25,{1.5 if number == 30 else 0.5},wide" for number in range(60)]
    assert proposed("\n".join(lines), read_text) == {
        "conf": "confidence",
        "hit": "correct",
        "verbal_confidence_score": "confidence.verbal_score",
    }


# --- Rows in several places ---------------------------------------------------------------------------------


def results(n_rows: int = 40) -> list[dict[str, object]]:
    return [{"conf": 50 + number, "hit": number % 2} for number in range(n_rows)]


HISTORY = [{"step": step, "loss": 1 / (step + 1)} for step in range(5)]


def test_the_rows_that_load_are_proposed(read_text: ReadText) -> None:
    report = report_on(json.dumps({"history": HISTORY, "out": {"items": results()}}), read_text)
    assert report.status == "refused"
    assert "--rows history (5 rows), --rows out.items (40 rows)" in report.message
    assert report.proposal is not None
    assert report.proposal.summary == (
        "With --rows out.items --map conf=confidence/100 --map hit=correct it loads: accuracy 0.5000 (20 of "
        "40), mean confidence 0.6950 (given)."
    )
    assert report.proposal.row_columns == ("conf", "hit")


def test_all_rows_that_load_are_equally_likely(read_text: ReadText) -> None:
    clean = [{"confidence": 0.5, "correct": number % 2} for number in range(10)]
    content = json.dumps({"history": HISTORY, "dev": clean, "test": results()})
    proposal = report_on(content, read_text).proposal
    assert proposal is not None
    found = (proposal, *proposal.alternatives)
    assert [(one.rows, len(one.mapping)) for one in found] == [("dev", 0), ("test", 2)]
    assert proposal.summary.startswith(
        "2 readings are equally likely: choose one.\n- With --rows dev it loads: accuracy 0.5000"
    )


@given(
    places=st.dictionaries(
        st.sampled_from(["a", "b", "c d", "data"]),
        st.sampled_from([HISTORY, results(), results(25)]),
        min_size=2,
    )
)
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_each_proposal_of_rows_comes_to_what_it_says(
    places: dict[str, list[dict[str, object]]], read_text: ReadText
) -> None:
    proposal = report_on(json.dumps(places), read_text).proposal
    found = [] if proposal is None else [proposal, *proposal.alternatives]
    loading = [name for name, rows in places.items() if rows != HISTORY]
    are_alike = len(loading) == len(places)
    assert [one.rows for one in found] == (["*"] if are_alike else loading)
    for one in found:
        read = [rows for name, rows in places.items() if one.rows in ("*", name)]
        assert one.figures.n_rows == sum(map(len, read))
        rows = read[0]  # the run that the figures describe
        assert one.figures.accuracy == sum(row["hit"] == 1 for row in rows) / len(rows)


@pytest.mark.parametrize("n_systems", [200, 201])
def test_more_systems_than_are_read_are_told_and_never_mixed(n_systems: int, read_text: ReadText) -> None:
    header = [f"{name}_s{number}" for name in ("confidence", "correct") for number in range(n_systems)]
    rows = [[0.5 + row / 100] * n_systems + [row % 2] * n_systems for row in range(4)]
    text = "\n".join(",".join(map(str, row)) for row in [header, *rows])
    report = report_on(text, read_text)
    if n_systems == 200:
        assert report.proposal is not None
        assert dict(report.proposal.wide) == {"confidence_*": "confidence", "correct_*": "correct"}
        return
    assert (report.proposal, report.columns_not_used) == (None, ())
    assert report.message == (
        "quiz.csv: the patterns 'confidence_*', 'correct_*' (--wide) match 201 systems, and at most 200 are "
        "read. Write patterns that match fewer."
    )


def test_beside_right_answers_of_another_table_an_answer_is_the_models(
    read_text: ReadText, tmp_path: Path
) -> None:
    table = tmp_path / "gold.csv"
    table.write_text("id,gold\n" + "".join(f"q{at},{LETTERS[at % 4]}\n" for at in range(40)))
    rows = "".join(f"q{at},{LETTERS[(at + (at % 5 == 0)) % 4]},0.{at + 50}\n" for at in range(40))
    reading = read_text(f"id,answer,confidence\n{rows}", gold=table)
    assert [dict(one.names) for one in reading.candidates if "answer" in one.names] == [
        {"answer": "prediction"}
    ]


# --- Sampled answers and their outcomes, by values ----------------------------------------------------------


def puzzles(n_rows: int = 30) -> list[dict[str, object]]:
    """Five sampled answers to each puzzle, the same answer always judged alike."""
    answers = [[f"{(row + sample) % 3} + {row}" for sample in range(5)] for row in range(n_rows)]
    return [{"ys": texts, "infos": [{"r": int(text.startswith("0"))} for text in texts]} for texts in answers]


SAMPLED = {"ys": "samples", "infos.r": "sample_correct"}


def test_sampled_answers_and_their_outcomes_are_proposed(read_text: ReadText) -> None:
    proposal = report_on(json.dumps(puzzles()), read_text).proposal
    assert proposal is not None
    assert dict(proposal.mapping) == SAMPLED
    # Two answers of each row occur twice; the first is judged, and is right in every third row.
    assert proposal.summary == (
        "With --map ys=samples --map infos.r=sample_correct it loads: accuracy 0.3333 (10 of 30, majority "
        "answer judged), mean confidence 0.4000 (cluster_size)."
    )


def test_a_proposal_says_how_many_samples_mark_no_answer(read_text: ReadText) -> None:
    """As in the logs on the game of 24, where chains that give up end without an answer."""
    rows = puzzles()
    for row in rows:
        row["ys"] = [f"Steps.\nAnswer: {text}" for text in cast("list[str]", row["ys"])]
        row["ys"][4] = "Steps.\nIt cannot be done."
        cast("list[dict[str, int]]", row["infos"])[4]["r"] = 0
    proposal = report_on(json.dumps(rows), read_text).proposal
    assert proposal is not None
    assert dict(proposal.mapping) == SAMPLED
    assert proposal.outcome.endswith(
        "(cluster_size), 30 of 150 samples mark no answer and are compared as a whole text"
    )


def test_sampled_answers_in_parquet_are_proposed(tmp_path: Path) -> None:
    path = tmp_path / "puzzles.parquet"
    pl.DataFrame(puzzles()).write_parquet(path)
    assert proposed_mapping(path) == SAMPLED


def without_repeated_texts(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"ys": [f"{place} {text}" for place, text in enumerate(row["ys"])]}


def with_other_outcomes(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"infos": [{"r": place % 2} for place in range(5)]}


def with_a_shorter_list(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"infos": row["infos"][:4]}


def with_further_flags(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"parses": [1 - info["r"] for info in row["infos"]]}


def as_choices(row: dict[str, Any]) -> dict[str, Any]:
    return {"choices": row["ys"], "infos": row["infos"]}


@pytest.mark.parametrize(
    "change",
    [without_repeated_texts, with_other_outcomes, with_a_shorter_list, with_further_flags, as_choices],
)
def test_other_lists_are_no_sampled_answers(
    change: Callable[[dict[str, Any]], dict[str, Any]], read_text: ReadText
) -> None:
    """Choices with their labels, lists that don't belong together, and two lists of outcomes."""
    assert proposed(json.dumps(list(map(change, puzzles()))), read_text) is None


@pytest.mark.parametrize("name", ["gpt-4_0.7_naive_cot", "gpt-4_0.7_naive_standard"])
def test_samples_of_a_published_log_are_proposed(extra_files: Path, name: str) -> None:
    (path,) = (extra_files / "real" / "tot-game24").glob(f"{name}*")
    proposal = tried_report(path).proposal
    assert proposal is not None
    assert [*proposal.mapping.values()] == ["id", "samples", "sample_correct"]
    assert "majority answer judged" in proposal.outcome


@pytest.mark.parametrize("n_voters", [2, 3])
def test_columns_of_letters_are_told_and_not_proposed(n_voters: int, read_text: ReadText) -> None:
    rows = [
        {f"voter {voter}": LETTERS[(number + (number + voter) % 5 // 4) % 4] for voter in range(n_voters)}
        | {"gold": LETTERS[number % 4], "question": f"What is {number}?"}
        for number in range(40)
    ]
    report = report_on("\n".join(map(json.dumps, rows)), read_text)
    note = f"{n_voters} columns hold letters of choices: voter 0, voter 1, voter 2. Name those"
    assert (note in report.message) == (n_voters == 3)
    assert report.proposal is None


# --- By values --------------------------------------------------------------------------------------------


def columns_text(columns: Mapping[str, list[object]], delimiter: str = ",") -> str:
    lines = [
        delimiter.join(columns),
        *(delimiter.join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    return "\n".join(lines)


CONFIDENCES: list[object] = [f"0.{number:02}" for number in range(10, 90)]
OUTCOMES: list[object] = ["ja" if number % 3 else "nein" for number in range(80)]
RIGHT: list[object] = [LETTERS[number * 7 % 4] for number in range(80)]
SAID: list[object] = [LETTERS[(number * 7 + (number % 5 == 0)) % 4] for number in range(80)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_names_that_say_more_are_asked(delimiter: str, read_text: ReadText) -> None:
    content = columns_text(
        {"Frage-Nr": list(range(80)), "Sicherheit grob": CONFIDENCES, "Richtig oder falsch": OUTCOMES},
        delimiter,
    )
    proposal = report_on(content, read_text).proposal
    assert proposal is not None
    assert dict(proposal.mapping) == {
        "Sicherheit grob": "confidence",
        "Richtig oder falsch": "correct:ja",
        "Frage-Nr": "id",
    }
    assert proposal.figures.accuracy == sum(outcome == "ja" for outcome in OUTCOMES) / 80
    assert proposal.figures.mean_confidence == pytest.approx(sum(range(10, 90)) / 8000)
    assert (proposal.figures.n_rows, proposal.figures.n_runs) == (80, 1)
    (other,) = proposal.alternatives
    assert other.mapping["Richtig oder falsch"] == "correct:nein"
    assert proposal.question == (
        "'Sicherheit grob': its name and values from 0.1 to 0.89, but the name says more than confidence. "
        "'Richtig oder falsch': its name does not say which of its values means right, ja or nein. "
        "Choose one only if you know that it is meant."
    )


def test_an_answer_and_the_right_one_are_proposed(read_text: ReadText) -> None:
    content = columns_text({"How sure": CONFIDENCES, "Model said": SAID, "Truth": RIGHT})
    proposal = report_on(content, read_text).proposal
    assert proposal is not None
    assert proposal.figures.accuracy == 64 / 80
    assert {name: column for column, name in proposal.mapping.items()} == {
        "confidence": "How sure",
        "prediction": "Model said",
        "gold": "Truth",
    }


def test_equally_likely_readings_are_all_told(read_text: ReadText) -> None:
    columns = {"sureness": CONFIDENCES, "certainty of it": CONFIDENCES[::-1], "hit": OUTCOMES}
    columns["hit"] = [int(outcome == "ja") for outcome in OUTCOMES]
    report = report_on(columns_text(columns), read_text)
    assert report.proposal is not None
    assert [dict(one.mapping) for one in (report.proposal, *report.proposal.alternatives)] == [
        {"certainty of it": "confidence", "hit": "correct"},
        {"sureness": "confidence", "hit": "correct"},
    ]
    assert report.proposal.summary.splitlines()[0] == "2 mappings are equally likely: choose one."
    assert "- With --map hit=correct --map sureness=confidence it loads" in report.proposal.summary


def test_a_rival_of_a_column_found_by_its_name_is_told(read_text: ReadText) -> None:
    """`conf` is a usual name, and `sureness` says as much."""
    columns = {"conf": CONFIDENCES, "sureness": CONFIDENCES[::-1], "hit": [n % 2 for n in range(80)]}
    report = report_on(columns_text(columns), read_text)
    assert report.proposal is not None
    assert dict(report.proposal.mapping) == {"conf": "confidence", "hit": "correct"}
    assert [dict(one.mapping) for one in report.proposal.alternatives] == [
        {"sureness": "confidence", "hit": "correct"}
    ]


def test_an_id_that_repeats_below_the_first_rows_is_left_out(read_text: ReadText) -> None:
    n_rows = 1_200
    columns: dict[str, list[object]] = {
        "item": [min(number, 1_100) for number in range(n_rows)],
        "sure": [f"0.{number % 80 + 10}" for number in range(n_rows)],
        "fine": [number % 2 for number in range(n_rows)],
    }
    assert proposed(columns_text(columns), read_text) == {"sure": "confidence", "fine": "correct"}


@given(order=st.permutations(["sure", "was fine", "Model said", "Truth", "nr", "stars"]))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_order_of_the_columns_decides_nothing(order: list[str], read_text: ReadText) -> None:
    columns: dict[str, list[object]] = {
        "sure": CONFIDENCES,
        "was fine": OUTCOMES,
        "Model said": SAID,
        "Truth": RIGHT,
        "nr": list(range(80)),
        "stars": [number % 5 + 1 for number in range(80)],
    }
    report = report_on(columns_text({name: columns[name] for name in order}), read_text)
    assert report.proposal is not None
    assert report.proposal.mapping == {
        "sure": "confidence",
        "Model said": "prediction",
        "Truth": "gold",
        "nr": "id",
    }


@given(
    names=st.lists(
        st.sampled_from(["Conf (%)", "sure", "hit", "Right?", "Model said", "Truth", "nr", "Fach", "x"]),
        min_size=1,
        unique=True,
    ),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_suggestion_is_applied_unasked(names: list[str], seed: int, read_text: ReadText) -> None:
    columns = [CONFIDENCES, OUTCOMES, RIGHT, SAID, list(range(80))]
    chosen = {name: columns[(seed + index) % len(columns)] for index, name in enumerate(names)}
    reading = read_text(columns_text(chosen))
    assert (dict(reading.column_roles), reading.good_runs) == ({}, ())
    report = report_on(columns_text(chosen), read_text)
    assert (report.status, report.runs) == ("refused", ())


QUESTIONS_ASKED_AGAIN = [(f"q{at % 30}", 0.5 + at % 40 / 100, at % 3 % 2) for at in range(90)]


def written(path: Path, header: str, *, percent: bool = False) -> Path:
    """A table in which thirty questions are asked three times, with the id in its first column."""
    rows = [(name, 100 * conf if percent else conf, hit) for name, conf, hit in QUESTIONS_ASKED_AGAIN]
    path.write_text("\n".join([header, *(f"{name},{conf:g},{hit}" for name, conf, hit in rows)]) + "\n")
    return path


@pytest.mark.parametrize(
    ("header", "percent", "mapping"),
    [
        ("id,confidence,correct", False, {"id": "trial_of"}),
        ("Item no.,Conf (%),Right?", True, {"Conf (%)": "confidence/100", "Right?": "correct"}),
        ("question_id,conf,acc", False, {"conf": "confidence", "acc": "correct"}),
    ],
)
def test_ids_that_repeat_are_proposed_as_the_question_that_rows_ask(
    tmp_path: Path, header: str, *, percent: bool, mapping: dict[str, str]
) -> None:
    path = written(tmp_path / "again.csv", header, percent=percent)
    ids = header.split(",", 1)[0]
    assert proposed_mapping(path) == {**mapping, ids: "trial_of"}


def test_rows_that_name_their_question_in_a_column_that_is_not_read_are_remarked_on(tmp_path: Path) -> None:
    (run,) = tried_report(written(tmp_path / "again.csv", "question_id,confidence,correct")).runs
    (remark,) = run.run.row_counts.notes
    assert "'question_id'" in remark
    assert "--map question_id=trial_of" in remark
    (other,) = tried_report(written(tmp_path / "other.csv", "colour,confidence,correct")).runs
    assert other.run.row_counts.notes == ()


SPLIT = [{"idx": at % 20, "split": "abc"[at // 20], "conf": at / 60, "hit": at % 3 > 0} for at in range(60)]


@pytest.mark.parametrize("others", [{}, {"category": "xy"}])
def test_ids_that_are_unique_within_a_column_keep_it(others: dict[str, str], read_text: ReadText) -> None:
    rows = [
        {**row, **{name: values[at % 2] for name, values in others.items()}} for at, row in enumerate(SPLIT)
    ]
    assert proposed("\n".join(map(json.dumps, rows)), read_text) == {
        "idx": "id",
        "split": "subject",
        "conf": "confidence",
        "hit": "correct",
    }


def test_ids_that_are_not_read_and_repeat_in_each_split_are_remarked_on(read_text: ReadText) -> None:
    columns = {"conf": "confidence", "hit": "correct"}
    (run,) = read_text("\n".join(map(json.dumps, SPLIT)), columns=columns).good_runs
    (note,) = run.row_counts.notes
    assert note.startswith("Values of column 'idx' occur in several rows, once for each value of 'split'.")
    assert note.endswith("with --map idx=trial_of. If not: --map idx=id --map split=subject")


def test_a_question_of_each_of_two_models_is_not_asked_again(tmp_path: Path) -> None:
    rows = [f"q{at % 30},{'ab'[at // 30]},0.{5 + at % 4},{at % 2}" for at in range(60)]
    path = tmp_path / "two.csv"
    path.write_text("\n".join(["question_id,model,confidence,correct", *rows]) + "\n")
    report = tried_report(path)
    assert dict(report.proposed_mapping) == {"question_id": "id"}
    assert all(run.run.row_counts.notes == () for run in report.runs)


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimal_commas_of_a_spreadsheet_are_proposed(delimiter: str, read_text: ReadText) -> None:
    own = "id;confidence;correct;gold\na;0,875;1;3,5\nb;,25;0;1,25\nc;1,000;1;2\nd;;0;1"
    report = report_on(own.replace(";", delimiter), read_text)
    assert report.status == "refused"
    assert "column 'confidence' has commas in its numbers" in report.message
    assert report.proposal is not None
    mapping = dict(report.proposal.mapping)
    assert mapping == {"confidence": "confidence:comma"}
    reading = read_text(own.replace(";", delimiter), columns=mapping)
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["confidence"].to_list() == [0.875, 0.25, 1.0, None]
    assert run.rows["gold"].to_list() == ["3,5", "1,25", "2", "1"], "texts stay as they are written"
    assert "Decimal commas in 'confidence' are read as points." in reading.notes
    foreign = "Nr;Konfidenz (%);Richtig\na;87,5;ja\nb;60,25;nein\nc;99,9;ja\nd;70;ja"
    report = report_on(foreign.replace(";", delimiter), read_text)
    assert report.proposal is not None
    assert dict(report.proposal.mapping) == {
        "Nr": "id",
        "Konfidenz (%)": "confidence/100",
        "Richtig": "correct:ja",
    }
    assert report.preview["Konfidenz (%)"] == ("87,5", "60,25", "99,9", "70"), "as it is written"


def test_a_comma_between_commas_is_no_decimal_comma(read_text: ReadText) -> None:
    reading = read_text('id,confidence,correct\na,"0,875",1\nb,0.5,0\n')
    assert [problem.kind for problem in reading.problems] == ["not a number"]


@pytest.mark.parametrize(
    ("column", "cells", "name"),
    [
        ("confidence", ("0,9", "0,25"), "confidence:comma"),
        ("confidence", ("86,4 %", "25,5 %"), "confidence/100"),
        ("confidence", ("-0,5", "-1,25"), "confidence:log"),
        ("p_true", ("0,9", "0,25", "0,75", "0,5", "0,66", "0,71"), "p_true:comma"),
        ("verbal_confidence", ("90,5", "25,5"), "verbal_confidence/100"),
    ],
)
def test_the_refusal_of_decimal_commas_names_the_option_that_is_proposed(
    column: str, cells: tuple[str, ...], name: str, read_text: ReadText
) -> None:
    rows = [f"{cell};{at % 2}" for at, cell in enumerate(cells)]
    report = report_on("\n".join([f"{column};correct", *rows]), read_text)
    assert report.message.splitlines()[0].endswith(f"--map {column}={name}")
    assert report.proposal is not None
    assert dict(report.proposal.mapping) == {column: name}


def test_commas_that_are_said_to_be_decimal_are_so_in_any_file(read_text: ReadText) -> None:
    text = 'confidence,correct\n"0,875",1\n0.5,0\n'
    (run,) = read_text(text, columns={"confidence": "confidence:comma"}).good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["confidence"].to_list() == [0.875, 0.5]


def rows_of_models(header: str) -> str:
    """Thirty questions, each asked of two models."""
    rows = [f"q{at % 30},{'ab'[at // 30]},0.{5 + at % 4},{at % 2}" for at in range(60)]
    return "\n".join([header, *rows]) + "\n"


@pytest.mark.parametrize(
    ("header", "mapping"),
    [
        ("id,llm,confidence,correct", {"llm": "model"}),
        ("question_id,model,conf,hit", {"question_id": "id", "conf": "confidence", "hit": "correct"}),
        ("qid,llm,conf,hit", {"qid": "id", "llm": "model", "conf": "confidence", "hit": "correct"}),
        ("question,model,conf,hit", {"conf": "confidence", "hit": "correct"}),
    ],
)
def test_ids_that_occur_once_a_model_are_ids(
    header: str, mapping: dict[str, str], read_text: ReadText
) -> None:
    report = report_on(rows_of_models(header), read_text)
    assert report.proposal is not None
    assert dict(report.proposal.mapping) == mapping


def test_a_question_beside_a_unique_id_is_remarked_on(tmp_path: Path) -> None:
    rows = [f"r{at},q{at % 20},0.{5 + at % 4},{at % 2}" for at in range(60)]
    path = tmp_path / "both.csv"
    path.write_text("\n".join(["id,question_id,confidence,correct", *rows]) + "\n")
    (run,) = tried_report(path).runs
    assert [note for note in run.run.row_counts.notes if "--map question_id=trial_of" in note]


def test_values_that_mean_right_are_compared_as_numbers_and_absent_ones_named(read_text: ReadText) -> None:
    text = "confidence,score\n0.5,1.0\n0.5,0.8\n0.5,0.3\n"
    reading = read_text(text, columns={"score": "correct:1|0.80|7"})
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["correct"].to_list() == [True, True, False]
    assert "No value of column 'score' is '7'." in reading.notes


@pytest.mark.parametrize(("numbers", "is_refused"), [((1, 2, 3, 4), True), ((0, 1, 2, 3), False)])
@pytest.mark.parametrize("name", ["prediction", "prediction_index"])
def test_predictions_counted_from_one_are_refused(
    name: str, numbers: tuple[int, ...], *, is_refused: bool, read_text: ReadText
) -> None:
    rows = [
        {"choices": list("wxyz"), "gold": "ABCD"[at], name: number, "confidence": 0.5}
        for at, number in enumerate(numbers)
    ]
    reading = read_text("\n".join(map(json.dumps, rows)))
    assert bool(reading.refusal and f"column '{name}' looks counted from 1" in reading.refusal) == is_refused
    judged = read_text("\n".join(json.dumps({**row, "correct": 1}) for row in rows))
    assert "counted from 1" not in (judged.refusal or "")


def test_a_text_of_all_rows_is_an_instruction(read_text: ReadText) -> None:
    for text, notes in (("Is it true?", 1), ("Is {} true?", 0)):
        rows = [f"{text.format(at)},0.{5 + at},1" for at in range(4)]
        (run,) = read_text("\n".join(["question,confidence,correct", *rows])).good_runs
        assert isinstance(run, AnswerRun)
        assert len([note for note in run.row_counts.notes if "taken for an instruction" in note]) == notes


def test_choices_proposed_beyond_the_columns_that_are_looked_at(read_text: ReadText) -> None:
    names = [*(f"x{at}" for at in range(MAX_COLUMNS_JUDGED)), "Choices"]
    reading = read_text(f'{",".join(names)}\n{"," * (len(names) - 1)}"[1, 2]"\n')
    assert reading.proposed_mapping == {"Choices": "choices"}
