"""Right answers of a log are taken from a chosen table, and the likely one is proposed."""

from __future__ import annotations

import os
from pathlib import Path

from streamlit.testing.v1 import AppTest

import screens
from pages.state.runs import slug
from predictions import quiz, response, write_csv, write_jsonl
from screens import Visit, choose, control, page_text, table


def file_states(at: AppTest) -> dict[str, str]:
    shown = table(at, "File", "State").set_index("File")["State"]
    return {str(name): str(value) for name, value in shown.items()}


def test_right_answers_come_from_a_table_of_the_folder(data: Path, visit: Visit) -> None:
    write_jsonl(data / "answers.jsonl", [response(number) for number in range(20)])
    gold = [{"custom_id": f"q{number}", "gold": "AB"[number % 2]} for number in range(20)]
    write_csv(data / "gold.csv", gold)
    at = visit("files")
    assert file_states(at) == {"answers.jsonl": "needs right answers", "gold.csv": "right answers?"}
    assert "This looks like a table of right answers" in "\n".join(info.value for info in at.info)
    real = os.path.realpath(data / "gold.csv")
    assert control(at, "gold_answers.jsonl").options == ["gold.csv"]
    assert control(at, "gold_answers.jsonl").value == real  # proposed, and read so once it is applied
    at.button(key="apply_answers.jsonl").click()
    at = screens.run(at)
    assert file_states(at)["answers.jsonl"] == "loaded"
    assert at.expander[0].proto.expanded  # what came of it is in sight
    assert "right answers from gold.csv" in page_text(at)
    write_csv(data / "gold.csv", gold[:15])
    assert "15 of 20 rows" in page_text(visit("files"))
    (data / "gold.csv").unlink()
    at = visit("files")
    assert file_states(at)["answers.jsonl"] == "refused"
    assert "no longer loaded" in "\n".join(warning.value for warning in at.warning)
    assert str(data) not in page_text(at)


def test_right_answers_are_asked_for_where_there_is_a_table_of_them(data: Path, visit: Visit) -> None:
    write_jsonl(data / "answers.jsonl", [response(number) for number in range(20)])
    at = visit("files")
    assert not control(at, "reread_answers.jsonl").value
    at.file_uploader[0].set_value([("gold.csv", b"custom_id,gold\nq0,A\nq1,B\n", "text/csv")])
    at = screens.run(at)
    assert file_states(at)["gold.csv"] == "refused"
    choose(at, "reread_answers.jsonl", value=True)
    assert "gold_answers.jsonl" not in {box.key for box in at.selectbox}  # an upload is one session's own
    write_csv(data / "gold.csv", [{"custom_id": "q0", "gold": "A"}])
    at = visit("files")
    assert control(at, "reread_answers.jsonl").value
    (asked,) = (screens.plain(warning.value) for warning in at.warning)
    assert "joined on custom_id, and choose it below (a CSV" in asked
    assert "ead as openai, " not in asked  # it stands in the line above


def test_of_several_tables_of_right_answers_the_one_called_alike_is_proposed(
    data: Path, visit: Visit
) -> None:
    for name in ("output", "output_n8"):
        write_jsonl(data / f"{name}.jsonl", [response(0)])
    for name in ("gold", "gold_n8"):
        write_csv(data / f"{name}.csv", [{"custom_id": "q0", "answer": "A"}])
    write_csv(data / "quiz.csv", quiz(9))
    at = visit("files")
    keys = [f"gold_{slug(name, exact=True)}" for name in ("output.jsonl", "output_n8.jsonl")]
    chosen = [Path(str(control(at, key).value)).name for key in keys]
    assert chosen == ["gold.csv", "gold_n8.csv"]


def test_a_table_of_right_answers_is_proposed_only_to_a_log_that_lacks_them(data: Path, visit: Visit) -> None:
    write_jsonl(data / "answers.jsonl", [response(number) for number in range(20)])
    write_csv(data / "gold.csv", [{"custom_id": f"q{number}", "gold": "A"} for number in range(20)])
    write_csv(data / "unsure.csv", [{"id": f"q{number}", "prediction": "A"} for number in range(20)])
    at = visit("files")
    assert control(at, "gold_answers.jsonl").value == os.path.realpath(data / "gold.csv")
    assert control(at, "gold_unsure.csv").options == ["the file itself", "gold.csv"]
    assert control(at, "gold_unsure.csv").value is None
