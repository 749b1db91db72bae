"""Sizes of one model are recognised, and each run has a short distinguishing name."""

from __future__ import annotations

import pytest

from calib_core.results.run_names import (
    GivenName,
    count_models,
    full_name,
    model_stem,
    name_with_model,
    real_name,
    short_run_names,
    shorten_in_middle,
    size_families,
)
from calib_core.runs import RunInfo


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("llama-2-7b-chat", "llama-2-chat"),
        ("Llama-2-13B-chat", "llama-2-chat"),
        ("chains-0.2M", "chains"),
        ("chains-35k", "chains"),
        ("Mixtral-8x7B-Instruct", "mixtral-instruct"),
        ("Qwen2.5-72B", "qwen2-5"),
        ("T5_3b", "t5"),
        ("facts 1.5 M", "facts-1-5-m"),
        ("gpt2-xl", "gpt2-xl"),
        ("a7b", "a7b"),
        ("7bx", "7bx"),
        ("70b", ""),
        ("", ""),
    ],
)
def test_a_size_is_stripped_and_nothing_else(name: str, wanted: str) -> None:
    assert model_stem(name) == wanted


def info(model: str, size: float | None, **more: object) -> RunInfo:
    return RunInfo(**{"model": model, "params_b": size, "dataset": "quiz", **more})  # type: ignore[arg-type]


def test_sizes_of_one_model_are_joined_smallest_first() -> None:
    infos = {"c": info("m-70b", 70), "a": info("m-7b", 7), "b": info("M-13B", 13), "x": info("other-7b", 7)}
    assert size_families(infos) == (("a", "b", "c"),)


@pytest.mark.parametrize(
    "other",
    [
        info("m-13b", 13, tuning="chat"),
        info("m-13b", 13, dataset="else"),
        info("m-13b", 13, shots=5),
        info("m-13b", 13, temperature=0.7),
        info("m-13b", None),
        info("n-13b", 13),
        info("m-7b", 7),
    ],
)
def test_models_that_differ_otherwise_are_not_a_family(other: RunInfo) -> None:
    assert size_families({"a": info("m-7b", 7), "b": other}) == ()


def test_two_of_one_size_leave_the_order_open() -> None:
    infos = {"a": info("m-7b", 7), "b": info("m-13b", 13), "c": info("m-13b", 13)}
    assert size_families(infos) == ()


def test_models_are_counted_whatever_they_were_asked() -> None:
    infos = {
        "a": info("m-7b", 7),
        "b": info("m-7b", 7, shots=5),
        "c": info("m-7b", 7, dataset="else"),
        "d": info("m-7b", 7, tuning="chat"),
        "e": info("m-13b", 13),
        "f": RunInfo(),
        "g": RunInfo(),
        "h": info("m-7b", 7, checkpoint="step 1000"),
        "i": info("m-7b", 7, checkpoint="step 2000"),
    }
    assert count_models(infos) == 5


def short_names(**infos: RunInfo) -> dict[str, str]:
    return short_run_names(infos, {key: f"title {key}" for key in infos})


def test_a_run_is_called_by_its_model_if_that_is_enough() -> None:
    assert short_names(a=info("red", 1), b=info("green", 1)) == {"a": "red", "b": "green"}


def test_distinguishing_facts_are_added_only_where_needed() -> None:
    assert short_names(
        a=info("red", 1, shots=0),
        b=info("red", 1, shots=5),
        c=info("green", 1, shots=5),
        d=info("blue", 1, dataset="x"),
        e=info("blue", 1, dataset="y"),
    ) == {"a": "red · 0-shot", "b": "red · 5-shot", "c": "green", "d": "blue · x", "e": "blue · y"}
    assert short_names(a=info("red", 1), b=info("red", 1, tuning="chat")) == {"a": "red", "b": "red · chat"}
    assert short_names(a=info("red", 1, temperature=0.5), b=info("red", 2, temperature=0.5)) == {
        "a": "red · 1B",
        "b": "red · 2B",
    }


def test_indistinguishable_runs_have_the_full_title() -> None:
    assert short_names(a=info("red", 1), b=info("red", 1), c=RunInfo()) == {
        "a": "title a",
        "b": "title b",
        "c": "title c",
    }


