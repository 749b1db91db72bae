"""The page Groups: the metric of every group, and paired differences between runs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import screens
from calib_core.api import load, score
from calib_core.inference.multiplicity import benjamini_hochberg
from calib_core.inference.verdict import marked_verdict
from calib_core.results import groups as group_results
from calib_core.results import hidden_groups
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.groups import GroupBy, split_by_group
from calib_core.views import groups as group_views
from calib_core.wording import format_p_value
from group_files import ROWS, questions, write_facts
from pages.state import runs
from predictions import quiz, write_csv, write_jsonl
from screens import Visit, choose, control, figure, page_text


@pytest.fixture
def facts(data: Path) -> Path:
    write_facts(data)
    return data


def dots(at: AppTest) -> dict[str, list[str]]:
    """Series → the names of its groups, from the top."""
    drawn = [trace for trace in figure(at, "groups_dots")["data"] if trace.get("customdata")]
    return {trace["name"]: [own[1] for own in trace["customdata"]] for trace in drawn}


def panels(at: AppTest) -> list[str]:
    return [key for chart in at.get("plotly_chart") if (key := chart.key or "").startswith("panel_")]


def evidence_of(path: Path, method: str) -> AnswerEvidence:
    """The one run of a file, seen by a method."""
    (run,) = load(path)
    evidence = gather_evidence(run, method)
    assert isinstance(evidence, AnswerEvidence)
    return evidence


def control_captions(at: AppTest) -> list[str]:
    """Captions of the controls."""
    return [screens.plain(caption.value) for caption in at.sidebar.caption]


def subject_score(folder: Path, subject: str, **info: Any) -> float:
    """The score of one subject's rows, saved as a file of their own."""
    rows = [row for row in questions(10, **info) if row["subject"] == subject]
    path = write_jsonl(folder.parent / "alone.jsonl", rows)
    value = score(load(path)[0], method="choice_softmax", metric="ece").value
    assert value is not None
    return value


