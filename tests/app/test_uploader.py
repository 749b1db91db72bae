"""Uploaded files are on every page of their session, and of no other."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import calib_core
import screens
from predictions import choices, quiz, response, samples, write_csv, write_jsonl
from screens import AppTest, Visit, control, go, page_text, table, tiles


def jsonl(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def upload(at: AppTest, *files: tuple[str, bytes]) -> AppTest:
    """Drops files on the page's field."""
    at.file_uploader[0].set_value([(name, data, "application/octet-stream") for name, data in files])
    return screens.run(at)


def test_an_uploaded_file_is_beside_those_of_the_folder(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(150))
    at = upload(visit("files"), ("four.jsonl", jsonl(choices(120))))
    shown = table(at, "File", "From").set_index("File")
    assert shown["From"].to_dict() == {"quiz.csv": "folder", "four.jsonl": "uploaded"}
    assert shown["State"]["four.jsonl"] == "loaded"
    assert "four.jsonl · uploaded" in page_text(at)
    at = go(at, "reliability")
    assert control(at, "run").options == ["quiz", "four · uploaded"]
    screens.choose(at, "run", "uploaded--four")
    assert tiles(at)["Rows used / total"] == "120 / 120"
    assert sorted(path.name for path in data.iterdir()) == ["quiz.csv"]


def test_packed_and_arrow_files_are_uploaded_as_they_are(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(30))
    stored = io.BytesIO()
    pl.DataFrame(quiz(30)).write_ipc_stream(stored)
    at = upload(
        visit("files"), ("four.jsonl.gz", gzip.compress(jsonl(choices(30)))), ("x.arrow", stored.getvalue())
    )
    shown = table(at, "File", "From").set_index("File")
    assert shown["State"].to_dict() == dict.fromkeys(["quiz.csv", "four.jsonl.gz", "x.arrow"], "loaded")


def test_an_upload_is_visible_only_to_its_session(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(150))
    mine = upload(visit("files"), ("secret.jsonl", jsonl(choices(120))))
    assert "secret" in page_text(mine)
    yours = visit("files", run="uploaded--secret")
    assert "secret" not in page_text(yours)
    assert not screens.tables(yours, "File", "From")
    go(mine, "reliability")
    assert len(control(go(yours, "reliability"), "run").options) == 1
    lost = visit("reliability", run="uploaded--secret")
    assert len(control(lost, "run").options) == 1


def test_results_of_it_stay_with_its_session(data: Path, visit: Visit) -> None:
    from pages.state import cache  # noqa: PLC0415 (its store is the one the app uses)

    assert data.exists()
    at = go(upload(visit("files"), ("four.jsonl", jsonl(choices(120)))), "reliability")
    for page in ("concentration", "robustness", "start"):
        go(at, page)
    mine = at.session_state["_uploads"]
    assert {"reliability", "sweep", "overview"} <= mine.results.keys()
    own = [
        key
        for results in cache._server_store().results.values()
        for key in results
        if mine.token in repr(key)
    ]
    assert own == []
    assert not [file for file in cache._server_store().reader._files.values() if file.name == "four.jsonl"]


def test_two_sessions_may_upload_the_same_name(data: Path, visit: Visit) -> None:
    assert data.exists()
    mine = go(upload(visit("files"), ("a.csv", jsonl(quiz(100)))), "reliability")
    yours = go(upload(visit("files"), ("a.csv", jsonl(quiz(70)))), "reliability")
    assert tiles(screens.run(mine))["Rows used / total"] == "100 / 100"
    assert tiles(screens.run(yours))["Rows used / total"] == "70 / 70"


