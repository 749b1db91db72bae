"""A table of right answers is found by usual names, joined by id, and refused if ambiguous."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.format import ReadOptions
from calib_core.readers.table.gold_table import read_gold_table
from core.readers.server_logs import confidences, letter_answer, only_run, outcomes, read_lines, table

FOUR = (("A", 0.7), ("B", 0.1), ("C", 0.1), ("D", 0.1))


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("custom_id,answer,subject", {"gold", "subject"}),
        ("id,gold", {"gold"}),
        ("question id,Correct-Answer", {"gold"}),
        ("uid,gold_index,question", {"gold_index", "question"}),
        ("row,target,category", {"gold", "subject"}),
    ],
)
def test_common_names_of_ids_and_right_answers(tmp_path: Path, header: str, names: set[str]) -> None:
    cells = ",".join("1" for _ in header.split(","))
    read = read_gold_table(table(tmp_path, f"{header}\n{cells}\n"))
    assert list(read.ids) == [header.split(",", maxsplit=1)[0]]
    assert set(read.answers.columns) == names


def test_exact_names_win_over_aliases(tmp_path: Path) -> None:
    read = read_gold_table(table(tmp_path, "id,answer,gold\n1,model,right\n"))
    assert read.answers["gold"].to_list() == ["right"]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_every_kind_of_table(tmp_path: Path, kind: str) -> None:
    frame = pl.DataFrame({"id": ["a", "b"], "gold": ["A", "D"]})
    path = tmp_path / f"gold.{kind}"
    match kind:
        case "csv" | "tsv":
            frame.write_csv(path, separator="," if kind == "csv" else "\t")
        case "jsonl":
            frame.write_ndjson(path)
        case "json":
            path.write_text(json.dumps(frame.to_dicts()))
        case _:
            frame.write_parquet(path)
    run = only_run(read_lines(tmp_path, letter_answer(FOUR, "a"), letter_answer(FOUR, "b"), gold=path))
    assert outcomes(run, "choice_softmax") == [True, False]


def test_whole_numbers_are_the_ids_that_they_are_as_text(tmp_path: Path) -> None:
    path = tmp_path / "gold.parquet"
    pl.DataFrame({"id": [7, 8], "gold_index": [0, 3]}).write_parquet(path)
    run = only_run(read_lines(tmp_path, letter_answer(FOUR, "7"), letter_answer(FOUR, "8"), gold=path))
    assert outcomes(run, "choice_softmax") == [True, False]


def test_the_logs_own_name_of_its_ids_is_joined_first(tmp_path: Path) -> None:
    gold = table(tmp_path, "id,custom_id,gold\nb,a,A\na,b,D\n")
    run = only_run(read_lines(tmp_path, letter_answer(FOUR, "a"), letter_answer(FOUR, "b"), gold=gold))
    assert run.rows["gold"].to_list() == ["A", "D"]


def test_choices_and_letters_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    rows = [{"id": "a", "gold": "zinc", "choices": ["salt", "zinc", "tin", "gold"], "subject": "metals"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = only_run(read_lines(tmp_path, letter_answer(FOUR, "a"), gold=path))
    assert run.rows["gold_index"].to_list() == [1]
    assert run.rows["subject"].to_list() == ["metals"]
    assert outcomes(run, "choice_softmax") == outcomes(run, "given") == [False]


def test_what_only_one_of_the_two_has_is_missing_and_counted(tmp_path: Path) -> None:
    gold = table(tmp_path, "id,gold\na,A\nb,\nx,C\ny,C\n")
    reading = read_lines(
        tmp_path, letter_answer(FOUR, "a"), letter_answer(FOUR, "b"), letter_answer(FOUR, "c"), gold=gold
    )
    assert only_run(reading).rows.height == 3
    assert confidences(only_run(reading), "choice_softmax") == pytest.approx([0.7])
    assert "Right answers of gold.csv, joined on id: 1 of 3 rows have one." in reading.notes
    assert "2 of its ids have no row in the log (x, y)." in reading.notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id,gold\na,A\nb,B\na,C\n",
            "column 'id' holds 'a' in rows 1, 3, so it is unclear which answer is right",
        ),
        ("id,gold\nx,A\n", "no right answer to any question of the log"),
        ("id,note\na,A\n", "gold.csv cannot be used for right answers: its columns are 'id', 'note'"),
        ("gold,note\na,A\n", "It needs a column of ids"),
        ("id,gold_index\na,first\n", "gold.csv, row 1, column 'gold_index': expected a whole number"),
        ("id,gold\na,A,B\n", r"gold.csv, row 1 \(line 2\): expected"),
        ("", "gold.csv is empty"),
    ],
)
def test_a_table_that_is_not_clear_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        read_lines(tmp_path, letter_answer(FOUR, "a"), letter_answer(FOUR, "b"), gold=table(tmp_path, text))


def test_ids_repeated_beside_those_of_the_log_do_no_harm(tmp_path: Path) -> None:
    gold = table(tmp_path, "id,gold\na,A\nx,B\nx,C\n")
    assert outcomes(
        only_run(read_lines(tmp_path, letter_answer(FOUR, "a"), gold=gold)), "choice_softmax"
    ) == [True]


def test_a_missing_table_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"^gone\.csv cannot be opened"):
        read_lines(tmp_path, letter_answer(FOUR, "a"), gold=tmp_path / "gone.csv")


def test_plain_tables_without_gold_are_joined_too(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text('id,choice_probs,confidence\na,"[0.6, 0.4]",0.6\nb,"[0.3, 0.7]",0.7\n')
    reading = readers.read(path, gold=table(tmp_path, "id,label\na,0\nb,A\n"))
    assert outcomes(only_run(reading), "choice_softmax") == [True, False]
    assert "joined on id: 2 of 2 rows" in reading.notes[0]


def test_a_right_answer_outside_the_choices_is_a_bad_row_named_by_its_table(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text('id,choice_probs\na,"[0.6, 0.4]"\nb,"[0.3, 0.7]"\n')
    reading = readers.read(path, gold=table(tmp_path, "id,gold\na,A\nb,C\n"))
    (problem,) = reading.problems
    assert (problem.first_cells[0].row, problem.first_cells[0].column) == (2, "gold of gold.csv")


def test_a_file_with_its_own_right_answers_needs_no_table(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text('id,choice_probs,gold\na,"[0.6, 0.4]",A\n')
    for text in ("id,gold\na,(a)\n", "id,gold\nz,B\n"):
        reading = readers.read(path, gold=table(tmp_path, text))
        assert outcomes(only_run(reading), "choice_softmax") == [True]
        assert reading.notes[0].startswith("gold.csv is not needed")


@pytest.mark.parametrize(
    ("quiz", "gold", "told"),
    [
        ("id,prediction,gold\na,A,A\nb,A,B\n", "id,gold\na,A\nb,c)\n", ("'b'", "gold 'B'", "gold 'c)'")),
        ("id,prediction,gold\na,4,4\nb,4,\n", "id,gold\na,5.0\nb,5\n", ("'a'", "gold '4'", "gold '5.0'")),
        ("id,choices,gold_index\na,x;y,1\n", "id,gold_index\na,0\n", ("'a'", "gold_index 1", "gold_index 0")),
        ("id,choices,gold\na,x;y,A\n", "id,gold\na,y\n", ("'a'", "gold 'A'", "gold 'y'")),
        ("id,choices,gold_index\na,x;y,1\n", "id,gold\na,A) x\n", ("'a'", "gold_index 1", "gold 'A) x'")),
        ("id,confidence,correct\na,.5,1\n", "id,correct\na,no\n", ("'a'", "correct True", "correct False")),
    ],
)
def test_a_table_that_contradicts_the_file_is_refused(
    tmp_path: Path, quiz: str, gold: str, told: tuple[str, str, str]
) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text(quiz.replace("x;y", '"[""x"", ""y""]"'))
    with pytest.raises(Refused) as refused:
        readers.read(path, gold=table(tmp_path, gold))
    said = f"of {told[0]} quiz.csv has {told[1]} and gold.csv {told[2]}."
    assert str(refused.value).startswith(f"quiz.csv and gold.csv contradict each other in 1 row: {said}")


def test_texts_of_a_table_may_say_the_same_in_other_words(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text("id,prediction,gold\na,Rome,Rome\nb,5,4 apples\n")
    reading = readers.read(path, gold=table(tmp_path, "id,gold\na,the city of Rome\nb,4\n"))
    assert reading.notes[0].endswith("already has a right answer; in 2 rows the two are different texts.")
    none = readers.read(path, gold=table(tmp_path, "id,gold\nz,Rome\n"))
    assert none.notes[0].endswith("already has a right answer, and it has none of the file's ids.")
    with pytest.raises(Refused, match="Keep one row per id"):
        readers.read(path, gold=table(tmp_path, "id,gold\na,Rome\na,Oslo\n"))


def test_rows_that_repeat_a_question_are_joined_on_what_names_it(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text("id,prediction\na,4\na,5\n")
    options = ReadOptions(columns={"id": "trial_of"})
    run = only_run(readers.read(path, options=options, gold=table(tmp_path, "id,gold\na,4\n")))
    assert run.rows["gold"].to_list() == ["4", "4"]


def test_rows_without_ids_cannot_be_joined(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text('choice_probs\n"[0.6, 0.4]"\n')
    with pytest.raises(Refused, match=r"quiz\.csv has no column id.*--map COLUMN=id"):
        readers.read(path, gold=table(tmp_path, "id,gold\na,B\n"))


# --- Joined to plain tables, on any column ------------------------------------------------------------------

PREDICTIONS = "qid,item,confidence,prediction\n1,apple,0.9,A\n2,pear,0.6,B\n3,apple,0.3,C\n"


def joined(tmp_path: Path, labels: str, on: str = "", columns: dict[str, str] | None = None) -> pl.DataFrame:
    path = tmp_path / "predictions.csv"
    path.write_text(PREDICTIONS)
    reading = readers.read(path, options=ReadOptions(columns or {}, gold_on=on), gold=table(tmp_path, labels))
    return only_run(reading).rows


@pytest.mark.parametrize(
    ("labels", "on"),
    [
        ("qid,gold\n3,C\n2,A\n1,A\n", "qid"),
        ("n,gold\n3,C\n2,A\n1,A\n", "qid=n"),
        ("qid,correct\n3,1\n2,0\n1,1\n", "qid"),
        ("qid,is_correct\n3,yes\n2,no\n1,yes\n", "qid"),
        ("id,qid,correct\n9,3,1\n8,2,0\n7,1,1\n", "qid"),
        ("qid,correct\n3,1\n2,0\n1,1\n3,1\n", "qid"),
    ],
)
def test_labels_are_joined_on_any_column(tmp_path: Path, labels: str, on: str) -> None:
    rows = joined(tmp_path, labels, on)
    name = "gold" if "gold" in rows.columns else "correct"
    assert rows[name].to_list() == (["A", "A", "C"] if name == "gold" else [True, False, True])


def test_several_rows_may_have_one_label(tmp_path: Path) -> None:
    assert joined(tmp_path, "item,gold\npear,B\napple,C\n", "item")["gold"].to_list() == ["C", "B", "C"]


def test_what_is_joined_on_may_lie_inside_a_field(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps([{"doc": {"key": key}, "confidence": 0.5} for key in "ba"]))
    reading = readers.read(
        path, gold=table(tmp_path, "k,correct\na,0\nb,1\n"), options=ReadOptions(gold_on="doc.key=k")
    )
    assert only_run(reading).rows["correct"].to_list() == [True, False]


@pytest.mark.parametrize(
    ("labels", "on", "message"),
    [
        ("qid,gold\n1,A\n1,B\n", "qid", "holds '1' in rows 1, 2, so it is unclear which answer is right"),
        ("qid,gold\n1,A\n", "nr", "gold.csv has no column 'nr'"),
        ("nr,gold\n1,A\n", "nr", "predictions.csv has no column nr"),
        ("qid,gold\n1,A\n", "", "predictions.csv has no column id,.*--on COLUMN"),
        ("qid,correct\n1,B\n", "qid", "row 1, column 'correct': expected right or wrong"),
        ("qid,gold\n7,A\n", "qid", "no right answer to any question"),
    ],
)
def test_a_join_that_is_not_clear_is_refused(tmp_path: Path, labels: str, on: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        joined(tmp_path, labels, on)


def test_labels_of_some_rows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    path.write_text(PREDICTIONS)
    reading = readers.read(
        path, gold=table(tmp_path, "qid,correct\n3,1\n8,0\n"), options=ReadOptions(gold_on="qid")
    )
    assert only_run(reading).rows["correct"].to_list() == [None, None, True]
    assert "Right answers of gold.csv, joined on qid: 1 of 3 rows have one." in reading.notes
    assert "1 of its ids have no row in the log (8)." in reading.notes


# --- Names that the user gives ----------------------------------------------------------------------------

SAID = "item,confidence,prediction\n1,0.5,A\n2,0.5,B\n3,0.5,C\n"


def named(
    folder: Path, labels: str, columns: dict[str, str], said: str = SAID, on: str = "item"
) -> pl.DataFrame:
    path = folder / "said.csv"
    path.write_text(said)
    options = ReadOptions({"q": "question"} if "q," in said else {}, gold_on=on, gold_columns=columns)
    return only_run(readers.read(path, gold=table(folder, labels), options=options)).rows


@pytest.mark.parametrize(
    ("labels", "columns", "name", "values"),
    [
        ("item,x\n1,1\n2,0\n3,1\n", {"x": "correct"}, "correct", [True, False, True]),
        ("item,x\n1,1\n2,0\n3,1\n", {"x": "correct:not"}, "correct", [False, True, False]),
        ("item,x\n1,ok\n2,bad\n3,fine\n", {"x": "correct:ok|fine"}, "correct", [True, False, True]),
        ("item,x\n1,A\n2,C\n3,C\n", {"x": "gold"}, "gold", ["A", "C", "C"]),
        ('item,x\n1,"[""A"", ""a""]"\n2,"[""C""]"\n3,"[""C""]"\n', {"x": "gold_all"}, "gold_all",
         [["A", "a"], ["C"], ["C"]]),
        ("item,answer,x\n1,B,A\n2,B,C\n3,B,C\n", {"x": "gold"}, "gold", ["A", "C", "C"]),
        ("item,answer,x\n1,B,1\n2,B,0\n3,B,1\n", {"answer": "", "x": "correct"}, "correct",
         [True, False, True]),
        ("item,label\n1,True\n2,False\n3,True\n", {"label": "gold"}, "gold", ["True", "False", "True"]),
        ("item;x\n1;0\n2;0\n3;1\n", {"x": "correct"}, "correct", [False, False, True]),
    ],
)  # fmt: skip
def test_a_named_column_is_read_as_that(
    tmp_path: Path, labels: str, columns: dict[str, str], name: str, values: list[object]
) -> None:
    rows = named(tmp_path, labels, columns)
    assert rows[name].to_list() == values
    other = {"gold": "correct", "correct": "gold"}.get(name)
    assert other not in rows.columns


def test_a_named_column_of_ids_is_joined_on(tmp_path: Path) -> None:
    said = "id,confidence\n1,0.5\n2,0.5\n"
    rows = named(tmp_path, "id,mine,correct\n7,2,1\n8,1,0\n", {"mine": "id"}, said, on="")
    assert rows["correct"].to_list() == [False, True]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"y": "correct"}, r"gold.csv has no column 'y'. Its columns are 'item', 'x'"),
        (
            {"x": "confidence"},
            r"'x' cannot be read as 'confidence'.*Names: id, gold, gold_index, gold_all, choices",
        ),
        (
            {"x": "subject"},
            r"cannot be used for right answers.*--map-gold COLUMN=correct or --map-gold COLUMN=human$",
        ),
        ({"x": "gold_all", "item": "gold_all"}, r"two columns would be read as 'gold_all'"),
        ({"x": "gold", "item": "gold"}, r"two columns would be read as 'gold'"),
    ],
)
def test_names_that_cannot_be_are_refused(tmp_path: Path, columns: dict[str, str], message: str) -> None:
    with pytest.raises(Refused, match=message):
        named(tmp_path, "item,x\n1,1\n2,0\n3,1\n", columns)


# --- Labels that are all True or False ----------------------------------------------------------------------

LABELS = "item,label\n1,True\n2,false\n3, TRUE \n"


@pytest.mark.parametrize("as_flags", [False, True])
def test_labels_that_are_true_or_false_are_outcomes(tmp_path: Path, as_flags: bool) -> None:  # noqa: FBT001
    path = tmp_path / "said.csv"
    path.write_text(SAID)
    gold = table(tmp_path, LABELS)
    if as_flags:
        gold = tmp_path / "gold.parquet"
        pl.DataFrame({"item": [1, 2, 3], "label": [True, False, True]}).write_parquet(gold)
    reading = readers.read(path, gold=gold, options=ReadOptions(gold_on="item"))
    assert only_run(reading).rows["correct"].to_list() == [True, False, True]
    assert "correct is 'label', whose values are True and False." in reading.notes


@pytest.mark.parametrize(
    ("said", "labels"),
    [
        ("item,confidence,prediction\n1,0.5,True\n2,0.5,it is false.\n3,0.5,True\n", LABELS),
        ('item,confidence,samples\n1,0.5,"[""True"", ""False""]"\n2,0.5,"[""True""]"\n3,0.5,\n', LABELS),
        ('item,choice_probs,choices\n1,"[0.5, 0.5]","[""True"", ""false""]"\n', LABELS),
        (SAID, LABELS.replace("label", "gold")),
        (SAID, LABELS.replace("label", "answer")),
        (SAID, LABELS.replace("false", "perhaps")),
        (SAID, "item,label\n1,\n2,\n3,\n"),
    ],
)  # fmt: skip
def test_they_are_right_answers_where_answers_may_be_so(tmp_path: Path, said: str, labels: str) -> None:
    rows = named(tmp_path, labels, {}, said)
    assert "gold" in rows.columns
    assert "correct" not in rows.columns


def test_labels_of_true_or_false_judge_a_servers_answers(tmp_path: Path) -> None:
    labels = table(tmp_path, "custom_id,label\na,True\nb,False\n")
    letters = read_lines(tmp_path, letter_answer(FOUR, "a"), letter_answer(FOUR, "b"), gold=labels)
    assert only_run(letters).rows["correct"].to_list() == [True, False]
    truths = (("True", 0.6), ("False", 0.4))
    stated = read_lines(tmp_path, letter_answer(truths, "a"), letter_answer(truths, "b"), gold=labels)
    assert outcomes(only_run(stated), "p_true") == [True, False]
