"""The results of a judge against people: labels, agreement, pass rate, fairness, and two judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

import calib_core
from calib_core.errors import Unavailable
from calib_core.inference.agreement import cohen_kappa
from calib_core.results.judge import judge_result
from calib_core.results.judge_agreement import judge_agreement
from calib_core.results.judge_comparison import compare_judges
from calib_core.results.judge_fairness import judge_fairness
from calib_core.results.judge_labels import judge_labels, label_form
from calib_core.results.judge_pass_rate import judge_pass_rates
from calib_core.runs import AnswerRun


def run_of(**columns: Any) -> AnswerRun:
    (run,) = calib_core.load(pl.DataFrame(columns, strict=False))
    assert isinstance(run, AnswerRun)
    return run


def judged(
    n: int = 600,
    share_labelled: float = 0.3,
    seed: int = 0,
    **further: Any,
) -> AnswerRun:
    """A judge with errors both ways, whose labelled rows are a random part."""
    random = np.random.default_rng(seed)
    human = random.random(n) < 0.8
    judge = np.where(human, random.random(n) < 0.9, random.random(n) < 0.15)
    labelled = random.random(n) < share_labelled
    return run_of(
        id=[f"q{at}" for at in range(n)],
        judge=np.where(judge, "PASS", "fail").tolist(),
        human=[
            ("Pass" if ok else "FAIL") if known else None for ok, known in zip(human, labelled, strict=True)
        ],
        **further,
    )


def small(judge: Sequence[str | None], human: Sequence[str | None], **further: Any) -> AnswerRun:
    return run_of(id=[f"q{at}" for at in range(len(judge))], judge=judge, human=human, **further)


def test_labels_are_compared_without_case_and_numbers_as_numbers() -> None:
    labels = judge_labels(small(["Pass", "fail ", "PASS", None], ["pass", "Fail", None, "pass"]))
    assert labels.names == ("pass", "fail")
    assert labels.judge.tolist() == [0, 1, 0]
    assert labels.human.tolist() == [0, 1, -1]
    assert (labels.n, labels.n_labelled, labels.n_total) == (3, 2, 4)
    graded = judge_labels(small(["10", "9", "2.0"], ["10.0", "9", "2"]))
    assert graded.names == ("2", "9", "10")
    assert graded.values is not None
    assert graded.values.tolist() == [2, 9, 10]
    assert (graded.judge == graded.human).all()
    assert (label_form(" YES "), label_form("4.50"), label_form("1e3")) == ("yes", "4.5", "1e3")


@pytest.mark.parametrize(
    ("words", "passing"),
    [
        (("yes", "No"), "“yes”"),
        (("TRUE", "false"), "“TRUE”"),
        (("1", "0"), "“1”"),
        (("C", "I"), "“C”"),
        (("pass", "fail", "unsure"), "“pass”"),
        (("good", "bad"), ""),
        (("1", "2", "3"), ""),
        (("0", "1", "2"), ""),
        (("A", "B", "tie"), ""),
    ],
)
def test_which_label_passes_is_known_or_not_guessed(words: tuple[str, ...], passing: str) -> None:
    assert judge_labels(small([*words], [*words])).passing == passing


def test_the_user_says_which_labels_pass() -> None:
    run = small(["1", "2", "3", "4", "5"], ["1", "2", "3", "4", "5"])
    assert judge_labels(run, ["4", "5.0"]).passing == "“4” or “5”"
    with pytest.raises(Unavailable, match="No label is “6”"):
        judge_labels(run, ["6"])
    with pytest.raises(Unavailable, match="All labels would pass"):
        judge_labels(run, ["1", "2", "3", "4", "5"])


def test_other_words_for_passing_are_one_label() -> None:
    labels = judge_labels(small(["correct", "incorrect", "correct"], ["1", "0", "0"]))
    assert labels.names == ("pass", "fail")
    assert (labels.judge.tolist(), labels.human.tolist()) == ([0, 1, 0], [0, 1, 1])


def test_labels_without_a_word_in_common_are_refused() -> None:
    with pytest.raises(Unavailable, match=r"no label in common.*“a”, “b”.*“x”, “y”"):
        judge_labels(small(["A", "B"], ["x", "y"]))


def test_scores_are_no_labels() -> None:
    scores = [f"{at / 100}" for at in range(60)]
    with pytest.raises(Unavailable, match=r"60 different labels.*judge_score"):
        judge_labels(small([*scores], [*scores]))


def test_what_is_missing_is_said() -> None:
    with pytest.raises(Unavailable, match=r"no labels of a judge.*judge"):
        judge_labels(run_of(id=["a"], confidence=[0.5], correct=[1]))
    with pytest.raises(Unavailable, match=r"no labels of people.*human"):
        judge_labels(run_of(id=["a"], judge=["pass"]))
    with pytest.raises(Unavailable, match="1 row with labels of both"):
        judge_agreement(judge_labels(small(["pass", "fail"], ["pass", None])))


def test_the_majority_of_several_people_is_the_reference() -> None:
    run = run_of(
        id=["a", "b", "c", "d"],
        judge=["pass", "pass", "fail", "fail"],
        **{
            "human.ann": ["pass", "pass", "fail", None],
            "human.bob": ["pass", "fail", "fail", None],
            "human.cy": ["fail", None, "fail", None],
        },
    )
    labels = judge_labels(run)
    assert labels.people == ("ann", "bob", "cy")
    assert labels.human.tolist() == [0, -1, 1, -1]
    assert labels.n_undecided == 1
    agreement = judge_agreement(labels)
    assert "1 tie left out" in agreement.recipe
    assert agreement.caveat == "1 row on which people tie is left out, which may flatter the judge."
    alpha = agreement.measure("alpha")
    assert alpha is not None
    assert alpha.n == 3


def test_measures_in_numbers() -> None:
    run = small(
        ["pass"] * 40 + ["pass"] * 5 + ["fail"] * 10 + ["fail"] * 25,
        ["pass"] * 40 + ["fail"] * 5 + ["pass"] * 10 + ["fail"] * 25,
    )
    agreement = judge_agreement(judge_labels(run))
    assert agreement.table.tolist() == [[40, 5], [10, 25]]
    values = {one.metric: one.value for one in agreement.measures}
    assert values["agreement"] == 65 / 80
    assert values["constant"] == 50 / 80
    assert values["sensitivity"] == 40 / 50
    assert values["specificity"] == 25 / 30
    assert values["base_rate"] == 50 / 80
    chance = (45 * 50 + 35 * 30) / 80**2
    assert values["kappa"] == pytest.approx((65 / 80 - chance) / (1 - chance))
    assert agreement.headline.startswith("The judge agrees with people on 81.2 % of 80 labelled rows (")
    assert "always saying “pass” would on 62.5 %" in agreement.headline
    assert agreement.confusion_frame().rows() == [
        ("pass", 40, 5, 45),
        ("fail", 10, 25, 35),
        ("All", 50, 30, 80),
    ]
    assert set(agreement.missing) == {"bias", "alpha"}


def test_grades_have_weighted_kappa_and_bias() -> None:
    random = np.random.default_rng(1)
    human = random.integers(1, 6, 150)
    judge = np.clip(human + random.integers(0, 2, 150), 1, 5)
    agreement = judge_agreement(judge_labels(small(list(map(str, judge)), list(map(str, human)))))
    methods = [one.method for one in agreement.measures if one.metric == "kappa"]
    assert methods == ["unweighted", "linear", "quadratic"]
    bias = agreement.measure("bias")
    assert bias is not None
    assert bias.value == pytest.approx((judge - human).mean())
    assert bias.shown.startswith("+")
    quadratic = agreement.measure("kappa", "quadratic")
    expected = cohen_kappa(judge - 1, human - 1, (np.arange(5.0)[:, None] - np.arange(5.0)) ** 2)
    assert quadratic is not None and expected is not None  # noqa: PT018
    assert quadratic.value == pytest.approx(expected.value)
    assert "sensitivity" in agreement.missing


def test_the_rows_behind_a_cell_come_by_score() -> None:
    run = small(
        ["pass", "fail", "pass", "fail", "pass"],
        ["fail", "pass", "fail", "fail", None],
        judge_score=[0.4, 0.9, 0.7, None, 0.8],
        question=["one", "two", "three", "four", "five"],
    )
    agreement = judge_agreement(judge_labels(run))
    assert agreement.cell_rows().tolist() == [1, 2, 0]
    assert agreement.cell_rows("pass", "fail").tolist() == [2, 0]
    assert agreement.cell_rows(human="fail").tolist() == [2, 0, 3]
    frame = agreement.rows_frame(run.rows, agreement.cell_rows("pass", "fail"))
    assert frame.select("row", "id", "judge", "human", "score", "question").rows() == [
        (3, "q2", "pass", "fail", 0.7, "three"),
        (1, "q0", "pass", "fail", 0.4, "one"),
    ]


def test_repeated_questions_are_clusters() -> None:
    once = judged(200, 0.5)
    rows = once.rows
    thrice = run_of(
        id=[f"{id_}-{at}" for at in range(3) for id_ in rows["id"]],
        trial_of=rows["id"].to_list() * 3,
        judge=rows["judge"].to_list() * 3,
        human=rows["human"].to_list() * 3,
    )
    widths = []
    for run in (once, thrice):
        one = judge_agreement(judge_labels(run)).measure("agreement")
        assert one is not None and one.interval is not None  # noqa: PT018
        widths.append(one.interval[1] - one.interval[0])
    assert widths[1] == pytest.approx(widths[0], rel=0.05)


def test_the_pass_rate_and_what_it_rests_on() -> None:
    rates = judge_pass_rates(
        judge_labels(judged(task=["a", "b", "c"] * 200, judge_score=[0.1, 0.5, 0.9] * 200))
    )
    assert [one.method for one in rates.rates] == ["judged", "rogan_gladen", "ppi", "labelled"]
    assert rates.labels_look_random
    chosen = rates.chosen
    assert chosen is not None
    assert chosen.method == "ppi"
    assert chosen.interval is not None
    assert chosen.interval[0] < 0.8 < chosen.interval[1]
    assert "corrected by" in rates.headline
    assert "speaks against it (7 groups by judge's score, task and judge's label compared)" in rates.caveat
    by_label = judge_pass_rates(judge_labels(judged()))
    assert {part.column for part in by_label.parts} == {"judge's label"}
    assert "By the judge's own label, all that can be compared here" in by_label.caveat
    assert "nothing here" not in by_label.caveat
    assert {part.column for part in rates.parts} == {"judge's label", "judge's score", "task"}
    frame = rates.to_frame()
    assert frame["chosen"].to_list() == [False, False, True, False]
    assert frame["high"][2] - frame["low"][2] < frame["high"][3] - frame["low"][3]
    curve = rates.curve()
    assert curve["labels"].is_sorted()
    assert (curve["ppi"] <= curve["labelled"] + 1e-12).all()


def test_labels_on_failures_alone_are_no_random_part() -> None:
    random = np.random.default_rng(3)
    judge = random.random(500) < 0.7
    human = np.where(random.random(500) < 0.1, ~judge, judge)
    labelled = random.random(500) < np.where(judge, 0.1, 0.5)
    run = small(
        np.where(judge, "pass", "fail").tolist(),
        [("pass" if ok else "fail") if known else None for ok, known in zip(human, labelled, strict=True)],
    )
    rates = judge_pass_rates(judge_labels(run))
    assert not rates.labels_look_random
    assert rates.chosen is None
    assert "judge's label “pass” less often" in rates.caveat
    assert "cannot tell" in rates.headline


def test_with_every_row_labelled_the_judge_adds_nothing() -> None:
    rates = judge_pass_rates(judge_labels(judged(100, 1.1)))
    assert rates.chosen is rates.rate("labelled")
    assert rates.rate("ppi").interval == rates.rate("labelled").interval
    assert rates.caveat.startswith("People labelled every row")


def test_without_a_passing_label_the_pass_rate_is_asked_for() -> None:
    run = small(["good", "bad"] * 20, ["good", "bad"] * 20)
    with pytest.raises(Unavailable, match=r'passing=\["LABEL"\]'):
        judge_pass_rates(judge_labels(run))
    result = judge_result(run)
    assert result.pass_rates is None
    assert {"sensitivity", "specificity", "base_rate", "pass_rate"} <= result.missing.keys()
    assert judge_result(run, ["GOOD"]).pass_rates is not None


def test_a_judge_that_favours_a_system_is_found() -> None:
    random = np.random.default_rng(4)
    system = random.choice(["ours", "theirs"], 600)
    human = random.random(600) < 0.6
    kind = (system == "ours") & (random.random(600) < 0.5)
    run = small(
        np.where(human | kind, "pass", "fail").tolist(),
        np.where(human, "pass", "fail").tolist(),
        system=system.tolist(),
    )
    fairness = judge_fairness(judge_labels(run))
    assert fairness.n_compared == 2
    assert {id_ for id_, _ in fairness.clear} == {"agrees", "favours"}
    (favours,) = fairness.contrasts["favours"]
    more = 1 if favours.group == "ours" else -1
    assert more * favours.difference > 0.1
    assert "where system is" in fairness.headline
    assert all(p <= 0.001 for p in fairness.to_frame()["p_holm"])


def test_a_fair_judge_is_not_accused() -> None:
    fairness = judge_fairness(judge_labels(judged(task=["a", "b", "c"] * 200)))
    assert fairness.n_compared == 6
    assert fairness.clear == ()
    assert fairness.headline.startswith("In none of 6 comparisons")


def test_it_says_why_no_groups_are_compared() -> None:
    without = judge_fairness(judge_labels(judged()))
    assert (
        without.headline == "The file has no column that divides its rows into groups, so none are compared."
    )
    few = judge_fairness(judge_labels(judged(share_labelled=0.05, task=["a", "b", "c"] * 200)))
    assert few.headline == "No two groups by task have 30 labelled rows each, so none are compared."


def test_longer_answers_are_groups() -> None:
    texts = ["x" * (1 + at % 40) for at in range(600)]
    fairness = judge_fairness(judge_labels(judged(share_labelled=1.0, prediction_text=texts)))
    assert {one.column for one in fairness.contrasts["agrees"]} == {"length of the answer, in characters"}
    assert {one.group for one in fairness.contrasts["agrees"]} == {
        "1 to 10",
        "11 to 20",
        "21 to 30",
        "31 to 40",
    }


def swapped(n: int, *, place: bool, people: int = 2, seed: int = 5) -> AnswerRun:
    """Pairs of answers in both orders, judged by one who takes the first in a third of cases."""
    random = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for at in range(n):
        better = random.random() < 0.5  # the first in the first order
        for order in (0, 1):
            is_first = better == (order == 0)
            takes_first = is_first or random.random() < 0.33

            def name(*, first: bool, order: int = order) -> str:
                return "A" if first == (place or order == 0) else "B"

            rows.append(
                {
                    "id": f"{at}-{order}",
                    "swap_of": f"{at}-0" if order else None,
                    "judge": name(first=takes_first),
                    "human": name(first=is_first) if order < people else None,
                }
            )
    return run_of(**{key: [row[key] for row in rows] for key in rows[0]})


@pytest.mark.parametrize("place", [True, False])
def test_verdicts_that_turn_with_the_order(place: bool) -> None:  # noqa: FBT001
    labels = judge_labels(swapped(80, place=place))
    fairness = judge_fairness(labels)
    assert fairness.labels_name == ("place" if place else "answer")
    order = fairness.order
    assert order is not None
    assert (order.n_pairs, order.n_second) == (80, 0)
    assert order.n_first == 80 - order.n_consistent > 10
    assert (
        f"; all {order.n_first} others favour the answer shown first (p < 0.001)" in fairness.order_headline
    )
    assert fairness.headline == f"{fairness.order_headline} {fairness.groups_headline}"  # the order first
    # Both orders of a pair are one question.
    assert labels.cluster is not None
    assert np.bincount(labels.cluster).tolist() == [2] * 80


def test_what_labels_name_is_asked_where_people_do_not_show_it() -> None:
    labels = judge_labels(swapped(80, place=True, people=1))
    fairness = judge_fairness(labels)
    assert fairness.order is None
    assert 'labels_name="place"' in fairness.order_headline
    assert fairness.headline.endswith(fairness.order_headline)
    told = judge_fairness(labels, "place")
    assert told.order is not None
    assert told.order.n_second == 0
    other = judge_fairness(labels, "answer")
    assert other.order is not None
    assert other.order.n_consistent == 80 - told.order.n_consistent


def test_swapped_rows_with_pass_and_fail_are_only_compared() -> None:
    run = run_of(
        id=["a", "b", "c", "d"],
        swap_of=[None, "a", None, "c"],
        judge=["pass", "fail", "fail", "fail"],
        human=["pass", "pass", "fail", "fail"],
    )
    fairness = judge_fairness(judge_labels(run))
    assert fairness.order is not None
    assert (fairness.order.n_pairs, fairness.order.n_consistent) == (2, 1)
    assert fairness.order_headline == (
        "The verdict stays the same in both orders for 50.0 % of 2 swapped pairs."
    )


def test_the_better_of_two_judges() -> None:
    first = judged(share_labelled=0.5)
    random = np.random.default_rng(6)
    worse = [
        "fail" if label == "PASS" and random.random() < 0.25 else label
        for label in first.rows["judge"].to_list()
    ]
    second = run_of(id=first.rows["id"].to_list(), judge=worse, human=first.rows["human"].to_list())
    found = compare_judges(first, second)
    agreement = found.differences[0]
    assert agreement.test is not None
    assert agreement.test.difference == pytest.approx(agreement.second - agreement.first)
    assert agreement.test.p < 0.001
    assert agreement.second - agreement.first == pytest.approx(
        (found.only_second - found.only_first) / found.n
    )
    assert [one.metric for one in found.differences] == ["agreement", "kappa", "sensitivity", "specificity"]
    assert "agrees better with people on" in found.headline
    same = compare_judges(first, first)
    assert same.headline.startswith("Neither judge clearly agrees better")
    assert (same.only_first, same.only_second) == (0, 0)


def test_judges_of_weighted_rows_are_not_compared() -> None:
    run, plain = judged(weight=[1.0, 2.0] * 300), judged()
    for pair in ((run, plain), (plain, run)):
        with pytest.raises(Unavailable, match="counts every row alike, and these rows have weights"):
            compare_judges(*pair)
    with pytest.raises(Unavailable, match="these rows have weights"):
        calib_core.judge(run)


def test_few_common_rows_compare_no_judges() -> None:
    run = small(["pass", "fail"] * 10, ["pass", "fail"] * 10)
    found = compare_judges(run, run)
    assert found.differences[0].test is None
    assert found.headline.startswith("30 common questions are needed")


def test_a_result_by_groups() -> None:
    result = calib_core.judge(judged(task=["a", "b", "b"] * 200, share_labelled=0.9), by="task")
    assert [group.labels.group for group in result.groups] == ["b", "a"]
    frame = result.to_frame()
    counts = frame.filter(pl.col("metric") == "agreement")["n_labelled"].to_list()
    assert counts[0] == counts[1] + counts[2]
    assert frame["by"].unique().sort().to_list() == [None, "task"]
    with pytest.raises(Unavailable, match=r"There is no grouping “colour” for these rows\. Choose task\."):
        calib_core.judge(judged(task=["a", "b", "b"] * 200), by="colour")
    small_groups = small(["pass", "fail", "pass"], ["pass", "fail", "pass"], subject=["a", "a", "b"])
    lonely = calib_core.judge(small_groups, by="subject")
    assert len(lonely.groups) == 1
    assert lonely.left_out == ("1 row in “b” with labels of both judge and people: 2 are needed.",)


def test_results_show_themselves() -> None:
    result = calib_core.judge(judged())
    for shown in (result, result.agreement, result.pass_rates, result.fairness):
        assert shown is not None
        html = shown._repr_html_()
        assert html is not None
        assert shown.headline.split(" (")[0] in html.replace("&#x27;", "'")
