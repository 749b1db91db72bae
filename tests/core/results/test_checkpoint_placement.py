"""Each checkpoint is placed on one axis, of tokens or of steps, never mixed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calib_core.results.run_names import checkpoint_step
from calib_core.results.training import STEPS_AXIS, TOKENS_AXIS, CheckpointPlacement, place_checkpoints
from calib_core.runs import RunInfo


def place(infos: dict[str, RunInfo], rows: dict[str, int] | None = None) -> CheckpointPlacement:
    return place_checkpoints(infos, rows or dict.fromkeys(infos, 1))


def test_of_two_runs_at_one_position_the_one_with_more_rows_is_placed() -> None:
    one = RunInfo("gpt", tokens_seen=9)
    found = place({"few": one, "many": one, "some": one}, {"few": 1, "many": 9, "some": 5})
    assert [place.run for place in found.lines["gpt"]] == ["many"]
    assert found.unplaced.keys() == {"few", "some"}
    assert "A run of no fewer rows stands at the same place of its line (9)" in found.unplaced["few"]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step143000", 143_000),
        ("checkpoint-500", 500),
        ("8000", 8000),
        (" 7 ", 7),
        ("global_step512", 512),
        ("ckpt_20", 20),
        ("iter-30", 30),
        ("Step 40", 40),
        ("stage1-step1000-tokens5B", 1000),
        ("step0", 0),
        (None, None),
        ("main", None),
        ("v0.3", None),
        ("footstep9", None),
        ("epoch 3", None),
        ("", None),
        ("1.5", None),
        ("-5", None),
        ("9" * 15, 10**15 - 1),
        ("9" * 16, None),
        ("9" * 5000, None),
        ("step" + "9" * 400, None),
        ("step" + "9" * 5000, None),
    ],
)
def test_the_step_in_a_name(name: str | None, step: int | None) -> None:
    assert checkpoint_step(name) == step


def runs_and_positions(**infos: RunInfo) -> dict[str, list[tuple[str, float]]]:
    """Line → (run, place)."""
    lines = place(infos).lines
    return {title: [(placed.run, placed.position) for placed in runs] for title, runs in lines.items()}


def test_runs_of_a_model_are_a_line_in_order_of_training() -> None:
    found = runs_and_positions(
        b=RunInfo("gpt", checkpoint="step900"),
        a=RunInfo("gpt", checkpoint="step20"),
        c=RunInfo("bigram", checkpoint="5"),
    )
    assert found == {"gpt": [("a", 20), ("b", 900)], "bigram": [("c", 5)]}


def test_line_names_have_the_distinguishing_facts() -> None:
    same = RunInfo("gpt", "plays", checkpoint="step1")
    assert list(runs_and_positions(a=replace(same, temperature=0.5), b=replace(same, temperature=1.0))) == [
        "gpt · temperature 0.5",
        "gpt · temperature 1",
    ]
    assert list(runs_and_positions(a=replace(same, shots=0), b=replace(same, shots=5, tuning="chat"))) == [
        "gpt · 0-shot",
        "gpt · 5-shot · chat",
    ]
    assert list(runs_and_positions(a=RunInfo(checkpoint="step1"))) == ["unnamed model"]


def test_tokens_where_every_run_has_them() -> None:
    found = place(
        {
            "a": RunInfo("gpt", checkpoint="step9", tokens_seen=900),
            "b": RunInfo("gpt", checkpoint="main", tokens_seen=100),
        }
    )
    assert found.axis == TOKENS_AXIS
    assert [placed.position for placed in found.lines["gpt"]] == [100, 900]


def test_tokens_where_every_run_has_both() -> None:
    found = place({"a": RunInfo("gpt", checkpoint="step9", tokens_seen=900)})
    assert (found.axis, found.lines["gpt"][0].position) == (TOKENS_AXIS, 900)


def test_steps_where_a_run_has_no_tokens() -> None:
    found = place(
        {"a": RunInfo("gpt", checkpoint="step9", tokens_seen=900), "b": RunInfo("gpt", checkpoint="step3")}
    )
    assert found.axis == STEPS_AXIS
    assert [placed.position for placed in found.lines["gpt"]] == [3, 9]


def test_tokens_and_steps_are_never_on_one_axis() -> None:
    found = place(
        {
            "a": RunInfo("gpt", tokens_seen=100),
            "b": RunInfo("gpt", tokens_seen=200),
            "c": RunInfo("other", checkpoint="step7"),
        }
    )
    assert (found.axis, list(found.lines)) == (TOKENS_AXIS, ["gpt"])
    assert found.unplaced["c"] == (
        "It has steps but not tokens seen, and the two are never drawn on one axis."
    )


def test_unplaced_runs_have_a_reason() -> None:
    found = place(
        {
            "a": RunInfo("gpt", checkpoint="step1"),
            "b": RunInfo("gpt", checkpoint="main"),
            "c": RunInfo("x"),
            "d": RunInfo("gpt", checkpoint="checkpoint-1"),
        }
    )
    assert found.unplaced == {
        "b": "The checkpoint 'main' has no step in it, and tokens seen are not given.",
        "c": "The file names no checkpoint and no tokens seen.",
        "d": "A run of no fewer rows stands at the same place of its line (1).",
    }
    assert place({}).lines == {}