def test_two_runs_are_the_same_in_whichever_order_they_come(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(50))
    a, b = ("a.jsonl", jsonl(quiz(60, seed=7))), ("b.jsonl", jsonl(quiz(70, seed=8)))
    names = ["quiz", "a · uploaded", "b · uploaded"]
    colours: set[str] = set()
    for drops in ([a, b],), ([b, a],), ([a], [b]), ([b], [a]):
        at = visit("start")
        for drop in drops:
            at = upload(at, *drop)
        assert table(at, "run", "ece")["run"].tolist() == [*names[1:], names[0]]
        at = go(at, "comparison")
        assert control(at, "runs_shown").options == names
        colours.add(str(screens.figure(at, "comparison")["data"]))
        assert control(go(at, "reliability"), "run").value == "uploaded--a"
        assert table(go(at, "files"), "File")["File"].tolist() == ["quiz.csv", "a.jsonl", "b.jsonl"]
    assert len(colours) == 1


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("opened", ["start", "files"])
def test_right_answers_are_found_whichever_of_two_files_comes_first(
    opened: str,
    at_once: bool,  # noqa: FBT001 (pytest passes it so)
    backwards: bool,  # noqa: FBT001
    data: Path,
    visit: Visit,
) -> None:
    assert data.exists()
    gold = "custom_id,gold\n" + "".join(f"q{number},{'AB'[number % 2]}\n" for number in range(20))
    files = [
        ("answers.jsonl", jsonl([response(number) for number in range(20)])),
        ("gold.csv", gold.encode()),
    ]
    files = files[::-1] if backwards else files
    at = visit(opened)
    for some in [files] if at_once else [[file] for file in files]:
        at = upload(at, *some)
    assert control(at, "gold_uploaded--answers.jsonl").options == ["gold.csv · uploaded"]
    assert "This looks like a table of right answers" in page_text(at)
    at.button(key="apply_uploaded--answers.jsonl").click()
    at = go(screens.run(at), "reliability")
    assert tiles(at)["Rows used / total"] == "20 / 20"


def test_a_question_stays_until_it_is_answered_and_a_refusal_is_said_once(data: Path, visit: Visit) -> None:
    assert data.exists()
    asks = b"conf,ok\n0.9,1\n0.4,0\n"
    at = upload(visit("start"), ("asks.csv", asks), ("broken.npz", b"no archive"))
    assert {"asks.csv", "broken.npz"} <= {*page_text(at).split()}
    at = upload(at, ("fine.jsonl", jsonl(quiz(60))))
    assert "fine.jsonl is loaded: 60 rows" in page_text(at)
    assert "asks.csv · suggested mapping" in page_text(at)
    assert "broken.npz" not in page_text(at)


def test_two_files_of_one_name_are_two_where_they_come_at_once(data: Path, visit: Visit) -> None:
    assert data.exists()
    at = upload(visit("files"), ("run.jsonl", jsonl(quiz(60))), ("run.jsonl", jsonl(quiz(70))))
    shown = table(at, "File", "Rows").set_index("File")["Rows"]
    assert sorted(shown.to_dict().items()) == [("run (2).jsonl", 70), ("run.jsonl", 60)]
    assert "takes the place" not in page_text(at)
    at = upload(at, ("run.jsonl", jsonl(quiz(80))))
    assert "run.jsonl takes the place of the file of this name uploaded before" in page_text(at)
    assert "takes the place" not in page_text(screens.run(at))
    shown = table(at, "File", "Rows").set_index("File")["Rows"]
    assert sorted(shown.to_dict().items()) == [("run (2).jsonl", 70), ("run.jsonl", 80)]


def test_a_file_of_the_folder_and_an_upload_of_its_name_are_two(data: Path, visit: Visit) -> None:
    write_jsonl(data / "a.jsonl", quiz(100))
    at = go(upload(visit("files"), ("a.jsonl", jsonl(quiz(70)))), "reliability")
    assert control(at, "run").options == ["a", "a · uploaded"]
    assert tiles(at)["Rows used / total"] == "70 / 70", "the page begins with what was uploaded"
    screens.choose(at, "run", "a")
    assert tiles(at)["Rows used / total"] == "100 / 100"


def test_their_numbers_beside_one_another_are_those_of_two(data: Path, visit: Visit) -> None:
    own = calib_core.load(write_jsonl(data / "a.jsonl", quiz(100)))[0]
    uploaded = calib_core.load(write_jsonl(data.parent / "a.jsonl", quiz(70, seed=8)))[0]
    wanted = {
        f"{title} · {run.n_total}": calib_core.score(run, method="given", metric="brier").value or 0.0
        for title, run in (("a", own), ("a · uploaded", uploaded))
    }
    assert len(set(wanted.values())) == 2
    at = go(upload(visit("files"), ("a.jsonl", jsonl(quiz(70, seed=8)))), "comparison")
    screens.choose(at, "methods_shown", ["given"])
    shown = table(at, "Brier", "Rows used")
    found = {
        f"{row['Run']} · {str(row['Rows used']).split()[0]}": row["Brier"] for _, row in shown.iterrows()
    }
    assert found == pytest.approx(wanted)
    at.query_params.clear()
    at = go(at, "tour")
    at.query_params["method"], at.query_params["step"] = "given", "5"
    accuracy, brier = screens.figure(screens.run(at), "tour_picture_models")["data"]
    assert len(accuracy["x"]) == 2
    assert sorted(brier["x"]) == pytest.approx(sorted(wanted.values()), abs=1e-6)


