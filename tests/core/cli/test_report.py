"""The verb `report`: one file with the requested pages, what is left out, and how to reproduce it."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

import pytest

import calib_core
import report_html
from calib_core.__main__ import main
from calib_core.views.registry import SECTIONS
from calib_core.wording import judged_phrase
from core.cli_calls import BAD, CHOICES, GOOD, NOTHING, Call, write
from predictions import choices, judged, quiz, samples, write_csv, write_jsonl
from report_html import Node, read, section, text_of

QUICK = ("--page", "overview", "--page", "reliability", "--page", "files")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """four.jsonl with choices, quiz.csv with two models and two subjects, ten.jsonl with samples."""
    write_jsonl(tmp_path / "four.jsonl", choices(60))
    write_csv(tmp_path / "quiz.csv", [*quiz(80, model="red"), *quiz(90, seed=6, model="green")])
    write_jsonl(tmp_path / "ten.jsonl", samples(40))
    return tmp_path


def open_report(path: Path) -> Node:
    return read(path.read_text(encoding="utf-8"))


def test_every_available_page_is_in_the_report(folder: Path, call: Call) -> None:
    output = folder / "out.html"
    files = [folder / name for name in ("four.jsonl", "quiz.csv", "ten.jsonl")]
    answer = call("report", *files, "-o", output, "--pages", "all", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert [(each["file"], each["run"]) for each in answer.elements] == [
        ("four.jsonl", "four"),
        ("quiz.csv", "red"),
        ("quiz.csv", "green"),
        ("ten.jsonl", "ten"),
    ]
    pages = [page for page in SECTIONS if page not in ("training", "judge")]
    assert answer.elements[0]["pages"] == pages
    assert answer.elements[0]["report"] == str(output)
    assert list(answer.elements[0]["left_out"]) == ["training", "judge"]
    document = open_report(output)
    ids = [node.attributes.get("id") for node in document.all("section")]
    assert ids == [*pages, "terms", "again"]
    assert "Training (No run here is a checkpoint of a training)" in document.one("again").text
    links = [link.attributes["href"] for link in document.all("nav")[0].all("a")]
    assert [link for link in links if "-" not in link] == [f"#{id_}" for id_ in ids]


def test_the_numbers_are_those_of_the_other_verbs(folder: Path, call: Call) -> None:
    output = folder / "out.html"
    words = (folder / "quiz.csv", "--method", "given", "--bins", "20")
    assert call("report", *words, "-o", output, *QUICK).code == 0
    scores = call("score", *words, "--json").elements
    blocks = section(open_report(output), "reliability")
    assert [block.all("h3")[0].text for block in blocks] == ["red", "green"]
    for block in blocks:
        run = block.all("h3")[0].text
        own = {each["metric"]: each for each in scores if each["run"] == run}
        assert block.tiles["ECE"] == f"{own['ece']['value']:.4f}"
        assert block.tiles["Brier score"] == f"{own['brier']['value']:.4f}"
        assert block.all("pre")[0].text == own["ece"]["recipe"]


def test_the_command_in_the_report_reproduces_it(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    odd = write_csv(folder / "it's; $(odd) é.csv", quiz(40, model="-m"))
    words = [
        "report",
        odd.name,
        "ten.jsonl",
        "-o",
        "a report.html",
        "--bins",
        "7",
        "--binning",
        "mass",
        "--method",
        "given",
        "--metric",
        "ace",
        "--metric",
        "brier",
        "--page",
        "reliability",
        "--page",
        "concentration",
        "--run=-m",
        "--run",
        "ten",
        "--skip-bad-rows",
        "--map",
        "id=",
    ]
    assert call(*words).code == 0
    before = open_report(folder / "a report.html")
    line = before.one("again").all("pre")[0].text
    assert shlex.split(line)[:4] == ["python", "-m", "calib_core", "report"]
    (folder / "a report.html").unlink()
    assert main(shlex.split(line)[3:]) == 0
    capsys.readouterr()
    after = open_report(folder / "a report.html")
    assert text_of(after) == text_of(before)
    assert report_html.unpack_script(after, "figures") == report_html.unpack_script(before, "figures")
    assert [block.all("h3")[0].text for block in section(after, "concentration")] == ["-m", "ten"]
    assert "ACE" in section(after, "reliability")[0].tiles


def test_the_questions_of_a_bin_are_listed_and_reproduced(folder: Path, call: Call) -> None:
    output = folder / "out.html"
    words = (folder / "ten.jsonl", "--method", "cluster_size")
    last = call("bins", *words, "--json").element["bins"][-1]
    number = round(10 * last["high"])
    asked = ("report", *words, "--page", "reliability", "-o", output, "--bin")
    assert call(*asked, str(number)).code == 0
    document = open_report(output)
    table = section(document, "reliability")[0].all("table")[-1]
    where = f"{100 * last['low']:g}–{100 * last['high']:g} % ({last['low']:g}, {last['high']:g}]"
    assert table.all("caption")[0].text == f"Questions in {where}, {last['count']}"
    assert len(table.rows) == last["count"] > 0
    line = shlex.split(document.one("again").all("pre")[0].text)
    assert line[line.index("--bin") + 1] == str(number)
    assert call(*asked, "0").code == 2


def test_a_bin_that_does_not_exist_is_refused(folder: Path, call: Call) -> None:
    output = folder / "out.html"
    asked = ("report", folder / "ten.jsonl", "-o", output, "--page", "reliability", "--bin")
    refused = call(*asked, "11")
    assert (refused.code, output.exists()) == (2, False)
    assert "--bin: expected the number of a bin, 1 to 10, found 11." in refused.err
    assert call(*asked, "11", "--bins", "11").code == 0
    natural = call(*asked, "99", "--binning", "natural", "--method", "cluster_size")
    assert natural.code == 2
    bins = call("bins", folder / "ten.jsonl", "--binning", "natural", "--method", "cluster_size", "--json")
    assert f"1 to {len(bins.element['bins'])}, found 99." in natural.err


def test_a_bin_without_a_diagram_has_no_effect_and_that_is_said(folder: Path, call: Call) -> None:
    answer = call("report", folder / "ten.jsonl", "-o", folder / "out.html", "--bin", "3")
    assert answer.code == 0
    assert "--bin has no effect" in answer.err
    assert "add --page reliability" in answer.err


def test_every_file_of_a_run_is_counted(tmp_path: Path, call: Call) -> None:
    files = [
        write_csv(tmp_path / f"part{part}.csv", [{**row, "id": f"{part}-{row['id']}"} for row in quiz(20)])
        for part in range(4)
    ]
    output = tmp_path / "out.html"
    assert call("report", *files, "--together", "-o", output, *QUICK).code == 0
    assert "1 run of 4 files" in open_report(output).text
    alone = tmp_path / "alone.html"
    assert call("report", *files, "-o", alone, *QUICK, "--run", "part1").code == 0
    assert "1 run of 1 file" in open_report(alone).text


def test_files_are_named_by_their_checksum(folder: Path, call: Call) -> None:
    output = folder / "out.html"
    assert call("report", folder / "ten.jsonl", "-o", output, *QUICK).code == 0
    row = next(row for row in section(open_report(output), "files")[0].rows if row[0] == "ten.jsonl")
    content = (folder / "ten.jsonl").read_bytes()
    assert row[-2:] == [f"{len(content):,}", hashlib.sha256(content).hexdigest()]
    assert row[1:3] == ["loaded", "40"]


def test_a_bad_file_does_not_stop_the_good_ones(tmp_path: Path, call: Call) -> None:
    good, bad = write(tmp_path, "quiz.csv", GOOD), write(tmp_path, "bad.csv", BAD)
    none, output = write(tmp_path, "none.csv", NOTHING), tmp_path / "out.html"
    answer = call("report", bad, none, good, "-o", output, "--json", *QUICK)
    assert answer.code == 3
    assert [each["run"] for each in answer.elements] == ["quiz"]
    assert "--skip-bad-rows" in answer.err
    states = {row[0]: row[1] for row in section(open_report(output), "files")[0].rows}
    assert states == {"bad.csv": "not loaded", "none.csv": "not loaded", "quiz.csv": "loaded"}
    told = open_report(output).one("files").text
    assert "1 of 3 rows is bad" in told
    assert "1.8" in told
    answer = call("report", bad, "-o", output, "--skip-bad-rows", "--json", *QUICK)
    assert answer.code == 0
    assert "1 of 3 rows is bad and not used in any number." in open_report(output).one("files").text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--page", "nosuch"), "there is no page 'nosuch'"),
        (("--run", "nobody"), "there is no run 'nobody'. Runs: quiz"),
        (("--method", "nosuch"), "There is no method"),
        (("-o", "out.pdf"), "name a file that ends in .html"),
        (("-o", "quiz.csv.html"), "is one of the files that are read"),
        (("--page", "comparison"), "Only one run is loaded"),
    ],
)
def test_invalid_options_are_refused_and_nothing_is_written(
    words: tuple[str, ...], message: str, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path, "quiz.csv.html" if "quiz.csv.html" in words else "quiz.csv", GOOD)
    before = {path.name for path in tmp_path.iterdir()}
    answer = call("report", source, "-o", "out.html", *words, "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert message in answer.err
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "message"), [(("--method", "p_true"), "p_true"), (("--metric", "full_ece"), "full_ece")]
)
def test_what_no_run_gives_is_refused_and_the_rest_reported(
    words: tuple[str, ...], message: str, tmp_path: Path, call: Call
) -> None:
    output = tmp_path / "out.html"
    answer = call("report", write(tmp_path, "quiz.csv", GOOD), "-o", output, *words, "--json", *QUICK)
    assert answer.code == 2
    assert f"{message} is not available" in answer.err
    assert len(answer.elements) == 1
    assert "overview" in answer.element["pages"]
    assert output.exists()


def test_a_run_without_the_method_is_shown_by_its_first(tmp_path: Path, call: Call) -> None:
    output = tmp_path / "out.html"
    files = write(tmp_path, "a.jsonl", CHOICES), write(tmp_path, "b.csv", GOOD)
    assert call("report", *files, "-o", output, "--method", "choice_softmax", *QUICK).code == 0
    assert [row[1] for row in section(open_report(output), "overview")[0].rows] == [
        "Logit, softmax over the choices",
        "Confidence in the file",
    ]


def test_runs_of_one_label_are_distinguished(tmp_path: Path, call: Call) -> None:
    output = tmp_path / "out.html"
    files = [write_csv(tmp_path / f"{name}.csv", quiz(20, seed=ord(name), model="red")) for name in "ab"]
    assert call("report", *files, "-o", output, *QUICK).code == 0
    assert [row[0] for row in section(open_report(output), "overview")[0].rows] == [
        "red (a.csv)",
        "red (b.csv)",
    ]
    assert call("report", *files, "-o", output, "--run", "red (b.csv)", *QUICK).code == 0
    assert len(section(open_report(output), "overview")[0].rows) == 1
    assert len(section(open_report(output), "files")) == 3, "all files that were read stand in the ledger"


def test_the_judged_answer_is_named(folder: Path, call: Call) -> None:
    output = folder / "out.html"
    assert call("report", folder / "four.jsonl", folder / "ten.jsonl", "-o", output, *QUICK).code == 0
    for block, answer in zip(
        section(open_report(output), "reliability"), ("its own top label", "majority answer"), strict=True
    ):
        assert judged_phrase(answer) in block.text


def test_title_author_note_and_date_are_given_and_reproduced(folder: Path, call: Call) -> None:
    output, again = folder / "out.html", folder / "again.html"
    front = ("--title", "May it answer?", "--author", "A. N.", "--note=-- read me", "--date", "2025-01-09")
    assert call("report", folder / "quiz.csv", "-o", output, *front).code == 0
    document = open_report(output)
    (head,) = document.all("header")
    assert head.all("h1")[0].text == "May it answer?"
    assert head.all("p", "byline")[0].text == "A. N. · 9 January 2025"
    assert head.all("p", "note")[0].text == "-- read me"
    line = shlex.split(document.one("again").all("pre")[0].text)[3:]
    line[line.index(str(output))] = str(again)
    assert call(*line).code == 0
    assert open_report(again).all("header")[0].text == head.text
    assert call("report", folder / "quiz.csv", "-o", output, "--date", "9.1.2025").code == 2


def test_a_judge_is_reported_without_a_confidence(tmp_path: Path, call: Call) -> None:
    judge = write_csv(tmp_path / "judged.csv", judged())
    output = tmp_path / "out.html"
    alone = call("report", judge, "-o", output, "--json")
    assert (alone.code, alone.err, alone.element["pages"]) == (0, "", ["judge"])
    (run,) = calib_core.load(judge)
    headline = calib_core.judge(run).headline
    assert headline in section(open_report(output), "judge")[0].text
    other = write_csv(tmp_path / "quiz.csv", quiz(60))
    both = call("report", judge, other, "-o", output, "--page", "reliability", "--page", "judge", "--json")
    assert both.elements[0]["pages"] == ["reliability", "judge"]
    (block,) = section(open_report(output), "reliability")
    assert "quiz" in block.text
