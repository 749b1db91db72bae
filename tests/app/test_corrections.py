"""A table of corrections is chosen on the page Files, and what it changes is shown."""

from __future__ import annotations

import os
from pathlib import Path

import screens
from predictions import write_csv
from screens import Visit, choose, control, page_text, table


def answers() -> list[dict[str, object]]:
    return [
        {
            "id": f"q{at}",
            "gold": "AB"[at % 2],
            "prediction": "AB"[at % 3 % 2],
            "confidence": 0.5 + at % 5 / 10,
        }
        for at in range(40)
    ]


def test_corrections_come_from_a_table_of_the_folder(data: Path, visit: Visit) -> None:
    write_csv(data / "answers.csv", answers())
    fixes = [
        {"id": "q3", "leave_out": "", "gold": "A", "reason": "*wrong*"},
        {"id": "q5", "leave_out": "yes"},
    ]
    write_csv(data / "fixes.csv", [{"gold": "", "reason": "", **row} for row in fixes])
    at = visit("files")
    states = table(at, "File", "State").set_index("File")["State"]
    assert dict(states) == {"answers.csv": "loaded", "fixes.csv": "corrections?"}
    assert "This looks like a table of corrections" in "\n".join(info.value for info in at.info)
    choose(at, "reread_answers.csv", value=True)
    assert control(at, "corrections_answers.csv").options == ["none", "fixes.csv"]
    choose(at, "corrections_answers.csv", os.path.realpath(data / "fixes.csv"))
    at.button(key="apply_answers.csv").click()
    at = screens.run(at)
    assert "corrections from fixes.csv" in page_text(at)
    assert "with corrections fixes.csv: 1 left out, 1 corrected" in page_text(at)
    changes = table(at, "Change", "Reason")
    assert list(changes["Id"]) == ["q3", "q5"]
    assert next(iter(changes["Reason"])) == "*wrong*"
    assert "Corrections of another file are taken from this table" in "\n".join(one.value for one in at.info)
    at = visit("reliability")
    assert "with corrections fixes.csv: 1 left out, 1 corrected" in page_text(at)
    write_csv(data / "fixes.csv", [{"id": "q5", "leave_out": "yes"}])  # read again, as it is another one
    assert "with corrections fixes.csv: 1 left out, 0 corrected" in page_text(visit("files"))
    (data / "fixes.csv").unlink()
    at = visit("files")
    assert "no longer loaded" in "\n".join(warning.value for warning in at.warning)
    assert "with corrections" not in page_text(at)


def test_a_table_that_does_not_fit_is_refused_with_its_place(data: Path, visit: Visit) -> None:
    write_csv(data / "answers.csv", answers())
    write_csv(data / "fixes.csv", [{"id": "z1", "leave_out": "yes"}])
    at = visit("files")
    choose(at, "reread_answers.csv", value=True)
    choose(at, "corrections_answers.csv", os.path.realpath(data / "fixes.csv"))
    at.button(key="apply_answers.csv").click()
    at = screens.run(at)
    assert "corrects no question" in page_text(at)
    assert dict(table(at, "File", "State").set_index("File")["State"])["answers.csv"] == "refused"