def test_of_long_names_what_all_share_is_left_out() -> None:
    qwen = "Qwen/Qwen2.5-1.5B-Instruct"
    assert short_names(a=info(qwen, 1.5, shots=0), b=info(qwen, 1.5, shots=5)) == {
        "a": "0-shot",
        "b": "5-shot",
    }
    assert short_names(a=info(qwen, 1.5), b=info("Qwen/Qwen2.5-7B-Instruct", 7)) == {
        "a": "Qwen2.5-1.5B-Instruct",
        "b": "Qwen2.5-7B-Instruct",
    }
    other = info("meta-llama/Llama-3.1-8B-Instruct", 8)
    assert short_names(a=info(qwen, 1.5), b=other) == {"a": qwen, "b": other.model}
    assert short_names(a=info(qwen, 1.5)) == {"a": qwen}


def short_titles(*titles: str) -> list[str]:
    return list(
        short_run_names(dict.fromkeys(titles, RunInfo()), {title: title for title in titles}).values()
    )


def test_of_files_that_name_no_model_what_all_names_share_is_left_out() -> None:
    assert short_titles("mmlu_pro_Qwen3-14B-think_eval_all_None", "mmlu_pro_gpt-4.1-mini_eval_all_None") == [
        "Qwen3-14B-think",
        "gpt-4.1-mini",
    ]
    assert short_titles("a long name of one file · quiz", "another long name of one · quiz") == [
        "a long name of one file",
        "another long name of one",
    ]


@pytest.mark.parametrize(
    "titles",
    [
        ("run_a", "run_b"),
        ("red · quiz", "green · quiz"),
        ("a very long name of a file_1", "a very long name of a file_2"),
        ("a very long name of a file_", "a very long name of a file_b"),
        ("a very long name of a file", "a very long name of a file_b"),
    ],
)
def test_names_that_are_short_or_would_be_bare_numbers_stay(titles: tuple[str, ...]) -> None:
    assert short_titles(*titles) == list(titles)


def test_a_name_that_the_user_gave_is_the_short_name_and_the_only_one() -> None:
    infos = {key: info(model, None) for key, model in (("a", "red"), ("b", "blue"), ("c", "Baseline"))}
    given = GivenName("Baseline", "red · quiz")
    names = short_run_names(infos, {"a": given, "b": "blue · quiz", "c": "Baseline · quiz"})
    assert names == {"a": "Baseline", "b": "blue", "c": "Baseline · quiz"}
    assert list(names) == ["a", "b", "c"]
    assert name_with_model(names["a"], infos["a"]) == "Baseline"
    assert name_with_model("0-shot", infos["b"]) == "blue · 0-shot"


def test_a_given_name_is_followed_by_the_real_one_once() -> None:
    assert full_name(GivenName("Baseline", "red · quiz")) == "Baseline (red · quiz)"
    assert full_name(GivenName("Baseline (red · quiz)", "red · quiz")) == "Baseline (red · quiz)"
    assert full_name("red · quiz") == "red · quiz"
    assert real_name(GivenName("Baseline", "red · quiz")) == real_name("red · quiz") == "red · quiz"


def test_long_names_are_shortened_where_they_do_not_differ() -> None:
    start, end = "Qwen/Qwen2.5-1.5B-Instruct", "mmlu · 0-shot"
    ends = [f"{start} · mmlu · 0-shot", f"{start} · mmlu · 5-shot", "short"]
    assert shorten_in_middle(ends, 28) == [
        "Qwen/Qwen2.5-…mmlu · 0-shot",
        "Qwen/Qwen2.5-…mmlu · 5-shot",
        "short",
    ]
    early = [f"model-a {start} · {end}", f"model-b {start} · {end}"]
    assert [name[:7] for name in shorten_in_middle(early, 28)] == ["model-a", "model-b"]
    middle = [f"{'x' * 30}{letter}{'y' * 30}" for letter in "ab"]
    assert shorten_in_middle(middle, 28) == middle
    lengths = [len(name) for name in shorten_in_middle(ends + early, 28)]
    assert max(lengths) <= 28
    assert shorten_in_middle([], 28) == []
