"""The good files to corrupt: one small file of each format, with its companion files."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
import zstandard

import token_files
from core.readers import saved_sums
from fixture_files import FIXTURES
from predictions import choices, quiz, samples, write_csv, write_jsonl


@dataclass(frozen=True, slots=True)
class Good:
    """One file and those beside it.

    files: name → bytes; main: the one that is opened; gold: the table of right answers among them, "" where
    none is; records: how its records are told apart (`careful.RECORDS`),
    "" where only the program itself knows; numbered: whether gold is joined on the records' numbers.
    """

    id: str
    main: str
    files: Mapping[str, bytes]
    records: str = ""
    gold: str = ""
    numbered: bool = False
    binary: frozenset[str] = field(default_factory=frozenset[str])


def goods(folder: Path) -> tuple[Good, ...]:
    """All of them; folder: an empty one."""
    return (*_tables(folder), *_arrays(folder), *_logs())


def _tables(folder: Path) -> list[Good]:
    csv = write_csv(folder / "quiz.csv", quiz(40)).read_bytes()
    lists = write_csv(folder / "four.csv", choices(30)).read_bytes()
    lines = write_jsonl(folder / "four.jsonl", choices(30)).read_bytes()
    answered = write_jsonl(folder / "said.jsonl", quiz(30)).read_bytes()
    sampled = write_jsonl(folder / "ten.jsonl", samples(25)).read_bytes()
    whole = json.dumps(choices(20), indent=1).encode()
    top = token_files.write_topk(folder / "top.jsonl", rows=40).read_bytes()
    return [
        Good("csv", "quiz.csv", {"quiz.csv": csv}, "csv"),
        Good("csv-lists", "four.csv", {"four.csv": lists}, "csv"),
        Good("jsonl", "four.jsonl", {"four.jsonl": lines}, "jsonl"),
        Good("jsonl-quiz", "said.jsonl", {"said.jsonl": answered}, "jsonl"),
        Good("samples", "ten.jsonl", {"ten.jsonl": sampled}, "jsonl"),
        Good("json", "four.json", {"four.json": whole}, "json"),
        Good("topk", "top.jsonl", {"top.jsonl": top}, "topk"),
        _binary("parquet", "quiz.parquet", _parquet(quiz(40)), "parquet"),
        _binary("parquet-lists", "four.parquet", _parquet(choices(30)), "parquet"),
        _binary("arrow-stream", "quiz.arrow", _arrow(quiz(40), pa.ipc.new_stream), "arrow"),
        _binary("arrow-lists", "four.arrow", _arrow(choices(30), pa.ipc.new_file), "arrow"),
        _binary("arrow-zstd", "quiz.feather", _arrow(quiz(40), pa.ipc.new_file, "zstd"), "arrow"),
        _binary("gzip", "quiz.csv.gz", gzip.compress(csv, mtime=0), "gzip"),
        _binary("zstd", "four.jsonl.zst", zstandard.compress(lines), "zstd"),
        _binary("zip", "quiz.zip", _zip({"README.md": b"About it.", "quiz.csv": csv}), "zip"),
    ]


def _arrays(folder: Path) -> list[Good]:
    probs, target = token_files.positions(rows=40)
    saved_sums.save_runs(folder, saved_sums.make_run())
    stored = io.BytesIO()
    np.savez(stored, probs=probs, target=target)
    four = probs[:, :4].astype(np.float64)
    answers = io.BytesIO()
    np.savez_compressed(answers, probs=four / four.sum(axis=1, keepdims=True), gold=target % 4)
    pair = {"x.probs.npy": _npy(probs), "x.target.npy": _npy(target), "x.meta.json": b'{"model": "tiny"}'}
    return [
        _binary("npz-tokens", "tokens.npz", stored.getvalue(), "npz"),
        _binary("npz-answers", "answers.npz", answers.getvalue(), "npz"),
        Good("npy", "x.probs.npy", pair, "npy", binary=frozenset({"x.probs.npy", "x.target.npy"})),
        _binary("sums", "all.parquet", (folder / "all.parquet").read_bytes(), "sealed"),
    ]


LOGS: Final = (
    ("lm_eval", "lm_eval/shots0/fixture__tiny-7b", "samples_fx_mcq_*.jsonl", "results_*.json", ""),
    ("lm_eval-gen", "lm_eval/shots0/fixture__tiny-7b", "samples_fx_gen_*.jsonl", "results_*.json", ""),
    ("lm_eval-old", "lm_eval/legacy_hand_made", "*_mcq.jsonl", "", ""),
    ("inspect", "inspect/v0.3.285", "choice_eval.eval", "", ""),
    ("inspect-deflate", "inspect/v0.3.160", "choice_eval.eval", "", ""),
    ("helm", "helm/with_logprobs", "scenario_state.json", "*.json", ""),
    ("openai", "openai_batch", "batch_output.jsonl", "gold.csv", "jsonl"),
    ("openai-n", "openai_batch", "batch_output_n8.jsonl", "gold_n8.csv", "jsonl"),
    ("vllm", "vllm", "offline_request_output.jsonl", "", ""),
    ("tgi", "tgi", "generate_details.jsonl", "", ""),
    ("decisions", "decisions/langchain", "responses.jsonl", "gold.csv", "jsonl"),
    ("hle", "hle", "judged_hle_tiny.json", "", ""),
    ("opencompass", "opencompass", "ppl.json", "", ""),
    ("opencompass-details", "opencompass", "details_samples.json", "", ""),
    ("promptfoo", "promptfoo", "capitals.jsonl", "", "jsonl"),
    ("phoenix", "phoenix", "annotations.json", "", ""),
    ("opencompass-ll", "opencompass", "ll.json", "", ""),
    ("vllm-echo", "vllm", "completions_echo.jsonl", "", ""),
    ("canonical", "canonical", "example.answers.jsonl", "", ""),
    ("canonical-tokens", "canonical", "example.tokens.jsonl", "", ""),
)
"""Name, folder of `FIXTURES`, the file that is opened, those beside it, how its records are told apart."""


_ROW_GOLDS: Final = b"row,gold\n1,A\n2,B\n3,A\n"
GOLDS: Final = {"vllm": _ROW_GOLDS, "tgi": _ROW_GOLDS, "vllm-echo": b"custom_id,gold\ncap-0,Paris\n"}
"""Right answers of logs whose folder has no table of them."""


def _logs() -> list[Good]:
    """Logs that the tools themselves wrote."""
    logs = [_log(id_, FIXTURES / folder, main, beside, way) for id_, folder, main, beside, way in LOGS]
    packed = next(log for log in logs if log.id == "inspect-deflate")
    return [*logs, Good("inspect-json", "log.json", {"log.json": _unpacked(packed.files[packed.main])})]


def _unpacked(log: bytes) -> bytes:
    """The same log of the first six samples as one JSON object, as the tool writes it on wish."""
    with zipfile.ZipFile(io.BytesIO(log)) as archive:
        parts = sorted(name for name in archive.namelist() if name.startswith("samples/"))[:6]
        kept = [json.loads(archive.read(name)) for name in parts]
        return json.dumps({**json.loads(archive.read("header.json")), "samples": kept}).encode()


def _log(id_: str, folder: Path, main: str, beside: str, records: str) -> Good:
    opened = next(iter(sorted(folder.glob(main))))
    others = sorted(folder.glob(beside)) if beside else []
    found = {path.name: path.read_bytes() for path in (opened, *others)}
    if id_ in GOLDS:
        found["gold.csv"] = GOLDS[id_]
    gold = next((name for name in found if name.endswith(".csv")), "")
    binary = frozenset(name for name in found if name.endswith(".eval"))
    return Good(id_, opened.name, found, records, gold, id_ in ("vllm", "tgi"), binary)


def _binary(id_: str, name: str, data: bytes, records: str) -> Good:
    return Good(id_, name, {name: data}, records, binary=frozenset({name}))


def _parquet(rows: list[dict[str, object]]) -> bytes:
    stored = io.BytesIO()
    pl.DataFrame(rows).write_parquet(stored, compression="uncompressed")
    return stored.getvalue()


def _arrow(rows: list[dict[str, object]], writer: Any, compression: Any = None) -> bytes:
    """A dictionary and two batches of rows, if there are texts to make the dictionary of."""
    table = pa.Table.from_pylist(rows)
    if "subject" in table.column_names:
        texts = table.column("subject").dictionary_encode()
        table = table.set_column(table.column_names.index("subject"), "subject", texts)
    stored = io.BytesIO()
    with writer(stored, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as sink:
        sink.write_table(table, max_chunksize=len(rows) // 2)
    return stored.getvalue()


def _zip(members: Mapping[str, bytes]) -> bytes:
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return stored.getvalue()


def _npy(array: np.ndarray) -> bytes:
    stored = io.BytesIO()
    np.save(stored, array)
    return stored.getvalue()