def test_the_decision_on_bad_rows_of_one_is_not_that_of_the_other(data: Path, visit: Visit) -> None:
    bad = [*quiz(50), {**quiz(51)[-1], "confidence": 1.5}]
    write_jsonl(data / "a.jsonl", bad)
    at = upload(visit("files"), ("a.jsonl", jsonl(bad)))
    at.button(key="load_uploaded--a.jsonl").click()
    states = table(screens.run(at), "File", "From").set_index("From")["State"]
    assert states.to_dict() == {"folder": "bad rows: decide", "uploaded": "loaded, good rows only"}


def test_companion_files_are_uploaded_together(data: Path, visit: Visit) -> None:
    assert data.exists()
    random = np.random.default_rng(3)
    arrays = {"x.probs.npy": random.dirichlet(np.ones(5), 40), "x.target.npy": np.arange(40) % 5}
    for name, array in arrays.items():
        np.save(data.parent / name, array)
    pair = [(name, (data.parent / name).read_bytes()) for name in arrays]
    at = upload(visit("files"), *pair)
    shown = table(at, "File", "From")
    assert shown["File"].tolist() == ["x.probs.npy"]
    assert shown["State"].tolist() == ["loaded"]


def test_it_can_be_removed(data: Path, visit: Visit) -> None:
    assert data.exists()
    at = upload(visit("files"), ("a.jsonl", jsonl(quiz(60))), ("b.jsonl", jsonl(samples(30))))
    folder = next(iter(at.session_state["_uploads"].paths_by_label.values())).parent
    at.button(key="remove_uploaded--a.jsonl").click()
    assert table(screens.run(at), "File")["File"].tolist() == ["b.jsonl"]
    assert [path.name for path in folder.iterdir()] == ["b.jsonl"]
    at.button(key="remove_uploads").click()
    assert "no prediction file" in "\n".join(info.value for info in screens.run(at).info)
    assert not folder.exists()


def test_the_field_stays_until_something_that_it_lists_is_removed(data: Path, visit: Visit) -> None:
    assert data.exists()
    at = upload(visit("files"), ("a.jsonl", jsonl(quiz(60))))
    field = at.file_uploader[0].key
    at = upload(at, ("b.jsonl", jsonl(samples(30))))
    assert table(at, "File")["File"].tolist() == ["a.jsonl", "b.jsonl"]
    assert at.file_uploader[0].key == field
    assert [len(file.getvalue()) for file in at.file_uploader[0].value] == [0]  # not kept in memory as well
    at.button(key="remove_uploaded--a.jsonl").click()
    assert screens.run(at).file_uploader[0].key != field
    assert table(at, "File")["File"].tolist() == ["b.jsonl"]


def test_files_dropped_on_start_are_among_those_of_files(data: Path, visit: Visit) -> None:
    assert data.exists()
    at = upload(visit("start"), ("b.jsonl", jsonl(quiz(70))), ("a.jsonl", jsonl(quiz(60))))
    assert "a.jsonl is loaded: 60 rows" in page_text(at)
    assert table(go(at, "files"), "File")["File"].tolist() == ["a.jsonl", "b.jsonl"]


@pytest.mark.parametrize("opened", ["start", "files"])
def test_why_a_file_was_not_kept_is_said_once(
    opened: str, data: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pages.state import uploads  # noqa: PLC0415 (the module that the app uses)

    monkeypatch.setattr(uploads, "MAX_SESSION_BYTES", 10)
    assert data.exists()
    at = upload(visit(opened), ("a.jsonl", jsonl(quiz(60))))
    assert "a.jsonl was not uploaded" in page_text(at)
    assert "not uploaded" not in page_text(screens.run(at))


def test_problems_of_an_upload_are_shown_under_its_label(data: Path, visit: Visit) -> None:
    assert data.exists()
    at = upload(visit("files"), ("../../colours (1).csv", b"colour,size\nred,1\n"))
    (message,) = (screens.plain(error.value) for error in at.error)
    assert message.startswith("../../colours (1).csv")
    assert str(next(iter(at.session_state["_uploads"].paths_by_label.values())).parent) not in page_text(at)


@pytest.mark.parametrize("label", ["![x](http://calib.invalid/a.png).csv", "<b>a</b>.csv", ":red[x] $y$.csv"])
def test_a_label_is_shown_as_text(label: str, data: Path, visit: Visit) -> None:
    assert data.exists()
    at = upload(visit("files"), (label, jsonl(quiz(60))))
    assert f"{label} · uploaded" in page_text(at)
    assert label not in "\n".join(expander.label for expander in at.expander)
    assert table(at, "File")["File"].tolist() == [label]
