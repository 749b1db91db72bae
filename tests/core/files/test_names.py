"""Is the likeliest meaning proposed, and only one for each name?"""

from __future__ import annotations

from calib_core.files.columns import COLUMNS
from calib_core.files.names import OTHER_NAMES, as_options, propose


def test_every_proposal_is_a_name_the_program_knows() -> None:
    assert set(OTHER_NAMES) <= set(COLUMNS)
    assert all(name in others for name, others in OTHER_NAMES.items())


def test_spelling_does_not_matter() -> None:
    assert propose(["Is-Correct", "Conf.", "P(True)"], ()) == {
        "Is-Correct": "correct",
        "Conf.": "confidence",
        "P(True)": "p_true",
    }


def test_the_likeliest_column_wins_and_names_that_are_read_are_not_proposed() -> None:
    assert propose(["prob", "conf"], ()) == {"conf": "confidence"}
    assert propose(["prob", "conf"], {"confidence"}) == {}


def test_one_column_is_proposed_for_one_name() -> None:
    proposals = propose(["answer", "answers", "label"], ())
    assert proposals == {"label": "gold", "answers": "samples"}


def test_proposals_as_text_for_the_command_line() -> None:
    assert as_options({"conf": "confidence", "is ok": "correct"}) == (
        '--map conf=confidence --map "is ok=correct"'
    )