@pytest.mark.usefixtures("nothing_computed")
def test_groupings_are_looked_for_once_in_the_same_runs(
    facts: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert facts.is_dir()
    looked: list[tuple[str, ...]] = []
    real = runs.group_by_choices

    def group_by_choices(of: Any) -> Any:
        looked.append(tuple(of))
        return real(of)

    monkeypatch.setattr(runs, "group_by_choices", group_by_choices)
    at = visit("groups", by="shots")
    assert figure(at, "groups_dots")
    assert len(looked) == len(set(looked)) > 0


def test_the_groups_are_the_scores_of_their_rows(facts: Path, visit: Visit) -> None:
    at = visit("groups", runs="llama-7b-facts-0-shot")
    table = screens.table(at, "Group", "ECE")
    assert set(table["Group"]) == set(ROWS)
    shown = dict(zip(table["Group"], table["ECE"], strict=True))
    for subject in ("jurisprudence", "sociology"):
        assert shown[subject] == subject_score(facts, subject)
    counts = dict(zip(table["Group"], table["Rows used"], strict=True))
    assert counts == ROWS
    assert dots(at)["llama-7b"] == table["Group"].to_list()
    assert screens.tiles(at) == {}
    assert f"{sum(ROWS.values())} of {sum(ROWS.values())} rows." in page_text(at)
    n_judged = sum(rows >= 30 for rows in ROWS.values())
    headline = screens.plain(at.header[0].value)
    assert f" of {n_judged} groups" in headline or f"of {n_judged} with enough rows" in headline
    assert "by chance alone" in page_text(at)


def test_the_largest_gap_comes_first_and_what_chance_explains_last(facts: Path, visit: Visit) -> None:
    evidence = evidence_of(facts / "llama-base-0.jsonl", "choice_softmax")
    parts = split_by_group(evidence, GroupBy("subject", "subject", "rows"))
    at = visit("groups", runs="llama-7b-facts-0-shot")
    table = screens.table(at, "Group", "Verdict")
    assert dict(zip(table["Group"], table["Verdict"], strict=True)) == {
        name: marked_verdict(part.verdict.words) for name, part in parts.items()
    }
    q_values = dict(zip(parts, benjamini_hochberg([part.verdict.p for part in parts.values()]), strict=True))
    gaps = {name: abs((part.mean_confidence or 0) - (part.accuracy or 0)) for name, part in parts.items()}
    by_chance = {name for name, q in q_values.items() if q is None or q > 0.05}
    assert "sociology" in by_chance, "20 rows are too few"
    by_gap = sorted(parts, key=lambda name: (name in by_chance, -gaps[name]))
    assert table["Group"].to_list() == by_gap
    assert table["q"].to_list() == [format_p_value(q_values[name], None) for name in by_gap]
    assert table["Gap"].abs().to_list() == pytest.approx([gaps[name] for name in by_gap])
    choose(at, "sort", "value")
    by_value = screens.table(at, "Group", "ECE")["ECE"].to_list()
    assert by_value == sorted(by_value, reverse=True)


@pytest.mark.usefixtures("nothing_computed")
def test_another_order_computes_nothing_again(
    facts: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert facts.is_dir()
    made = [
        screens.record_results(monkeypatch, module, name)
        for module, name in (
            (group_results, "groups_of_rows"),
            (group_results, "split_by_group"),
            (group_views, "reliability_diagram"),
        )
    ]
    at = visit("groups", runs="llama-7b-facts-0-shot")
    by_value = dots(at)
    assert [len(times) for times in made] == [1, 1, len(ROWS)]
    choose(at, "sort", "name")
    assert dots(at) != by_value
    assert dots(at)["llama-7b"] == sorted(ROWS)
    assert [len(times) for times in made] == [1, 1, len(ROWS)]


def test_several_runs_are_series(facts: Path, visit: Visit) -> None:
    assert facts.is_dir()
    at = visit("groups", sort="name")
    assert list(dots(at)) == ["llama-7b · 0-shot", "llama-7b · 5-shot"]
    assert [*dots(at).values()] == [sorted(ROWS)] * 2
    assert screens.table(at, "Group", "Run", "ECE").shape[0] == 2 * len(ROWS)


def test_the_categories_of_mmlu_are_known(facts: Path, visit: Visit) -> None:
    assert facts.is_dir()
    at = visit("groups", by="category", runs="llama-7b-facts-0-shot")
    assert set(dots(at)["llama-7b"]) == {"STEM", "Other", "Humanities", "Social Sciences"}
    assert "50 used rows belong to no group by category" in page_text(at)


def test_other_columns_of_the_file_are_offered(facts: Path, visit: Visit) -> None:
    assert facts.is_dir()
    at = visit("groups", runs="llama-7b-facts-0-shot")
    assert screens.control(at, "by").options == ["subject", "category", "level"]
    choose(at, "by", "column:level")
    assert set(dots(at)["llama-7b"]) == {"easy", "hard"}
    assert screens.address(at)["by"] == "column:level"


def test_shots_are_compared_on_the_same_questions(facts: Path, visit: Visit) -> None:
    at = visit("groups", by="shots", metric="brier")
    table = screens.table(at, "Difference", "Questions")
    few, many = (
        score(load(facts / f"llama-base-{shots}.jsonl")[0], method="choice_softmax", metric="brier").value
        for shots in (0, 5)
    )
    assert few is not None
    assert many is not None
    assert table["Difference"].to_list() == ["5-shot − 0-shot"]
    assert table["Brier score"].to_list() == [pytest.approx(many - few)]
    assert table["Questions"].to_list() == [sum(ROWS.values())]
    assert dots(at) == {"0-shot": ["llama-7b · 0-shot"], "5-shot": ["llama-7b · 5-shot"]}


def test_another_level_to_compare_with(data: Path, visit: Visit) -> None:
    write_facts(data, shots=(0, 1, 5))
    at = choose(visit("groups", by="shots"), "against", "5-shot")
    assert screens.table(at, "Difference")["Difference"].to_list() == ["0-shot − 5-shot", "1-shot − 5-shot"]


def test_the_replications_reading_is_one_click_away(facts: Path, visit: Visit) -> None:
    at = visit("groups", m="20", binning="mass", metric="brier")
    (button,) = [button for button in at.button if button.label == "As in the MMLU replication"]
    button.click()
    screens.run(at)
    assert screens.address(at) == {
        "method": "choice_length_normalised",
        "labels": "all",
        "renormalise": "no",
    }
    text = page_text(at)
    assert "ECE-L1, equal width, M=10, right-closed, all labels, K=4" in text
    assert "not renormalised" in text
    (run, *_) = load(facts / "llama-base-0.jsonl")
    assert run.n_total == sum(ROWS.values())


def test_the_preset_is_disabled_without_choices(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(100))
    (button,) = [button for button in visit("groups").button if "MMLU" in button.label]
    assert button.disabled


def test_chosen_groups_have_a_diagram_each(facts: Path, visit: Visit) -> None:
    assert facts.is_dir()
    at = visit("groups", runs="llama-7b-facts-0-shot", groups="sociology,jurisprudence")
    assert len(panels(at)) == 2
    text = page_text(at)
    assert "n = 20, fewer than 30" in text
    assert "n = 40" in text
    assert len(panels(visit("groups", runs="llama-7b-facts-0-shot"))) == len(ROWS)


def test_more_than_four_runs_are_not_drawn_in_one_row(data: Path, visit: Visit) -> None:
    write_facts(data, shots=(0, 1, 2, 3, 4))
    at = visit("groups")
    assert len(dots(at)) == 4
    assert len(screens.control(at, "runs_shown").value) == 4
    assert control_captions(at) == ["4 of 5, 4 at most: more cannot be told apart in one row."]
    choose(at, "by", "shots")
    assert len(dots(at)) == 5
    assert control_captions(at) == []
    assert screens.address(at) == {"by": "shots"}
    choose(at, "by", "subject")
    assert len(dots(at)) == 4
    assert screens.address(at) == {}


def test_a_link_to_more_runs_than_can_be_drawn_says_which_are_not(data: Path, visit: Visit) -> None:
    write_facts(data, shots=(0, 1, 2, 3, 4))
    at = visit("groups", runs=",".join(f"llama-7b-facts-{shots}-shot" for shots in range(5)))
    assert len(dots(at)) == 4
    assert (
        ":material/block: llama-7b · 4-shot not added: more cannot be told apart in one row."
        in control_captions(at)
    )


def test_the_recipe_is_that_of_every_number(facts: Path, visit: Visit) -> None:
    assert facts.is_dir()
    assert "each group: ECE-L1, equal width, M=10, right-closed, top label, softmax over the choices, " in (
        page_text(visit("groups"))
    )


def test_where_nothing_is_chosen_the_worst_have_a_diagram(facts: Path, visit: Visit) -> None:
    write_facts(facts, shots=(0, 1, 2, 3))
    at = visit("groups")
    table = screens.table(at, "Group", "Run", "ECE")
    highest = table["Group"].iloc[0]
    assert panels(at) == [f"panel_{run}" for run in range(4)]
    told = page_text(at)
    assert "Reliability diagrams of the worst group" in told
    runs = sorted(table[table["Group"] == highest]["Run"])
    lines = told.splitlines()
    below = [lines[at + 1].partition(": ")[0] for at, text in enumerate(lines) if text == highest]
    assert below[-4:] == runs


def test_diagrams_stand_in_the_order_of_the_figure(facts: Path, visit: Visit) -> None:
    assert facts.is_dir()
    at = visit("groups", runs="llama-7b-facts-0-shot", groups="sociology,jurisprudence,abstract-algebra")
    wanted = {"sociology", "jurisprudence", "abstract_algebra"}
    order = [name for name in dots(at)["llama-7b"] if name in wanted]
    heads = [text for text in page_text(at).splitlines() if text in wanted]
    assert heads[-3:] == order


def test_nothing_to_sort_by_says_what_to_do(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", [{**row, "subject": "one"} for row in quiz(60)])
    text = page_text(visit("groups"))
    assert "These runs have no groups." in text
    assert "subject" in text


def test_an_empty_folder_has_the_usual_message(data: Path, visit: Visit) -> None:
    assert data.is_dir()
    assert "The data folder has no prediction files" in page_text(visit("groups"))


def test_names_of_a_file_are_text(data: Path, visit: Visit) -> None:
    hostile = '<a href="http://calib.invalid">a</a> ![x](http://calib.invalid/a.png)'
    rows = [{**row, "subject": ("plain", hostile)[at % 2]} for at, row in enumerate(quiz(80))]
    write_csv(data / "quiz.csv", rows)
    at = visit("groups")
    assert hostile in page_text(at)
    assert "<a href" not in str(figure(at, "groups_dots")["layout"]["yaxis"]["ticktext"])


def test_the_page_alone_shows_the_same(facts: Path, visit: Visit) -> None:
    assert facts.is_dir()
    params = {"by": "category", "m": "5"}
    assert dots(screens.open_single_page("groups", params)) == dots(visit("groups", **params))


# --- Hidden groups --------------------------------------------------------------------------------


def planted_rows(count: int = 1600) -> list[dict[str, Any]]:
    """Calibrated rows, but for law in English, which is over-confident by .4; a subject's name is hostile."""
    chance = random.Random(3)  # noqa: S311  rows, not keys
    made: list[dict[str, Any]] = []
    for number in range(count):
        confidence = round(chance.uniform(0.5, 0.95), 3)
        subject, language = chance.choice(("law", "art", "[maps](x)")), chance.choice(("English", "German"))
        off = 0.4 if (subject, language) == ("law", "English") else 0.0
        made.append(
            {
                "id": f"q{number}",
                "subject": subject,
                "language": language,
                "confidence": confidence,
                "correct": int(chance.random() < confidence - off),
            }
        )
    return made


@pytest.fixture
def planted(data: Path) -> Path:
    return write_csv(data / "planted.csv", planted_rows())


def test_hidden_groups_are_listed_with_their_q(planted: Path, visit: Visit) -> None:
    expected = hidden_groups.hidden_groups({"r": evidence_of(planted, "given")})
    at = visit("groups")
    table = screens.table(at, "Group", "Rows", "Against the rest")
    assert table["Group"].to_list() == [group.name for group in expected.groups]
    assert table["q"].to_list() == [format_p_value(group.q, None) for group in expected.groups]
    assert table["Verdict"].to_list() == [marked_verdict(group.verdict.words) for group in expected.groups]
    assert table["Group"].iloc[0] == "subject: law, language: English"
    text = page_text(at)
    assert expected.headline in text
    assert "Tested: every value of subject, language, and every pair of values of two columns" in text
    assert "hidden_reliability" not in [chart.key for chart in at.get("plotly_chart")]


def test_one_click_opens_the_diagram_of_a_hidden_group(planted: Path, visit: Visit) -> None:
    group = hidden_groups.hidden_groups({"planted": evidence_of(planted, "given")}).groups[0]
    at = visit("groups", hidden=group.key)
    drawn = figure(at, "hidden_reliability")
    counts = [trace for trace in drawn["data"] if trace.get("customdata")][-1]
    assert sum(counts["y"]) == group.n
    assert "subject: law, language: English · planted" in page_text(at)
    assert screens.address(at)["hidden"] == group.key
    choose(at, "metric", "brier")
    assert screens.address(at)["hidden"] == group.key, "another metric keeps the group open"


def test_a_link_to_a_group_that_is_not_listed_says_so(planted: Path, visit: Visit) -> None:
    assert planted.is_file()
    at = visit("groups", hidden="planted~subject=tax")
    assert "The group in the link is not in this list." in page_text(at)
    assert "hidden_reliability" not in [chart.key for chart in at.get("plotly_chart")]


@pytest.mark.usefixtures("nothing_computed")
def test_hidden_groups_are_scanned_once(planted: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    assert planted.is_file()
    made = screens.record_results(monkeypatch, hidden_groups, "scan_groups")
    at = visit("groups")
    choose(at, "metric", "brier")
    choose(at, "sort", "name")
    assert len(made) == 1


def test_names_of_hidden_groups_are_text(planted: Path, visit: Visit) -> None:
    assert planted.is_file()
    at = visit("groups", hidden="planted~subject=[maps](x)")
    assert "subject: [maps](x) · planted" in page_text(at)


def test_runs_grouped_by_their_facts_are_not_scanned(facts: Path, visit: Visit) -> None:
    assert facts.is_dir()
    assert "Hidden groups" in page_text(visit("groups"))
    assert "Hidden groups" not in page_text(visit("groups", by="shots"))


def test_two_levels_against_one_are_corrected_together(data: Path, visit: Visit) -> None:
    write_facts(data, shots=(0, 1, 5))
    at = visit("groups", by="shots", metric="brier")
    table = screens.table(at, "Difference", "p (Holm)")
    assert len(table) == 2
    assert page_text(at).count("corrected for 2 differences (Holm)") == 2
    assert (
        "p"
        in screens.table(
            visit("groups", by="shots", runs="llama-7b-facts-0-shot,llama-7b-facts-5-shot"), "Difference"
        ).columns
    )


def test_the_replication_stands_beside_the_runs(facts: Path, visit: Visit) -> None:
    assert facts.is_dir()
    text = page_text(visit("groups", by="shots"))
    assert "Inconclusive. Published: the larger model, 13b-chat, lies closer to the diagonal. Here: " in text
    assert (
        "0-shot and 5-shot are both drawn, without a result. Here the ECE differs: 5-shot less 0-shot" in text
    )
    assert "57 subjects" in text


def test_a_data_set_that_was_chosen_brings_the_method_that_it_has(data: Path, visit: Visit) -> None:
    for model in "abc":
        rows = [
            {"model": model, "dataset": "sums", "subject": "xy"[at % 2], "confidence": 0.7, "correct": at % 3}
            for at in range(80)
            if at % 3 < 2
        ]
        write_csv(data / f"{model}.csv", rows)
    chosen = [
        {"dataset": "law", "subject": "xy"[at % 2], "choice_probs": [0.6, 0.4], "gold_index": at % 2}
        for at in range(80)
    ]
    write_jsonl(data / "law.jsonl", chosen)
    assert control(visit("groups"), "method").value == "given"
    at = visit("groups", dataset="law")
    assert control(at, "method").value == "choice_softmax"
    assert not screens.unmet_link_warnings(at)
