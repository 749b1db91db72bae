"""The verb `gate`: exit codes, the keys that scripts depend on, and its formats as their readers see them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from app_server import ROOT
from calib_core.cli.commands.gate import OUTPUT_FORMATS
from calib_core.readers import FORMATS
from core.cli_calls import BAD, GOOD, NOTHING, Call, write
from predictions import choices, quiz, write_csv, write_jsonl

KEYS = {"rule", "run", "method", "value", "limit", "interval", "held"}
GUIDE = (ROOT / "docs" / "recipes" / "gate.md").read_text(encoding="utf-8")
EVIL = "red\x07 <b>|x|</b> @all\u202e ![i](http://x.example) & \ufffe"


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "new.csv", quiz(300))


def test_held_and_broken(call: Call, new: Path) -> None:
    words = ("--method", "given", "--max", "ece=.9", "--min", "accuracy=.1", "--min-n", "300")
    held = call("gate", new, *words, "--json")
    assert (held.code, held.err) == (0, "")
    assert [element["rule"] for element in held.elements] == ["max ece=0.9", "min accuracy=0.1", "min-n 300"]
    for element in held.elements:
        assert element.keys() >= KEYS
        assert (element["run"], element["method"], element["held"]) == ("new", "given", True)
    ece = held.elements[0]
    (scored,) = call("score", new, "--method", "given", "--metric", "ece", "--json").elements
    assert (ece["value"], ece["interval"], ece["limit"]) == (scored["value"], scored["interval"], 0.9)
    broken = call("gate", new, *words, "--max", "brier=.01", "--format", "json")
    assert broken.code == 1
    assert [element["held"] for element in broken.elements] == [True, False, True, True]
    assert call("gate", new, "--method", "given", "--min-n", "301").code == 1


def test_every_file_and_rule_is_in_the_json_also_where_it_could_not_be_used(
    call: Call, new: Path, tmp_path: Path
) -> None:
    bad, gone = write(tmp_path, "bad.csv", BAD), tmp_path / "gone.csv"
    words = ("--method", "given", "--min", "accuracy=.1", "--min-n", "3", "--format", "json")
    answer = call("gate", new, bad, gone, *words)
    assert answer.code == 3
    found = {(one["file"], one["rule"]): one for one in answer.elements}
    assert {key: one["held"] for key, one in found.items()} == {
        (file, rule): held
        for file, held in (("new.csv", True), ("bad.csv", None), ("gone.csv", None))
        for rule in ("min accuracy=0.1", "min-n 3")
    }
    assert "1.8" in found["bad.csv", "min-n 3"]["reason"]
    assert "gone.csv" in found["gone.csv", "min-n 3"]["reason"]
    alone = call("gate", gone, "--baseline", new, "--json").elements
    assert [(one["file"], one["rule"], one["held"]) for one in alone] == [
        ("new.csv", "present", False),
        ("gone.csv", "present", None),
    ]


def test_rules_on_a_baseline_that_could_not_be_checked_stay_in_the_list(
    call: Call, new: Path, tmp_path: Path
) -> None:
    def of(*models: str) -> list[dict[str, object]]:
        return [{**row, "model": model} for model in models for row in quiz(40)]

    old, now = write_csv(tmp_path / "old.csv", of("a", "b")), write_csv(tmp_path / "now.csv", of("b", "c"))
    words = ("--method", "given", "--baseline", old, "--worse-by", "brier=.01")
    answer = call("gate", now, *words, "--json")
    assert answer.code == 1
    states = {(one["run"], one["rule"].split()[0]): (one["held"], one["reason"]) for one in answer.elements}
    assert states["a", "present"][0] is False
    assert states["a", "worse-by"] == (None, "the run is in the baseline, but not in the files")
    assert states["b", "worse-by"][0] is True
    assert states["c", "worse-by"] == (None, "the run is not in the baseline")
    assert "not checked" in call("gate", now, *words).out
    assert "⚠️ **not checked**" in call("gate", now, *words, "--format", "markdown").out
    junit = ET.fromstring(call("gate", now, *words, "--format", "junit").out)  # noqa: S314
    assert (junit.get("failures"), junit.get("errors")) == ("1", "2")
    gone = call("gate", new, "--baseline", tmp_path / "gone.csv", "--worse-by", "brier=.01", "--json")
    assert gone.code == 2
    assert [one["held"] for one in gone.elements if one["file"] == "new.csv"] == [None]
    added = call("gate", now, "--run", "c", *words)
    assert added.code in (1, 2)


@pytest.mark.parametrize("format_", ["text", "markdown"])
def test_rules_that_hold_have_not_passed_where_a_file_was_refused(
    call: Call, new: Path, tmp_path: Path, format_: str
) -> None:
    words = ("gate", new, "--method", "given", "--min", "accuracy=.1", "--format", format_)
    assert "The check passed." in call(*words).out
    other = write(tmp_path, "other.csv", NOTHING)
    refused = call(*words, other)
    assert refused.code == 2
    assert "Not passed: 1 refusal. The check held." in refused.out
    assert "The check passed." not in refused.out
    bad = call(*words, write(tmp_path, "bad.csv", BAD))
    assert bad.code == 3
    assert "Not passed: 1 refusal. The check held." in bad.out


@pytest.mark.parametrize(
    ("option", "limit", "says"),
    [
        ("--max", "ece=5", "expected a limit of ECE from 0 to 1, found 5. Percentages are divided by 100"),
        ("--min", "accuracy=70", "expected a limit of accuracy from 0 to 1, found 70"),
        ("--max", "nll=-1", "from 0 on, found -1"),
        ("--min", "brier_skill=2", "up to 1, found 2"),
    ],
)
def test_a_limit_that_no_value_reaches_is_refused(
    option: str, limit: str, says: str, call: Call, new: Path
) -> None:
    refused = call("gate", new, option, limit)
    assert refused.code == 2
    assert says in refused.err


def test_a_suspected_misreading_is_printed(call: Call, tmp_path: Path) -> None:
    rows = [{**row, "correct": 0} for row in quiz(40)]
    path = write_csv(tmp_path / "wrong.csv", rows)
    warning = "Suspicious: none of 40 answers counts as right."
    assert warning in call("gate", path, "--method", "given", "--max", "ece=.9").err
    for verb in ("sweep", "audit", "compare"):
        assert warning in call(verb, path, "--method", "given").err
    scored = call("score", path, "--method", "given")
    assert (scored.out.count(warning), scored.err.count(warning)) == (1, 0)


def test_every_usable_method_is_checked(call: Call, new: Path) -> None:
    everything = call("gate", new, "--max", "ece=.5", "--json").elements
    assert {element["method"] for element in everything} == {"given", "verbal"}
    one = call("gate", new, "--max", "ece=.5", "--method", "verbal", "--json").element
    assert one["method"] == "verbal"


def test_only_what_is_clear_breaks_with_significant(call: Call, new: Path) -> None:
    (scored,) = call("score", new, "--method", "given", "--metric", "ece", "--json").elements
    for limit, code in ((scored["value"] - 1e-6, 0), (scored["interval"][0] - 1e-6, 1)):
        words = ("gate", new, "--method", "given", "--max", f"ece={limit}")
        assert call(*words).code == 1
        assert call(*words, "--significant").code == code


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Give at least one rule"),
        (("--max", "ece"), "--max: expected METRIC=NUMBER"),
        (("--max", "ece=nan"), "--max: expected METRIC=NUMBER"),
        (("--min", "=.5"), "--min: expected METRIC=NUMBER"),
        (("--max", "ECE=.5"), "There is no metric 'ECE'"),
        (("--worse-by", "ece=.1"), "--worse-by needs --baseline"),
        (("--baseline", "gone.csv", "--worse-by", "ece=-1"), "a number of 0 or more"),
        (("--max", "ece=.5", "--format", "html"), "--format: expected one of text, markdown"),
        (("--max", "ece=.5", "--format", "text", "--format", "junit"), "one output format"),
        (("--max", "full_ece=.5"), "full_ece by given is not available"),
        (("--max", "ece=.5", "--method", "p_true"), "p_true is not available"),
        (("--max", "ece=.5", "--baseline", "gone.csv"), "gone.csv"),
    ],
)
def test_what_is_refused(call: Call, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    path = write(tmp_path, "run.csv", GOOD)
    answer = call("gate", path, *words, "--json")
    assert answer.code == 2
    assert message in answer.err
    if "--format" not in words:
        assert call("gate", path, *words, "--format", "json").out == answer.out


def test_the_worst_code_wins(call: Call, tmp_path: Path, new: Path) -> None:
    bad, gone, nothing = (
        write(tmp_path, "bad.csv", BAD),
        tmp_path / "gone.csv",
        write(tmp_path, "no.csv", NOTHING),
    )
    rule = ("--min-n", "1000", "--json")
    for paths, code in (([new], 1), ([new, gone], 2), ([nothing], 2), ([bad, gone, new], 3)):
        answer = call("gate", *paths, *rule)
        assert answer.code == code
        assert isinstance(answer.elements, list)
    assert call("gate", new, "--baseline", bad).code == 3
    assert call("gate", bad, "--min-n", "2", "--skip-bad-rows").code == 0


def test_a_metric_without_a_value_breaks_its_rule(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "right.csv", "confidence,correct\n0.9,1\n0.8,1\n")
    answer = call("gate", path, "--min", "auroc=.5", "--json")
    assert answer.code == 1
    assert (answer.element["value"], answer.element["held"]) == (None, False)
    assert "is not defined" in answer.element["reason"]


def test_a_run_of_missing_values_breaks_every_rule(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", "model,confidence,correct\nm1,0.5,1\nm2,,0\n")
    answer = call("gate", path, "--max", "ece=.9", "--min-n", "1", "--json")
    assert answer.code == 1
    assert [(element["run"], element["method"], element["held"]) for element in answer.elements] == [
        ("m1", "given", True),
        ("m1", "given", True),
        ("m2", None, False),
        ("m2", None, False),
    ]


def test_a_baseline_is_compared_question_by_question(call: Call, tmp_path: Path, new: Path) -> None:
    rows = quiz(300)
    old = write_csv(
        tmp_path / "old.csv", [{**row, "correct": int(at % 3 > 0)} for at, row in enumerate(rows)]
    )
    words = ("--method", "given", "--worse-by", "accuracy=.01", "--json")
    present, check = call("gate", new, "--baseline", old, *words).elements
    assert (present["rule"], present["held"], present["reason"]) == ("present", True, "compared with old")
    difference = sum(at % 3 > 0 for at in range(300)) / 300 - sum(row["correct"] for row in rows) / 300
    assert check["value"] == pytest.approx(difference)
    assert (check["held"], check["reason"]) == (difference <= 0.01, "paired on 300 questions")
    assert call("gate", new, "--baseline", new, "--worse-by", "ece=0", "--worse-by", "brier=0").code == 0


def test_a_run_or_method_that_is_gone_breaks(call: Call, tmp_path: Path) -> None:
    both = write_csv(tmp_path / "both.csv", [*quiz(40, model="red"), *quiz(40, model="green", seed=6)])
    one = write_csv(tmp_path / "one.csv", quiz(40, model="red"))
    answer = call("gate", one, "--baseline", both, "--json")
    assert answer.code == 1
    assert [(element["run"], element["held"]) for element in answer.elements] == [
        ("red", True),
        ("green", False),
    ]
    assert call("gate", both, "--baseline", one).code == 0
    rows = [{key: row[key] for key in ("id", "confidence", "correct")} for row in quiz(40)]
    bare = write_csv(tmp_path / "bare.csv", rows)
    answer = call("gate", bare, "--baseline", one, "--worse-by", "brier=1", "--json")
    gone = [element for element in answer.elements if not element["held"]]
    assert (answer.code, [element["method"] for element in gone]) == (1, ["verbal"])


def evil_runs(folder: Path) -> Path:
    return write_csv(folder / "evil.csv", quiz(40, model=EVIL))


def test_markdown_shows_text_of_files_literally(call: Call, tmp_path: Path) -> None:
    answer = call(
        "gate", evil_runs(tmp_path), "--max", "ece=.001", tmp_path / "gone.csv", "--format", "markdown"
    )
    assert answer.code == 2
    assert answer.out.startswith("**Calib: 2 of 2 checks failed, and there was 1 refusal.**\n")
    assert "- gone.csv cannot be opened" in answer.out
    rows = [line for line in answer.out.splitlines() if "red" in line]
    assert len(rows) == 2
    for line in rows:
        assert len(re.findall(r"(?<!\\)\|", line)) == 7
        assert not re.search(r"(?<!\\)[<>@`]|(?<!\\)\[|\x07|\u202e", line)


def test_long_markdown_is_cut_with_broken_rules_first(call: Call, tmp_path: Path) -> None:
    rows = [{"model": f"m{at}", "confidence": 0.9, "correct": int(at != 119)} for at in range(120)]
    answer = call(
        "gate", write_csv(tmp_path / "many.csv", rows), "--min", "accuracy=1", "--format", "markdown"
    )
    assert answer.out.startswith("**Calib: 1 of 120 checks failed.**")
    assert "m119" in answer.out.splitlines()[4]
    assert "… and 20 more, 0 of them failed." in answer.out


def test_junit_has_the_shape_that_its_readers_expect(call: Call, tmp_path: Path) -> None:
    words = ("--max", "ece=.001", "--min-n", "5", tmp_path / "gone.csv", "--format", "junit")
    root = ET.fromstring(call("gate", evil_runs(tmp_path), *words).out)  # noqa: S314  just written
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    cases = list(suite)
    assert {case.tag for case in cases} == {"testcase"}
    for case in cases:
        assert {"name", "classname", "time"} <= case.attrib.keys()
        assert [part.tag for part in case] in (["failure"], ["error"], ["system-out"])
    for element in (root, suite):
        counts = [int(element.attrib[name]) for name in ("tests", "failures", "errors")]
        assert (
            counts
            == [len(cases), len(suite.findall("*/failure")), len(suite.findall("*/error"))]
            == [5, 2, 1]
        )
    for part in suite.findall("*/failure"):
        assert part.attrib["message"] == part.text
        assert part.attrib["type"]
    assert "<b>|x|</b>" in cases[0].attrib["classname"]
    assert "gone.csv" in suite.findall("*/error")[0].attrib["message"]


def test_what_is_printed(call: Call, new: Path) -> None:
    answer = call("gate", new, "--method", "given", "--max", "ece=.001", "--min-n", "5", "--metric", "ece")
    lines = answer.out.splitlines()
    assert lines[-1] == "1 of 2 checks failed."
    assert [word in lines[4] for word in ("FAILED", "ECE ≤ 0.001", "95 %")] == [True] * 3
    assert "--metric has no effect" in answer.err


def test_the_files_format_can_be_given_beside_the_outputs(call: Call, new: Path) -> None:
    assert not set(OUTPUT_FORMATS) & set(FORMATS)
    assert call("gate", new, "--max", "ece=1", "--format", "table", "--format", "junit").out.startswith(
        "<testsuites"
    )
    refused = call("gate", new, "--max", "ece=1", "--format", "npz")
    assert refused.code == 2


def test_metrics_of_distributions_are_checked_where_a_method_gives_one(call: Call, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "choices.jsonl", choices(60))
    answer = call("gate", path, "--max", "nll=9", "--json")
    assert (answer.code, {element["method"] for element in answer.elements}) == (
        0,
        {"choice_softmax", "choice_length_normalised"},
    )


def test_the_commands_of_the_guide_run(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_csv(tmp_path / "predictions.csv", quiz(300))
    write_csv(tmp_path / "baseline.csv", quiz(300))
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^ *calib (gate [^>\n]+)", GUIDE, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        assert call(*shlex.split(command)).code == 0


# --- A judge against people -------------------------------------------------------------------------------


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """400 rows, 200 of them labelled: 80 % of these agree, 30 % of what people fail is passed."""
    lines = ["id,judge,human"]
    cells = [("pass", "pass", 110), ("fail", "pass", 10), ("pass", "fail", 24), ("fail", "fail", 56)]
    cells += [("pass", "", 130), ("fail", "", 70)]
    for judge, human, count in cells:
        lines += [f"q{len(lines) + at},{judge},{human}" for at in range(count)]
    return write(tmp_path, "judged.csv", "\n".join((*lines, "")))


def test_the_interval_decides_on_a_judge(call: Call, judged: Path) -> None:
    words = ("--min", "agreement=.75", "--min", "specificity=.9", "--min", "kappa=.6", "--min-n", "200")
    answer = call("gate", judged, "--judge", *words, "--json")
    assert answer.code == 1, "a broken rule counts, also where another is not decided"
    found = {element["rule"]: element for element in answer.elements}
    assert all(element.keys() >= KEYS for element in answer.elements)
    assert {rule: element["held"] for rule, element in found.items()} == {
        "min agreement=0.75": True,
        "min specificity=0.9": False,
        "min kappa=0.6": None,
        "min-n 200": True,
    }
    scored = call("judge", judged, "--metric", "kappa", "--json").element
    kappa = found["min kappa=0.6"]
    assert (kappa["value"], kappa["interval"]) == (scored["value"], scored["interval"])
    low, high = kappa["interval"]
    assert low < 0.6 < high
    needed = 200 * ((kappa["value"] - low) / (kappa["value"] - 0.6)) ** 2
    assert kappa["reason"].startswith(
        "200 labelled rows are too few: the interval contains the limit; about "
    )
    assert f"about {int(needed) + 1:,} would decide" in kappa["reason"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--min", "agreement=.75", "--max", "pass_rate=.9"), 0),
        (("--min", "specificity=.9"), 1),
        (("--min", "kappa=.6"), 2),
        (("--min", "alpha=.6"), 2),
        (("--min-n", "201"), 1),
        (("--min", "ece=.1"), 2),
        (("--min", "kappa=60"), 2),
        (("--min", "agreement=.1", "--significant"), 2),
    ],
)
def test_exit_codes_of_rules_on_a_judge(call: Call, judged: Path, words: tuple[str, ...], code: int) -> None:
    assert call("gate", judged, "--judge", *words).code == code


def test_what_is_not_decided_has_not_passed_in_any_format(call: Call, judged: Path) -> None:
    words = ("gate", judged, "--judge", "--min", "kappa=.6", "--min", "agreement=.1", "--format")
    summary = "Not passed: 1 of 2 checks could not be decided."
    text = call(*words, "text").out
    assert summary in text
    assert text.index("not decided") < text.index("passed", text.index("not decided"))
    markdown = call(*words, "markdown").out
    assert summary in markdown
    assert "❔ **not decided** | Cohen's κ ≥ 0.6" in markdown
    suite = ET.fromstring(call(*words, "junit").out)[0]  # noqa: S314  our own output
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    (error,) = suite.iter("error")
    assert error.get("type") == "not decided"
    assert "too few" in (error.get("message") or "")


def test_labels_that_pass_are_named_for_a_rule(call: Call, tmp_path: Path) -> None:
    rows = "".join(
        f"q{at},{'good' if at % 4 else 'bad'},{'good' if at % 5 else 'bad'}\n" for at in range(200)
    )
    file = write(tmp_path, "graded.csv", f"id,judge,human\n{rows}")
    unknown = call("gate", file, "--judge", "--min", "sensitivity=.5", "--json")
    assert (unknown.code, unknown.element["held"], unknown.element["value"]) == (2, None, None)
    assert "--pass LABEL" in unknown.element["reason"]
    named = call("gate", file, "--judge", "--min", "sensitivity=.5", "--pass", "good", "--json")
    assert (named.code, named.element["held"]) == (0, True)
    assert call("gate", file, "--judge", "--min", "agreement=.5", "--pass", "fine").code == 2
    assert call("gate", file, "--min", "ece=.5", "--pass", "good").code == 2


def test_rules_of_a_judge_go_with_no_lock(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "judged.csv"
    file.write_text("judge,human\npass,pass\n", "utf-8")
    answer = call("gate", file, "--judge", "--lock", tmp_path / "lock.json")
    assert answer.code == 2
    assert "--judge can be combined with --max, --min and --min-n only" in answer.err
