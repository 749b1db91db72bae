"""The subjects of one evaluation are one run, and the page says which parts are missing."""

from __future__ import annotations

from pathlib import Path

from core.readers.lm_eval_logs import choice_record, with_acc, write_log
from pages.state.runs import slug
from screens import Visit, page_text, table, tables


def subjects(data: Path, *names: str, bad: str | None = None) -> None:
    """One log of 30 questions per subject, with the tool's results; `bad` is the one with a bad row."""
    results = {f"mmlu_{name}": {"alias": name, "acc,none": 0.5, "sample_len": 30} for name in names}
    told = {
        "results": results,
        "configs": {f"mmlu_{name}": {"task_alias": name} for name in names},
        "model_name": "org/tiny",
        "date": 1.5,
    }
    for name in names:
        numbers = [-0.2, -2.0]
        records = [
            with_acc(choice_record(at, numbers, str(at % 2), choices=("A", "B")), at % 2) for at in range(30)
        ]
        if name == bad:
            records[-1] = choice_record(29, ["nan", "-1"], "0", choices=("A", "B"))
        write_log(data, f"mmlu_{name}", records, **told)


def test_subjects_are_one_run(data: Path, visit: Visit) -> None:
    subjects(data, "law", "art")
    page = visit("reliability")
    assert [box.options for box in page.selectbox if box.label == "Run"] == [["org/tiny · mmlu"]]
    assert "One run of 2 files: art, law." in page_text(page)
    shown = page_text(visit("groups"))
    assert "law" in shown


def test_files_show_the_whole_and_the_tools_numbers(data: Path, visit: Visit) -> None:
    subjects(data, "law", "art")
    page = visit("files")
    states = table(page, "File", "State")
    assert states["State"].tolist() == ["loaded", "loaded"]
    numbers = table(page, "Number", "Theirs")
    assert numbers["Number"].tolist() == ["acc, of all by rows", "acc", "acc"]
    assert numbers["Ours"].tolist() == [0.5, 0.5, 0.5]
    assert set(numbers["Equal"]) == {"equal"}
    assert "all 3 comparable numbers equal Calib's" in page_text(page)


def test_a_number_that_differs_is_explained(data: Path, visit: Visit) -> None:
    records = [with_acc(choice_record(at, [-0.2, -2.0], "0", choices=("A", "B")), 0) for at in range(4)]
    scores = {"results": {"quiz": {"acc,none": 0.6, "sample_len": 5}}}
    write_log(data, "quiz", records, **scores)
    page = visit("files")
    assert "acc: The tool used 5 rows, Calib 4." in page_text(page)
    assert "1 of 1 comparable numbers differ" in page_text(page)


def test_an_undecided_part_is_not_in_the_run_with_a_note(data: Path, visit: Visit) -> None:
    subjects(data, "law", "art", "law_b", bad="law_b")
    other = [choice_record(at, [first, -2], "0", choices="AB") for at, first in enumerate(("-1", "nan"))]
    write_log(data, "quiz", other)
    left_out = "samples_mmlu_law_b_2024-01-02T00-00-00.000000.jsonl"
    text = page_text(visit("reliability"))
    assert f"Left out until you decide on their bad rows: {left_out}." in text
    page = visit("reliability", good=slug(left_out, exact=True))
    assert "One run of 3 files" in page_text(page)
    assert "until you decide" not in page_text(page)
    assert tables(page)
