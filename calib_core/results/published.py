"""What did the papers publish? Reference values to show beside one's own."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import polars as pl

RSD_SOURCE: Final = "Full-ECE paper (Liu et al. 2024), Table 1"
METHODS_SOURCE: Final = "Self-consistency paper (Wang et al., arXiv 2403.09849), Table 1"
METHODS_SETTING: Final = (
    "N = 16 samples (temperature 0.6 for the pretrained models, 1.0 for the instruct models), M = 10"
)

N_QUESTIONS: Final[Mapping[str, int]] = MappingProxyType({"GSM8K": 1319, "MathQA": 2985})
"""Data set → number of questions."""

_METHODS_SCHEMA: Final = {
    "dataset": pl.String,
    "questions": pl.Int64,
    "method": pl.String,
    "model": pl.String,
    "temperature": pl.Float64,
    "ece": pl.Float64,
    "brier": pl.Float64,
}

_MODEL_TEMPERATURES: Final[Mapping[str, float]] = MappingProxyType(
    {"Mistral-7B": 0.6, "Mistral-7B-Inst": 1.0, "Mixtral-8x7B": 0.6, "Mixtral-8x7B-Inst": 1.0}
)

_METHOD_ORDER: Final = ("logit_path", "logit_answer", "p_true", "cluster_number", "cluster_size", "pairwise")


_ECE_AND_BRIER: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "GSM8K": (
            ".394/.399 .414/.414 .178/.265 .233/.252",
            ".505/.488 .467/.458 .307/.312 .236/.238",
            ".127/.267 .406/.407 .070/.201 .195/.198",
            ".092/.186 .125/.182 .136/.157 .075/.092",
            ".148/.185 .163/.180 .173/.156 .085/.086",
            ".248/.229 .253/.226 .238/.194 .110/.096",
        ),
        "MathQA": (
            ".500/.499 .539/.510 .333/.380 .364/.373",
            ".356/.362 .291/.319 .266/.290 .220/.281",
            ".350/.309 .271/.317 .228/.253 .273/.272",
            ".331/.336 .374/.359 .143/.236 .128/.215",
            ".091/.225 .114/.227 .080/.190 .035/.171",
            ".052/.220 .065/.219 .143/.203 .054/.174",
        ),
    }
)
"""Data set → for each method a line of ECE/Brier, one for each model."""


def published_rsd() -> pl.DataFrame:
    """RSD over the seven M of the paper: metric (id), model (2 or 7 billion parameters), rsd in [0, 1]."""
    return pl.DataFrame(
        [
            ("cw_ece", "2B", 0.4093),
            ("cw_ece", "7B", 0.4490),
            ("full_ece", "2B", 0.0756),
            ("full_ece", "7B", 0.0836),
        ],
        schema=["metric", "model", "rsd"],
        orient="row",
    )


def published_methods() -> pl.DataFrame:
    """ECE and Brier score of six methods on two data sets, in the paper's order.

    Returns
    -------
    pl.DataFrame
        One row for each data set, method and model: dataset, questions, method (id), model, temperature,
        ece, brier (three decimals, as printed).
    """
    rows = [
        (dataset, N_QUESTIONS[dataset], method, model, temperature, float(ece), float(brier))
        for dataset, lines in _ECE_AND_BRIER.items()
        for method, line in zip(_METHOD_ORDER, lines, strict=True)
        for (model, temperature), pair in zip(_MODEL_TEMPERATURES.items(), line.split(), strict=True)
        for ece, brier in [pair.split("/")]
    ]
    return pl.DataFrame(rows, schema=_METHODS_SCHEMA, orient="row")
