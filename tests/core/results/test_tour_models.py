"""The tour's last step says no more about which model to trust than the common questions allow."""

from __future__ import annotations

from dataclasses import replace

from calib_core.figures.tour import ranked_points
from calib_core.results.comparison import Comparison
from calib_core.runs import AnswerRun
from core.run_builders import make_answer_run
from core.token_run_builders import dense_sums, random_rows, token_run
from core.tour_runs import CALIBRATED, OVER, Block, block_answers, make_step

MEANING = "The Brier score is low when right answers have a high confidence and wrong answers a low one"
SHARP = ((0.99, 300, 297), (0.05, 100, 5))
"""Knows when it is right."""
POOR = ((0.02, 400, 8),)
"""Nearly always wrong, and says so."""
FLAT = ((0.8, 400, 320),)
"""Right more often, and says the same each time."""


def test_one_run_is_best_by_both_numbers() -> None:
    step = make_step("models", block_answers(*SHARP, model="a"), block_answers(*OVER, model="b"))
    assert step.sentences[0].startswith(f"{MEANING}. Of 2 runs, a has the lowest, 0.0")
    assert "The model is right 75.5 % of the time, the highest share of these runs." in step.sentences[0]
    assert (
        "On their common questions, this Brier score is clearly lower than every other run's, so a is the "
        "one of these to trust most. For scale: always stating 75.5 %"
    ) in step.sentences[1]
    assert step.sentences[1].endswith("and the score of a is better than that.")
    assert isinstance(step.picture, Comparison)


def test_two_indistinguishable_runs() -> None:
    step = make_step("models", block_answers(*CALIBRATED, model="a"), block_answers(*CALIBRATED, model="b"))
    assert (
        "1 other run cannot be told apart from a on their common questions, so this data does not settle "
        "which model to trust most"
    ) in step.sentences[1]


def test_a_low_score_of_a_poor_model_is_not_praised() -> None:
    step = make_step("models", block_answers(*POOR, model="poor"), block_answers(*FLAT, model="flat"))
    assert step.sentences[0].startswith(
        f"{MEANING}. Of 2 runs, poor has the lowest, 0.0196. The model is right 2.0 % of the time, but"
    )
    assert "but flat is right most often (80.0 %, Brier score 0.1600)." in step.sentences[0]
    assert step.sentences[1] == (
        "A low score alone is no reason to trust poor. For scale: always stating 2.0 % would score 0.0196, "
        "and the score of poor cannot be told apart from that."
    )


def test_most_accurate_and_best_calibrated_differ() -> None:
    step = make_step("models", block_answers(*SHARP, model="sharp"), block_answers(*FLAT, model="flat"))
    assert step.sentences[1].startswith(
        "Trust flat to be right most often, and sharp to tell right from wrong. For scale: always stating"
    )


def test_the_best_score_worse_than_a_constant_is_not_to_be_trusted() -> None:
    step = make_step(
        "models", block_answers((0.9, 400, 200), model="a"), block_answers((1.0, 400, 40), model="b")
    )
    assert "so a comes first. For scale: always stating 50.0 % would score 0.2500" in step.sentences[1]
    assert step.sentences[1].endswith("the score of a is worse than that.")


def test_only_runs_of_one_data_set_and_confidence() -> None:
    shown, other = block_answers(*OVER, model="a"), block_answers(*OVER, model="b", dataset="else")
    stated = make_answer_run({"verbal_confidence": [0.5] * 9, "correct": [True] * 9})
    step = make_step("models", shown, other, stated)
    assert step.sentences[0].startswith(
        f"{MEANING}. a scores 0.3258 with “confidence in the file” and is right 56.7 %"
    )
    assert step.sentences[1].startswith("Load a second run to compare. For scale: always stating 56.7 %")
    assert (
        step.selection_note == "The run is the only one of the data set quiz with “confidence in the file”."
    )


def test_texts_are_not_compared_with_answers() -> None:
    text = token_run(dense_sums(*random_rows(100, 4)))
    step = make_step("models", text, text, block_answers(*OVER, dataset=None), method="tokens")
    assert step.sentences[0].startswith(f"{MEANING}. Of 2 runs, ")
    assert step.selection_note.startswith("Both runs whose files name no data set with ")
    alone = make_step("models", block_answers(*OVER, dataset=None))
    assert (
        alone.selection_note
        == "The run is the only one whose file names no data set with “confidence in the file”."
    )


