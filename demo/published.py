"""Keep what known models answered, from published predictions: `python -m demo.published FOLDER`.

FOLDER holds the files named in `SOURCES`, as published, in any subfolders. Of them only facts are kept: the
id of a question, its subject, the right answer and the model's, the confidences, and the outcome. Recipes R5
to R8, one for each file.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from demo.manifest import record


@dataclass(frozen=True, slots=True)
class Published:
    """One data set of published predictions.

    Attributes
    ----------
    name : str
        The file in data/. Calib opens the first run of the first file, so the names begin with a number.
    recipe : str
    dataset : str
        What people read as the name of the data set.
    source : Mapping[str, object]
        Repository, commit, files, licence and copyright line.
    notes : tuple of str
        What a reader of the numbers needs to know; they end with the copyright line.
    rows : callable
        The folder with the source files → one row per model and question.
    """

    name: str
    recipe: str
    dataset: str
    source: Mapping[str, object]
    notes: tuple[str, ...]
    rows: Callable[[Path], pl.DataFrame]


class SourceFileError(Exception):
    """A file of the source is missing or there twice, or its rows are not those published."""


def find_file(folder: Path, name: str, parent: str = "") -> Path:
    """The one file of this name at any depth, in a folder whose name ends in `parent`."""
    found = [path for path in sorted(folder.rglob(name)) if path.parent.name.endswith(parent)]
    if len(found) != 1:
        raise SourceFileError(f"{name}: found {len(found)} times below {folder.name}, once is needed")
    return found[0]


# --- MMLU-Pro: three confidences an answer, 14 subjects -----------------------------------------------------

MMLU_PRO_MODELS: Final = (
    ("gpt-4.1-mini", None, "mmlu_pro_gpt-4.1-mini_eval_all_None.csv"),
    ("Qwen3-14B", 14.0, "mmlu_pro_Qwen3-14B-think_eval_all_None.csv"),
    ("Qwen2.5-7B", 7.0, "mmlu_pro_Qwen2.5-7B-Instruct_eval_all_None.csv"),
    ("Llama-3.1-8B", 8.0, "mmlu_pro_Meta-Llama-3.1-8B-Instruct-Turbo_eval_all_None.csv"),
)
"""Model as people read it, its size in billions as its name says, and the file of its answers."""

_CSV_TYPES: Final = {
    "category": pl.String,
    "correct_answer": pl.String,
    "extracted_answer": pl.String,
    "verbal_numerical_confidence": pl.Float64,
    "logit_perplexity_confidence": pl.Float64,
    "verbal_linguistic_confidence": pl.Float64,
}


def mmlu_pro_rows(folder: Path) -> pl.DataFrame:
    """The rows of the four models; row i of each file is question i of the test set.

    An empty answer is wrong. A confidence in words above 1 is left empty, as it is no confidence.

    Raises
    ------
    SourceFileError
        Where the four files are not about the same questions in the same order.
    """
    parts: list[pl.DataFrame] = []
    for model, params_b, name in MMLU_PRO_MODELS:
        told = pl.read_csv(find_file(folder, name), schema_overrides=_CSV_TYPES)
        wording = pl.col("verbal_linguistic_confidence")
        parts.append(
            told.select(
                model=pl.lit(model),
                params_b=pl.lit(params_b, dtype=pl.Float64),
                id=pl.format("mmlu-pro-{}", pl.int_range(1, pl.len() + 1).cast(pl.String).str.zfill(5)),
                subject="category",
                gold="correct_answer",
                prediction="extracted_answer",
                correct=(pl.col("extracted_answer") == pl.col("correct_answer")).fill_null(value=False),
                verbal_confidence="verbal_numerical_confidence",
                **{
                    "confidence.mean-token-probability": pl.col("logit_perplexity_confidence"),
                    "confidence.wording": pl.when(wording <= 1).then(wording),
                },
            )
        )
    questions = [part.select("id", "subject", "gold") for part in parts]
    if any(not questions[0].equals(other) for other in questions[1:]):
        raise SourceFileError("the models were not asked the same questions in the same order")
    return pl.concat(parts)


# --- MMLU: the probability of the answer's letter -----------------------------------------------------------

MMLU_MODELS: Final = (
    ("gpt-4-turbo", None, "gpt-4-turbo", "a"),
    ("Llama-3-70B", 70.0, "Llama3-70b", "b"),
    ("Llama-3-8B", 8.0, "Llama3-8b", "b"),
    ("Mistral", None, "Mistral", "a"),
)
"""Model, size in billions, its name in the file names, and which order of questions its files follow."""

_QUESTIONS: Final = 6_000
_FILE_QUESTIONS: Final = 500
_OUTCOMES: Final = {"Correct": True, "Wrong": False, "Unparseable": None}


def mmlu_rows(folder: Path) -> pl.DataFrame:
    """The rows of the four models. An unparseable answer has no outcome, so no method uses its row.

    The files name no questions. Outcomes of the two Llama models correlate row by row in each of the twelve
    files, and so do those of the other two, but not across: the pairs were asked in different orders, and
    only within a pair do rows get the same id.
    """
    parts: list[pl.DataFrame] = []
    for model, params_b, stem, order in MMLU_MODELS:
        names = [
            f"mmlu_{stem}-q{start}to{start + _FILE_QUESTIONS}_no_abst_norm_logits_first_prompt.txt"
            for start in range(0, _QUESTIONS, _FILE_QUESTIONS)
        ]
        told = pl.concat(pl.read_csv(find_file(folder, name), separator=" ") for name in names)
        if told.height != _QUESTIONS:
            raise SourceFileError(f"{model}: {told.height} rows, not {_QUESTIONS}")
        parts.append(
            told.select(
                model=pl.lit(model),
                params_b=pl.lit(params_b, dtype=pl.Float64),
                id=pl.format(
                    f"mmlu-{order}-{{}}", pl.int_range(1, pl.len() + 1).cast(pl.String).str.zfill(4)
                ),
                correct=pl.col("grade").replace_strict(_OUTCOMES, return_dtype=pl.Boolean),
                confidence=pl.col("confidence_level").cast(pl.Float64),
            )
        )
    return pl.concat(parts)


# --- CommonsenseQA: five ways of training one model ---------------------------------------------------------

COMMONSENSEQA_SYSTEMS: Final = ("Base", "RLVR", "RLVR-Classifier", "Answer-Prob", "RLCR")
"""The systems as the source names them, untrained first."""


def commonsenseqa_rows(folder: Path) -> pl.DataFrame:
    """The rows of the five systems, which answered the same questions."""
    told = pl.read_ipc_stream(
        find_file(folder, "data-00000-of-00001.arrow", "commonsenseqa"), use_pyarrow=False
    )
    return pl.concat(
        told.select(
            model=pl.lit(f"Qwen2.5-7B {system}"),
            params_b=pl.lit(7.0),
            tuning=pl.lit(system),
            id=pl.col("id").cast(pl.String),
            gold="answerKey",
            correct=pl.col(f"{system}-evals").list.first() == 1,
            confidence=pl.col(f"{system}-confidence_levels").list.first(),
        )
        for system in COMMONSENSEQA_SYSTEMS
    )


# --- MMLU-Redux: one answer each of 14 models ---------------------------------------------------------------

MMLU_REDUX_FILE: Final = "all.csv"
MMLU_REDUX_FACTS: Final = ("question", "choices", "groundtruth_answer", "error_type")
MMLU_REDUX_MODELS: Final = 14
MMLU_LETTERS: Final = "ABCD"


def mmlu_redux_rows(folder: Path) -> pl.DataFrame:
    """One row per question: the letters of the panel in the source's order, null where it is none of four.

    Raises
    ------
    SourceFileError
        Where the columns are not those published.
    """
    told = pl.read_csv(find_file(folder, MMLU_REDUX_FILE), infer_schema=False)
    votes = told.columns[len(MMLU_REDUX_FACTS) :][:MMLU_REDUX_MODELS]
    if tuple(told.columns[: len(MMLU_REDUX_FACTS)]) != MMLU_REDUX_FACTS or not all("_" in it for it in votes):
        raise SourceFileError(f"{MMLU_REDUX_FILE}: its columns are not those published")
    letter = {str(place): letter for place, letter in enumerate(MMLU_LETTERS)}
    read = [pl.when(pl.col(name).is_in(list(MMLU_LETTERS))).then(pl.col(name)) for name in votes]
    return told.select(
        model=pl.lit(f"Panel of {MMLU_REDUX_MODELS} models"),
        id=pl.format("mmlu-redux-{}", pl.int_range(1, pl.len() + 1).cast(pl.String).str.zfill(4)),
        error_type="error_type",
        gold=pl.col("groundtruth_answer").replace_strict(letter),
        samples=pl.concat_list(read),
    )


# --- All of them --------------------------------------------------------------------------------------------

SOURCES: Final = (
    Published(
        name="1-mmlu-pro.answers.parquet",
        recipe="R5.1",
        dataset="MMLU-Pro",
        source={
            "repository": "https://github.com/Linwei94/LLM-Calibration-Study",
            "commit": "ddc349e31695f3c2f8b8dfb2c3376a720914df55",
            "files": [f"results/{name}" for _, _, name in MMLU_PRO_MODELS],
            "licence": "MIT",
            "copyright": "Copyright (c) OpenAI",
        },
        notes=(
            "Answers of four models to the test set of MMLU-Pro, published with an LLM calibration study.",
            "An empty answer counts as wrong. 20 scores of wording above 1 are left empty.",
            (
                "verbal_confidence: stated by the model. confidence.mean-token-probability: over the whole "
                "answer. confidence.wording: how the answer is hedged in words, as scored by the authors."
            ),
        ),
        rows=mmlu_pro_rows,
    ),
    Published(
        name="2-mmlu.answers.parquet",
        recipe="R6.1",
        dataset="MMLU",
        source={
            "repository": "https://github.com/bplaut/llm-calibration-and-correctness-prediction",
            "commit": "c176fdd333ed3915c14c031e8ac3baf30698be22",
            "files": ["main_results/mmlu_MODEL-qAtoB_no_abst_norm_logits_first_prompt.txt"],
            "licence": "MIT",
            "copyright": "Copyright (c) 2024 Ben Plaut",
        },
        notes=(
            "6,000 answers of each of four models to MMLU, with the probability of the letter they chose.",
            "Unparseable answers have no outcome.",
            (
                "The source names no questions: only gpt-4-turbo and Mistral, and the two Llama models, can "
                "be paired."
            ),
        ),
        rows=mmlu_rows,
    ),
    Published(
        name="3-commonsenseqa.answers.parquet",
        recipe="R7.1",
        dataset="CommonsenseQA",
        source={
            "repository": "https://github.com/damanimehul/RLCR",
            "commit": "8904bedf1af827e0a1bcc3c907bf505d88540bd2",
            "files": ["eval_outputs/Hotpot-models/commonsenseqa/data-00000-of-00001.arrow"],
            "licence": "MIT",
            "copyright": "Copyright (c) 2025 damanimehul",
        },
        notes=(
            (
                "Qwen2.5-7B, untrained and after training to say how sure it is (Damani et al., 2025, "
                "arXiv:2507.16806)."
            ),
        ),
        rows=commonsenseqa_rows,
    ),
    Published(
        name="4-mmlu-redux.answers.parquet",
        recipe="R8.1",
        dataset="MMLU-Redux",
        source={
            "repository": "https://github.com/aryopg/mmlu-redux",
            "commit": "4563cfa79b659d76716e5b6019f46bba85fa02db",
            "files": [f"outputs/multi_expert_helm/{MMLU_REDUX_FILE}"],
            "licence": "CC-BY-4.0",
            "copyright": 'MMLU-Redux, Gema et al., "Are We Done with MMLU?"',
        },
        notes=(
            "A panel: each of 14 models answered once. The 14 answers are no samples of one model.",
            "error_type: what the authors found wrong with the question; gold is the label of MMLU.",
        ),
        rows=mmlu_redux_rows,
    ),
)


def write(source: Path, folder: Path) -> None:
    """Write the files into `folder` from those in `source`, and their entries in the manifest.

    Raises
    ------
    SourceFileError
        Where a file is missing, or is not as published.
    """
    for one in SOURCES:
        rows, told = one.rows(source), one.source
        metadata: dict[str, Any] = {
            "format": "calib-answers",
            "version": 1,
            "dataset": one.dataset,
            "created_by": f"python -m demo.published, recipe {one.recipe}",
            "notes": [
                *one.notes,
                f"From {told['repository']}. {told['licence']} licence, {told['copyright']}.",
            ],
        }
        rows.write_parquet(
            folder / one.name,
            compression="zstd",
            compression_level=19,
            row_group_size=rows.height,
            metadata={"calib": json.dumps(metadata, ensure_ascii=False)},
        )
        record(
            folder,
            {one.name: rows.height},
            recipe=one.recipe,
            seed=None,
            made_with=("polars",),
            source=one.source,
        )


def main() -> None:
    """Write the files of data/ from the folder named on the command line."""
    parser = ArgumentParser(prog="python -m demo.published", description="Keep what known models answered.")
    parser.add_argument("folder", type=Path, help="the folder with the published files, in any subfolders")
    write(parser.parse_args().folder, Path(__file__).parent.parent / "data")


if __name__ == "__main__":
    main()
