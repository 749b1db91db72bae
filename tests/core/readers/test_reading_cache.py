"""What was read once is loaded at the next start, and only where the same would be read."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from calib_core import readers
from calib_core.advice import set_surface
from calib_core.errors import Refused
from calib_core.readers import file_access, reading_cache
from calib_core.readers.format import AS_IT_LIES, ReadOptions
from calib_core.readers.reading_cache import load_or_read, pack_bytes, unpack_file
from calib_core.readers.sandbox.protocol import pack
from calib_core.results.defaults import default_method
from calib_core.results.files import SurveyedFile, check_file, survey_file
from calib_core.user_cache import CacheFolder
from predictions import choices, quiz, samples, write_csv, write_jsonl
from token_files import positions, write_npz, write_topk

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


class Start:
    """One start of the app after another: reads files through the same cache, and counts how often."""

    def __init__(self, folder: Path) -> None:
        self.cache = CacheFolder(folder, 2**30)
        self.n_read = 0
        self.while_reading: Callable[[], object] = lambda: None
        self.save: Callable[[Callable[[], None]], object] = lambda do_save: do_save()

    def read(
        self,
        path: Path,
        *,
        name: str = "",
        gold: Path | None = None,
        root: Path | None = None,
        format_id: str | None = None,
        options: ReadOptions = AS_IT_LIES,
    ) -> SurveyedFile:
        def read() -> SurveyedFile:
            self.n_read += 1
            reading = readers.read(
                path, name=name or path.name, format=format_id, options=options, gold=gold, root=root
            )
            self.while_reading()
            return survey_file(reading)

        return load_or_read(
            self.cache,
            SurveyedFile,
            path,
            read,
            name=name or path.name,
            gold=gold,
            root=root,
            parameters={"format": format_id, **asdict(options)},
            save=self.save,
        )


@pytest.fixture
def start(tmp_path: Path) -> Start:
    return Start(tmp_path / "cache")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "quiz.csv", quiz(40))


def as_data(value: object) -> tuple[object, list[bytes]]:
    tree, blobs = pack(value)
    return tree, [bytes(blob) for blob in blobs]


MADE: dict[str, Callable[[Path], Path]] = {
    "confidences": lambda folder: write_csv(
        folder / "quiz.csv", [*quiz(50), {**quiz(1)[0], "confidence": "85%"}]
    ),
    "choices": lambda folder: write_jsonl(folder / "four.jsonl", choices(60)),
    "samples": lambda folder: write_jsonl(folder / "ten.jsonl", samples()),
    "positions": lambda folder: write_npz(folder / "text.npz", positions()),
    "top-k": lambda folder: write_topk(folder / "top.jsonl"),
    "harness": lambda _: next((FIXTURES / "lm_eval").rglob("samples_*.jsonl")),
    "inspect": lambda _: next((FIXTURES / "inspect").rglob("*.eval")),
}


@pytest.mark.parametrize("kind", MADE)
def test_the_next_start_has_the_same_runs_and_evidence(kind: str, start: Start, tmp_path: Path) -> None:
    path = MADE[kind](tmp_path)
    first, second = start.read(path), start.read(path)
    assert start.n_read == 1
    assert as_data(first) == as_data(second)
    fresh, kept = check_file(readers.read(path)), second.report()
    assert (fresh.status, fresh.message, fresh.warnings) == (kept.status, kept.message, kept.warnings)
    for expected, found in zip(fresh.runs, kept.runs, strict=True):
        assert expected.usable == found.usable
        assert dict(expected.survey.unavailable) == dict(found.survey.unavailable)
        judged = [id_ for id_, one in found.survey.usable.items() if "verdict" in vars(one)]
        assert judged == ([default_method(expected.usable)] if expected.usable else [])
        for id_, evidence in expected.survey.usable.items():
            assert found.survey.usable[id_].remarks == evidence.remarks
            assert found.survey.usable[id_].recipe_parts == evidence.recipe_parts
            assert found.survey.usable[id_].verdict == evidence.verdict


def test_what_is_loaded_does_not_hold_the_whole_of_what_was_kept(start: Start, path: Path) -> None:
    kept = b"".join(bytes(part) for part in pack_bytes(start.read(path)))
    loaded = unpack_file(SurveyedFile, io.BytesIO(kept))
    assert loaded is not None
    [by_method] = loaded.confidences
    assert by_method
    for confidences in by_method.values():
        assert not np.shares_memory(confidences.pairs.confidence, np.frombuffer(kept, np.uint8))


def test_what_is_cut_off_anywhere_counts_as_absent(start: Start, path: Path) -> None:
    kept = b"".join(bytes(part) for part in pack_bytes(start.read(path)))
    assert unpack_file(SurveyedFile, io.BytesIO(kept)) is not None
    for length in range(0, len(kept), 7):
        assert unpack_file(SurveyedFile, io.BytesIO(kept[:length])) is None, length


def test_a_reading_may_be_kept_later(start: Start, path: Path) -> None:
    waiting: list[Callable[[], None]] = []
    start.save = waiting.append
    start.read(path)
    assert start.cache.size()[0] == 0
    [do_save] = waiting
    do_save()
    start.read(path)
    assert (start.n_read, len(waiting)) == (1, 1)


def test_what_changed_before_it_was_kept_is_not_kept(start: Start, path: Path) -> None:
    waiting: list[Callable[[], None]] = []
    start.save = waiting.append
    start.read(path)
    write_csv(path, quiz(41))
    waiting[0]()
    assert start.cache.size()[0] == 0


def test_the_same_content_elsewhere_is_not_read_again(start: Start, path: Path) -> None:
    start.read(path)
    (path.parent / "moved").mkdir()
    start.read(path.rename(path.parent / "moved" / path.name))
    assert start.n_read == 1


def test_a_file_read_otherwise_is_read_again(start: Start, path: Path) -> None:
    gold = write_csv(path.parent / "gold.csv", [{"id": row["id"], "gold": row["gold"]} for row in quiz(40)])
    log = write_csv(path.parent / "log.csv", [{**row, "gold": ""} for row in quiz(40)])
    start.read(path)
    start.read(path, name="folder/quiz.csv")
    start.read(path, options=ReadOptions({"verbal_confidence": "p_true"}))
    start.read(path, format_id="table")
    assert start.n_read == 4
    start.read(log)
    start.read(log, gold=gold)
    write_csv(gold, [{"id": row["id"], "gold": "0"} for row in quiz(40)])
    start.read(log, gold=gold)
    assert start.n_read == 7


def test_what_is_kept_is_worded_for_one_surface(start: Start, path: Path) -> None:
    path.write_text("colour,size\nred,1\n")
    assert "--map COLUMN=confidence" in start.read(path).report().message
    set_surface("page")
    assert start.read(path).report().message.endswith("Say below what a column means.")


def test_another_version_of_the_program_reads_anew(
    start: Start, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start.read(path)
    monkeypatch.setattr(reading_cache, "program_digest", lambda: "another")
    start.read(path)
    assert start.n_read == 2


def test_a_file_beside_it_counts_as_its_content(start: Start, tmp_path: Path) -> None:
    log = next((FIXTURES / "lm_eval").rglob("samples_*.jsonl"))
    stamp = log.stem.rpartition("_")[2]
    here = tmp_path / log.name
    here.write_bytes(log.read_bytes())
    start.read(here)
    (tmp_path / f"results_{stamp}.json").write_bytes((log.parent / f"results_{stamp}.json").read_bytes())
    start.read(here)
    assert start.n_read == 2


def test_a_file_that_changes_while_it_is_read_is_not_kept(start: Start, path: Path) -> None:
    start.while_reading = lambda: write_csv(path, quiz(41))
    start.read(path)
    start.while_reading = lambda: None
    assert list(start.cache.folder.glob("*")) == []
    assert start.read(path).reading.n_rows == 41
    assert start.read(path).reading.n_rows == 41
    assert start.n_read == 2


def test_an_entry_of_another_shape_counts_as_absent(start: Start, path: Path) -> None:
    expected = as_data(start.read(path))
    (entry,) = start.cache.folder.iterdir()
    tree = b'{"is": "Path", "of": {}}'
    for bad in (b"", b"\xff" * 9, len(tree).to_bytes(8, "little") + tree, b"\x01" + b"\0" * 7 + b"{"):
        start.cache.save(entry.name, [bad])
        assert as_data(start.read(path)) == expected
    assert start.n_read == 5


def test_a_large_unchanged_file_is_hashed_once(
    start: Start, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[object] = []
    digest = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *words: hashed.append(words) or digest(*words))
    monkeypatch.setattr(reading_cache, "REMEMBERED_BYTES", 0)
    start.read(path)
    assert len(hashed) == 2  # written just now, so its times may not tell it from a later version
    monkeypatch.setattr(file_access, "SETTLED_SECONDS", -60.0)
    for _ in range(3):
        start.read(path)
    assert len(hashed) == 3
    other = write_csv(path.with_name("other"), quiz(40, seed=6))
    os.truncate(other, path.stat().st_size)
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)
    start.read(path)
    assert (len(hashed), start.n_read) == (4, 2)


def test_a_refusal_is_not_kept(start: Start, path: Path) -> None:
    path.write_bytes(b"PAR1")
    for n_read in (1, 2):
        with pytest.raises(Refused):
            start.read(path)
        assert start.n_read == n_read
    assert not start.cache.folder.exists()


def test_a_link_out_of_the_folder_is_not_even_hashed(start: Start, path: Path, tmp_path: Path) -> None:
    start.read(path, root=None)
    (tmp_path / "inside").mkdir()
    link = tmp_path / "inside" / path.name
    link.symlink_to(path)
    with pytest.raises(Refused, match="out of the folder"):
        start.read(link, root=tmp_path / "inside")


def test_a_cache_of_no_size_reads_every_time(start: Start, path: Path) -> None:
    start.cache.max_bytes = 0
    start.read(path)
    start.read(path)
    assert start.n_read == 2
    assert not start.cache.folder.exists()
