"""A report is one file without external requests, in which every text stays text."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

import calib_core
from calib_core import readers
from calib_core.inference.decision_loss import ErrorCosts
from calib_core.reporting.build import Report, build_report
from calib_core.reporting.document import BodyWriter
from calib_core.reporting.provenance import FrontMatter, Provenance, file_checksums, files_read_with
from calib_core.results.audit import audit_conventions
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import check_file, usable_runs
from calib_core.results.recalibration import DEFAULT_MAP, METRIC_NAMES, recalibrate
from calib_core.views.inputs import (
    ReportFile,
    ReportInput,
    ReportSettings,
    merge_partial_reports,
    titled_runs,
)
from calib_core.views.recalibrate import AFTER, BEFORE
from calib_core.views.registry import SECTIONS
from calib_core.views.view import View, ViewFigure, ViewTable
from calib_core.wording import format_number, format_short
from predictions import choices, quiz, samples, write_csv, write_jsonl
from report_html import Node, figures, read, section, unpack_script
from token_files import positions, write_npz

EVIL = (
    "</script><script>alert(1)</script> <img src=http://calib.invalid/a.png onerror=alert(2)> "
    "<a href='https://calib.invalid'>a</a> ]]> &amp; \" ' $x^2$ {{7*7}} \u202eevil\u202c"
)
OUTWARD = {"src", "srcset", "action", "formaction", "poster", "data", "background", "ping", "xlink:href"}
LOADING = ("img", "iframe", "object", "embed", "link", "base", "form", "svg", "video")
MADE = Provenance(datetime(2026, 11, 22, 9, 5, tzinfo=UTC), "python -m calib_core report", "Anywhere.")


def make_report(
    *paths: Path,
    pages: tuple[str, ...] = (),
    asked: ReportSettings | None = None,
    made: Provenance = MADE,
) -> Report:
    """The report of these files."""
    checked = [check_file(readers.read(path)) for path in paths]
    here = tuple(
        ReportFile(one.file, one, None, file_checksums(files_read_with(path, one.file)))
        for path, one in zip(paths, checked, strict=True)
    )
    runs = titled_runs(merge_partial_reports([run for one in checked for run in one.runs]))
    return build_report(ReportInput(runs, here, asked or ReportSettings()), pages or ("all",), made)


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """A report of runs whose every text is hostile."""
    folder = tmp_path_factory.mktemp("evil")
    wicked = dict.fromkeys(("subject", "question", "prediction", "gold", "model", "dataset"), EVIL)
    rows = [{**row, **wicked, EVIL: ("x", "y")[at % 2]} for at, row in enumerate(quiz(40))]
    own = {"model": f"{EVIL}2", "dataset": EVIL, "samples": [EVIL, "1", EVIL]}
    many = [{**row, **own} for row in samples(30)]
    paths = (write_jsonl(folder / "a<b>&.jsonl", rows), write_jsonl(folder / "ten.jsonl", many))
    return read(make_report(*paths).html)


def test_no_element_that_leads_or_loads(hostile_report: Node) -> None:
    for node in hostile_report.walk():
        assert not OUTWARD & node.attributes.keys(), node
        assert not [name for name in node.attributes if name.startswith("on")], node
        assert node.attributes.get("href", "#").startswith("#"), node
        assert node.tag not in LOADING, node
    assert [node.attributes.get("id") for node in hostile_report.all("script")] == ["plotly", "figures", None]
    assert "url(" not in hostile_report.all("style")[0].text
    assert "@import" not in hostile_report.all("style")[0].text


def test_text_of_files_is_shown_as_it_stands(hostile_report: Node) -> None:
    shown = EVIL.replace("\u202e", "\\u202e").replace("\u202c", "\\u202c")
    titles = [node.text for node in hostile_report.all("h3")]
    assert any(title.startswith(shown) for title in titles)
    assert shown in " ".join(node.text for node in section(hostile_report, "overview")[0].all("td"))
    assert "a<b>&.jsonl" in [row[0] for row in section(hostile_report, "files")[0].rows]
    assert "alert(1)" not in hostile_report.all("script")[2].text


def test_a_run_is_shown_by_the_method_that_stands_for_it(tmp_path: Path) -> None:
    report = make_report(write_jsonl(tmp_path / "ten.jsonl", samples(40)), pages=("overview",))
    (row,) = section(read(report.html), "overview")[0].rows
    assert row[:2] == ["ten", "Self-consistency, F_CS"]


def test_nothing_may_be_fetched_and_nothing_else_may_run(hostile_report: Node) -> None:
    policy = next(
        node.attributes["content"]
        for node in hostile_report.all("meta")
        if node.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert {rules["base-uri"], rules["form-action"]} == {"'none'"}
    own = [hostile_report.all("script")[2].text, unpack_script(hostile_report, "plotly")]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in own]
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]
    assert not re.search(r"https?:|unsafe-eval|\*", policy)
    assert "connect-src" not in rules


def test_every_figure_is_there_for_both_themes_and_in_words(hostile_report: Node) -> None:
    drawn = figures(hostile_report)
    boxes = hostile_report.all("div", "canvas")
    assert [int(box.attributes["data-figure"]) for box in boxes] == list(range(len(drawn)))
    assert len(drawn) > 8
    for figure in drawn:
        assert figure["light"]["data"]
        assert figure["light"]["layout"]["font"]["color"] != figure["dark"]["layout"]["font"]["color"]
    for node in hostile_report.all("figure"):
        (alt,) = node.all("p", "alt")
        assert re.search(r"\d", alt.text)


def test_every_page_opens_with_its_question(hostile_report: Node) -> None:
    for node in hostile_report.all("section")[:-2]:
        page = SECTIONS[node.attributes["id"]]
        assert node.all("h2")[0].text == page.question
        assert node.all("p", "kicker")[0].text == page.title
    again = hostile_report.one("again").text
    assert "22 November 2026, 09:05 UTC" in again
    assert re.search(r"Calib \d+\.\d+\.\d+, Python 3\.\d+", again)
    assert hostile_report.one("again").all("pre")[0].text == MADE.command


def test_twenty_runs_stay_below_five_megabytes(tmp_path: Path) -> None:
    rows = [row for at in range(20) for row in quiz(200, seed=at, model=f"model {at}", dataset="quiz")]
    quick = ("overview", "reliability", "concentration", "robustness", "abstention", "methods", "files")
    report = make_report(write_csv(tmp_path / "quiz.csv", rows), pages=quick)
    assert len(report.html.encode()) < 5_000_000
    document = read(report.html)
    assert len(section(document, "reliability")) == 20
    assert len(figures(document)) == 20 * 6
    assert report.html.count("plotly.js v") == 0, "packed, and once"
    assert len(unpack_script(document, "plotly")) > 1_000_000


def test_pages_without_results_are_left_out(tmp_path: Path) -> None:
    report = make_report(write_csv(tmp_path / "quiz.csv", [{"confidence": 0.5, "correct": 1}]))
    assert set(report.left_out) == {
        "judge",
        "comparison",
        "recalibrate",
        "sampling",
        "methods",
        "groups",
        "training",
    }
    answers = ("reliability", "concentration", "robustness", "abstention")
    assert report.pages == ("summary", "overview", *answers, "files")
    assert "Comparison (Only one run is loaded)" in read(report.html).one("again").text


def test_recalibration_and_conventions_are_those_of_the_run(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "quiz.csv", quiz(200))
    document = read(make_report(path, pages=("robustness", "recalibrate")).html)
    evidence = gather_evidence(usable_runs(readers.read(path))[0], "verbal")
    result = recalibrate(evidence, DEFAULT_MAP)
    (block,) = section(document, "recalibrate")
    assert "n=200/200" in block.text
    before, after = (format_number(values["brier"]) for values in (result.before, result.after))
    assert block.tiles[METRIC_NAMES["brier"]] == f"{before} → {after}"
    assert result.headline in block.text
    assert [figure.all("p", "name")[0].text for figure in block.all("figure")] == [BEFORE, AFTER]
    audit = audit_conventions(evidence)
    conventions = next(block for block in section(document, "robustness") if audit.headline in block.text)
    drawn = [format_short(value) for value in sorted(one.value for one in audit.values)]
    assert [row[1] for row in conventions.rows] == drawn


def test_what_every_view_of_a_page_says_is_said_once(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "quiz.csv", [*quiz(60, model="red"), *quiz(60, seed=6, model="green")])
    blocks = section(read(make_report(path, pages=("robustness",)).html), "robustness")
    assert sum("Shaded band: " in block.text for block in blocks) == 2
    assert sum("RSD never compares models" in block.text for block in blocks) == 1


def test_a_run_of_tokens(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "code.npz", positions(200), model="gpt", tokens_seen=1000)
    report = make_report(path)
    assert set(report.left_out) == {
        "judge",
        "comparison",
        "abstention",
        "recalibrate",
        "sampling",
        "methods",
        "groups",
    }
    (block,) = section(read(report.html), "reliability")
    assert block.tiles["Positions used / total"] == "200 / 200"
    text = read(report.html).one("robustness").text
    assert "How often the classes occur" in text
    assert "Position 1" in text


def test_numbers_that_are_not_there(tmp_path: Path) -> None:
    """All right and all sure: no AUROC, a skill that is not defined, an ECE of 0."""
    rows = [{"id": str(at), "model": f"m{at % 2}", "confidence": 1.0, "correct": 1} for at in range(8)]
    document = read(make_report(write_csv(tmp_path / "sure.csv", rows)).html)
    assert section(document, "reliability")[0].tiles["ECE"] == "0.0000"
    assert "–" in {cell for row in section(document, "comparison")[0].rows for cell in row}
    figures(document)


def test_a_run_that_is_not_drawn_says_why(tmp_path: Path) -> None:
    """Classwise ECE needs a distribution, which one run lacks; the share of p(True) needs p(False)."""
    from calib_core.methods.method import MethodOptions  # noqa: PLC0415  two tests'

    lacks = write_csv(tmp_path / "quiz.csv", quiz(60, model="open"))
    paths = lacks, write_jsonl(tmp_path / "four.jsonl", choices(60, model="four"))
    settings = ReportSettings(metrics=("cw_ece",))
    drawn, pairs, published, not_drawn = section(
        read(make_report(*paths, pages=("robustness",), asked=settings).html), "robustness"
    )
    assert "Which pairs go into which bin?" in pairs.text
    assert published.all("h3")[0].text == "Your runs beside the paper"
    assert "four" in drawn.all("h3")[0].text
    assert not_drawn.all("h3")[0].text == "Not shown"
    (why,) = not_drawn.all("li")
    assert re.match(r"open: .*cw-ECE: .+", why.text)
    alone = make_report(lacks, pages=("robustness", "files"), asked=settings)
    assert re.match(r"open: .*cw-ECE: .+", alone.left_out["robustness"])

    rows = choices(60, model="half")
    half = [{name: cell for name, cell in row.items() if name != "p_false"} for row in rows]
    paths = (paths[1], write_jsonl(tmp_path / "half.jsonl", half))
    settings = ReportSettings(methods=("p_true",), options=MethodOptions(renormalise=True))
    drawn, not_drawn = section(
        read(make_report(*paths, pages=("abstention",), asked=settings).html), "abstention"
    )
    assert drawn.all("h3")[0].text == "four"
    assert [why.text for why in not_drawn.all("li")] == [
        "half, p(True): no column p_false: the share of P(True) + P(False) needs both"
    ]


def test_compared_methods_are_judged_by_the_answer_asked_for(tmp_path: Path) -> None:
    """The greedy answer is wrong in every second row, the majority of the samples right in all."""
    made = [
        {
            "model": model,
            "id": f"q{at}",
            "gold": "7",
            "prediction": "78"[at % 2],
            "samples": ["7", "7", "9"],
            "confidence": 0.8,
        }
        for model in "ab"
        for at in range(40)
    ]
    path = write_jsonl(tmp_path / "ten.jsonl", made)
    pages = ("comparison", "methods")
    document = read(make_report(path, pages=pages, asked=ReportSettings(judged_choice="greedy")).html)
    for page in pages:
        (block,) = section(document, page)[:1]
        assert "all judged by the greedy answer" in block.all("pre")[0].text
        assert "majority" not in block.text
    (block,) = section(read(make_report(path, pages=("comparison",)).html), "comparison")
    assert "The points judge different answers" in block.text


def test_costs_are_in_the_section_of_abstention_where_they_are_given(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "quiz.csv", quiz(80))
    (plain,) = section(read(make_report(path, pages=("abstention",)).html), "abstention")
    assert "Price of believing" not in plain.text
    asked = ReportSettings(costs=ErrorCosts(10, 1))
    own, costs = section(read(make_report(path, pages=("abstention",), asked=asked).html), "abstention")
    assert own.text == plain.text
    assert costs.all("h3")[0].text == "quiz: what a threshold costs"
    (run,) = calib_core.load(path)
    priced = calib_core.threshold_cost(run, cost_wrong=10, cost_handed_on=1)
    assert priced.headline in costs.text


def test_choices_are_pooled_as_asked(tmp_path: Path) -> None:
    from calib_core.methods.method import MethodOptions  # noqa: PLC0415  two tests'

    path = write_jsonl(tmp_path / "four.jsonl", choices(50))
    report = make_report(
        path, pages=("reliability",), asked=ReportSettings(options=MethodOptions(labels="all"))
    )
    (block,) = section(read(report.html), "reliability")
    assert "all labels" in block.all("pre")[0].text
    assert "No whiskers" in block.text


def test_the_headline_summarises_all_runs(tmp_path: Path) -> None:
    sure = [{"confidence": 0.95, "correct": at % 2, "model": model} for at in range(80) for model in "ab"]
    document = read(make_report(write_csv(tmp_path / "sure.csv", sure), pages=("overview", "files")).html)
    leads = [node.text for node in document.all("header")[0].all("p", "lead")]
    assert leads[0] == "Both runs are over-confident."
    (block,) = section(document, "overview")
    assert [(row[0], row[2]) for row in block.rows] == [("a", "▲ over-confident"), ("b", "▲ over-confident")]


def test_published_figures_are_labelled_as_such(tmp_path: Path) -> None:
    report = make_report(write_jsonl(tmp_path / "ten.jsonl", samples(30)), pages=("methods",))
    *own, published = section(read(report.html), "methods")
    assert published.all("h3")[0].text == "Published table: other models and data, not computed here"
    assert "arXiv 2403.09849" in published.text
    assert ".029" not in "".join(block.text for block in own)
    assert "GSM8K" in published.text


def test_small_diagrams_in_the_order_of_the_figure(tmp_path: Path) -> None:
    rows = [{**row, "subject": "many" if at % 3 else "few"} for at, row in enumerate(quiz(90))]
    report = make_report(write_csv(tmp_path / "quiz.csv", rows), pages=("groups",))
    block, hidden, published = section(read(report.html), "groups")
    assert hidden.all("h3")[0].text == "Hidden groups"
    assert published.all("h3")[0].text == "Your runs beside the paper"
    (panels,) = block.all("div", "panels")
    names = [figure.all("p", "name")[0].text for figure in panels.all("figure")]
    assert names == ["few", "many"], "the larger gap first"
    assert "Reliability diagrams of every group" in block.text
    notes = [figure.all("p", "note")[0].text for figure in panels.all("figure")]
    groups = [row for row in block.rows if row[0] in names]
    values = {row[0]: (row[5], row[row.index("60" if row[0] == "many" else "30")]) for row in groups}
    assert notes == [f"ECE {value}, n = {n}" for value, n in (values[name] for name in names)]
    assert values["few"][0] > values["many"][0]


def test_the_questions_of_a_bin_that_is_asked_for(tmp_path: Path) -> None:
    rows = [
        {"id": f"q{at}", "question": "<b>", "confidence": 0.95 if at < 70 else 0.15, "correct": at % 2}
        for at in range(90)
    ]
    path = write_csv(tmp_path / "quiz.csv", rows)
    report = make_report(path, pages=("reliability",), asked=ReportSettings(bin_number=2))
    table = section(read(report.html), "reliability")[0].all("table")[-1]
    assert table.all("caption")[0].text == "Questions in 10–20 % (0.1, 0.2], 20"
    assert [row[1] for row in table.rows] == [f"q{at}" for at in range(70, 90)]
    report = make_report(path, pages=("reliability",), asked=ReportSettings(bin_number=10))
    table = section(read(report.html), "reliability")[0].all("table")[-1]
    assert table.all("caption")[0].text == "Questions in 90–100 % (0.9, 1], the first 50 of 70"
    assert len(table.rows) == 50
    report = make_report(path, pages=("reliability",), asked=ReportSettings(bin_number=5))
    assert "Questions" not in section(read(report.html), "reliability")[0].text


@pytest.mark.parametrize(("letters", "beside"), [(77, True), (78, False)])
def test_a_table_of_less_than_half_a_page_stands_beside_a_narrow_figure(
    letters: int, *, beside: bool
) -> None:
    drawn = {"data": [], "layout": {"height": 300}}
    figure = ViewFigure(lambda _theme: drawn, "A figure.", narrow=True)
    table = ViewTable.from_rows("", [{"name": letters * "x"}])  # 10 + 6.6 px a letter, of 520
    html = BodyWriter()._figures_and_tables(View("", figures=(figure,), tables=(table,)))
    assert ("</figure></div>" in html) != beside


def test_the_head_has_title_author_date_and_note(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "quiz.csv", quiz(60))
    (head,) = read(make_report(path).html).all("header")
    assert (head.all("h1")[0].text, head.all("p", "byline")[0].text) == (
        "Calibration report",
        "22 November 2026",
    )
    front = FrontMatter(f"Title {EVIL}", "A. <b>Author</b>", "First line\nSecond line", date(2025, 1, 9))
    document = read(make_report(path, made=replace(MADE, front=front)).html)
    (head,) = document.all("header")
    assert head.all("h1")[0].text.startswith("Title </script>")
    assert document.all("title")[0].text == head.all("h1")[0].text
    assert head.all("p", "byline")[0].text == "A. <b>Author</b> · 9 January 2025"
    assert [line.text for line in head.all("p", "note")] == ["First line", "Second line"]
    again = document.one("again").text
    assert "Made on 22 November 2026" in again, "how it was made stands at the end"
    assert "Made on" not in head.text