def test_forty_runs() -> None:
    runs = [block_answers((0.9, 30, 5 + at // 2), model=f"m{at}") for at in range(40)]
    step = make_step("models", *runs)
    assert step.sentences[0].startswith(f"{MEANING}. Of 40 runs, m38 has a score as low as any, 0.")
    assert step.to_frame().height == 40


def test_one_row_and_one_class() -> None:
    step = make_step("models", block_answers((1.0, 1, 1)))
    assert " scores 0.0000 with " in step.sentences[0]


def test_overlapping_scores_do_not_say_which_model_to_trust() -> None:
    near = ((0.99, 280, 277), (0.1, 120, 12)), ((0.99, 288, 283), (0.1, 112, 11))
    step = make_step(
        "models", *(block_answers(*blocks, model=name) for name, blocks in zip("ab", near, strict=True))
    )
    assert "but b is right most often" in step.sentences[0]
    assert step.sentences[1].startswith(
        "On their common questions, these two Brier scores cannot be told apart, so this data does not "
        "settle which model to trust most. "
    )


def test_one_model_asked_with_more_shots_is_named() -> None:
    qwen = "Qwen/Qwen2.5-1.5B-Instruct"
    asked = [
        replace(run, info=replace(run.info, model=qwen, shots=shots), label=f"{qwen} · quiz · {shots}-shot")
        for run, shots in ((block_answers(*OVER), 0), (block_answers(*SHARP), 5))
    ]
    sentence, _ = make_step("models", *asked).sentences
    assert sentence.startswith(f"{MEANING}. Of 2 runs, Qwen2.5-1.5B-Instruct · 5-shot has the lowest, ")


def test_five_rows_are_not_to_be_trusted() -> None:
    step = make_step("models", block_answers(*CALIBRATED, model="a"), block_answers((1.0, 5, 5), model="b"))
    assert step.sentences[0].startswith(f"{MEANING}. Of 2 runs, b has the lowest, 0.0000")
    assert step.sentences[1].startswith(
        "A score over 5 rows is too little to judge b by. For scale: always stating 100"
    )


def test_runs_with_one_number_are_distinguished_by_the_other() -> None:
    equal = make_step(
        "models", block_answers((0.8, 100, 80), model="a"), block_answers((0.6, 100, 80), model="b")
    )
    assert "The model is right 80.0 % of the time, as often as any." in equal.sentences[0]
    right = make_step(
        "models", block_answers((0.5, 100, 50), model="a"), block_answers((0.5, 100, 60), model="b")
    )
    told_of = (
        "b has a score as low as any, 0.2500. The model is right 60.0 % of the time, the highest share of "
        "these runs"
    )
    assert told_of in right.sentences[0]


def test_the_run_of_the_tour_is_told_where_it_stands() -> None:
    runs = [
        block_answers(*blocks, model=name) for name, blocks in (("a", SHARP), ("b", OVER), ("c", CALIBRATED))
    ]
    told = [make_step("models", *runs, shown=shown).sentences[0] for shown in range(3)]
    assert told[0].endswith("75.5 % of the time, the highest share of these runs.")
    assert told[1].endswith(
        "the highest share of these runs; b has 0.3258, worse than always stating 56.7 %."
    )  # 97.75 of 300
    assert told[2].endswith(
        "the highest share of these runs; c has 0.1775."
    )  # .0475, .1875, .2475 and .2275 on average


def events(*blocks: Block, model: str) -> AnswerRun:
    """Blocks of (probability of yes, rows, those of yes)."""
    run = block_answers(*blocks, model=model)
    names = {"confidence": "event_prob", "correct": "event"}
    return replace(run, rows=run.rows.drop("prediction", "gold").rename(names))


def test_events_go_by_skill_and_a_rare_event_does_not_lead() -> None:
    rare = events((0.1, 500, 50), model="rare")
    dull = events((0.6, 250, 150), (0.4, 250, 100), model="dull")
    sharp = events((0.8, 250, 200), (0.2, 250, 50), model="sharp")
    step = make_step("models", dull, sharp, rare, method="event")
    assert step.sentences[0].endswith(
        "Skill measures it against always stating the share of yes. Of 3 runs, sharp has the highest skill, "
        "+0.360; dull has +0.040."
    )
    assert step.sentences[1] == (
        "On their common items, this skill is clearly higher than every other run's, so sharp is the one of "
        "these to trust most. For scale: always stating 50.0 % would score 0.2500, and the score of sharp is "
        "better than that."
    )
    assert isinstance(step.picture, Comparison)
    assert [point.key for point in ranked_points(step.picture)] == ["1", "0", "2"]
