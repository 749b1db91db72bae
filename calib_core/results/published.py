"""What did the papers publish, and does it hold here? Their numbers beside one's own, their findings judged.

A finding is judged on each run by the statistics that the pages show anyway: what noise alone gives, paired
differences corrected by Holm's method, and verdicts. Where these decide nothing, the finding is inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import polars as pl

from calib_core.edges import Scheme
from calib_core.inference.verdict import MIN_ROWS, SIGNIFICANCE_LEVEL
from calib_core.methods import METHODS, in_order
from calib_core.metrics import METRICS
from calib_core.results.best import PairDifference, PairedComparison, abbreviated_list
from calib_core.results.changes import Contrast, change_phrase, difference_text
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.groups import paired_contrasts
from calib_core.results.methods_table import MethodsTable
from calib_core.results.robustness import PAPER_BINS, Sweep, SweepCurve, significant_ends
from calib_core.results.training import Training, TrainingLine
from calib_core.runs import AnswerRun, Run
from calib_core.wording import as_clause, format_percent, join_names

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


# --- Findings, judged on the loaded runs ----------------------------------------------------------

JudgementKind = Literal["holds", "fails", "unknown"]
"""Whether a finding holds in a run, clearly does not, or is inconclusive."""

FindingKind = Literal["holds", "fails", "unknown", "mixed", "none"]
"""As `JudgementKind` over all runs; "mixed" where they differ, "none" where no result was published."""

FINDING_WORDS: Final[Mapping[FindingKind, str]] = MappingProxyType(
    {
        "holds": "holds here",
        "fails": "does not hold here",
        "unknown": "inconclusive",
        "none": "nothing to compare",
    }
)
"""How a finding is judged, in words; of a mixed one the runs are counted."""

MAX_DETAILS: Final = 2
"""Runs of each kind whose numbers a sentence on a finding gives; the others are counted."""

OTHER_DATA_NOTE: Final = (
    "Published numbers come from other models and questions, so a difference from them tests nothing."
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A finding judged on one run.

    Attributes
    ----------
    subject : str
        The run or line; may be "".
    kind : {"holds", "fails", "unknown"}
    detail : str
        The numbers, or why it is inconclusive, as the end of a sentence without a full stop.
    """

    subject: str
    kind: JudgementKind
    detail: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a paper, judged on the loaded runs.

    Attributes
    ----------
    published : str
        What the paper says, as a sentence without a full stop.
    judgements : tuple[Judgement, ...]
        One for each run; () where the paper gives no result.
    """

    published: str
    judgements: tuple[Judgement, ...] = ()

    @property
    def kind(self) -> FindingKind:
        """The judgement on all runs together."""
        kinds: list[FindingKind] = [judgement.kind for judgement in self.judgements]
        if len(set(kinds)) > 1:
            return "mixed"
        return kinds[0] if kinds else "none"

    @property
    def verdict(self) -> str:
        """ "holds here", "holds on 2 of 3 runs, inconclusive on 1"."""
        kind = self.kind
        if kind != "mixed":
            return FINDING_WORDS[kind]
        counts = {
            phrase: sum(judgement.kind == kind for judgement in self.judgements)
            for kind, phrase in (
                ("holds", "holds on"),
                ("fails", "does not hold on"),
                ("unknown", "inconclusive on"),
            )
        }
        (first, n_first), *others = [(phrase, count) for phrase, count in counts.items() if count]
        opening = f"{first} {n_first} of {len(self.judgements)} runs"
        return ", ".join([opening, *(f"{phrase} {count}" for phrase, count in others)])

    @property
    def details(self) -> str:
        """The numbers of a few runs of each kind, or why it is inconclusive; "" without runs."""
        parts: list[str] = []
        for kind, word in (
            ("holds", "holds for"),
            ("fails", "does not hold for"),
            ("unknown", "inconclusive for"),
        ):
            of_kind = [judgement for judgement in self.judgements if judgement.kind == kind]
            texts = [
                f"{judgement.subject} ({judgement.detail})" if judgement.subject else judgement.detail
                for judgement in of_kind[:MAX_DETAILS]
            ]
            if hidden := len(of_kind[MAX_DETAILS:]):
                texts.append(f"{hidden:,} more")
            if texts:
                parts.append(f"{word if self.kind == 'mixed' else ''} {join_names(texts)}".strip())
        return "; ".join(parts)

    @property
    def sentence(self) -> str:
        """What the paper says, and the numbers here that it is judged by."""
        return f"Published: {self.published}.{f' Here: {self.details}.' if self.details else ''}"


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTable:
    """A paper's numbers with one's own runs as further columns.

    Attributes
    ----------
    title : str
        What all numbers are of, such as the data set; "" for none.
    rows : Mapping[str, str]
        Row key → title.
    published_columns : Mapping[str, str]
        Column key → one of the paper's models.
    own_columns : Mapping[str, str]
        Run key → title.
    values : Mapping[tuple[str, str], float]
        (row key, published column or run key) → value; missing where there is none.
    reference : str
        The published column that differences are from; "" where the data are others, which have none.
    in_percent : bool
    """

    title: str
    rows: Mapping[str, str]
    published_columns: Mapping[str, str]
    own_columns: Mapping[str, str]
    values: Mapping[tuple[str, str], float]
    reference: str = ""
    in_percent: bool = False

    def difference(self, row: str, run: str) -> float | None:
        """The run's value less that of the reference column; None where one of them is missing."""
        own, published = self.values.get((row, run)), self.values.get((row, self.reference))
        return None if own is None or published is None else own - published

    def to_frame(self) -> pl.DataFrame:
        """One row for each number: table, number, column, published, value, difference (from `reference`)."""
        columns = {key: (key, True) for key in self.published_columns}
        columns |= {run: (title, False) for run, title in self.own_columns.items()}
        records = [
            {
                "table": self.title,
                "number": title,
                "column": name,
                "published": published,
                "value": self.values[row, key],
                "difference": None if published else self.difference(row, key),
            }
            for row, title in self.rows.items()
            for key, (name, published) in columns.items()
            if (row, key) in self.values
        ]
        return pl.DataFrame(records, schema=_COMPARISON_SCHEMA)


@dataclass(frozen=True, slots=True, eq=False)
class PublishedComparison:
    """A paper's tables with one's own runs as further columns, and its findings judged on them.

    Attributes
    ----------
    source, setting : str
        Where the numbers are printed, and how they were made.
    judged_by : str
        By which statistics the findings are judged, as the end of a sentence.
    findings : tuple[Finding, ...]
    tables : tuple of PublishedTable
        () where the paper prints no numbers, or none of the runs' data.
    remarks : tuple[str, ...]
        Why runs or numbers are not in a table.
    """

    source: str
    setting: str
    judged_by: str
    findings: tuple[Finding, ...]
    tables: tuple[PublishedTable, ...] = ()
    remarks: tuple[str, ...] = ()


_COMPARISON_SCHEMA: Final = {
    "table": pl.String,
    "number": pl.String,
    "column": pl.String,
    "published": pl.Boolean,
    "value": pl.Float64,
    "difference": pl.Float64,
}


# --- The Full-ECE paper: the RSD over M -----------------------------------------------------------

RSD_MODELS: Final = ("2B", "7B")
"""The two models of the Full-ECE paper, by their parameters."""

_RSD_ROWS: Final = ("cw_ece", "full_ece", "ece")

MAX_NOISE_SHARE: Final = 0.5
"""Up to this share of Full-ECE at the largest M may be what chance gives, for its larger RSD to count."""

OTHER_BINS: Final = f"the paper's RSD is over M in {{{', '.join(map(str, PAPER_BINS))}}} with ddof 0"


def compare_rsd(sweeps: Mapping[str, Sweep]) -> PublishedComparison:
    """The paper's RSD over M beside that of one's own runs, which are of other data.

    Parameters
    ----------
    sweeps : Mapping[str, Sweep]
        Run title → its sweep.
    """
    values = {(metric, model): rsd for metric, model, rsd in published_rsd().iter_rows()}
    own_columns: dict[str, str] = {}
    remarks: dict[str, None] = {}
    for number, (run, sweep) in enumerate(sweeps.items()):
        if _differs_from_paper(sweep):
            remarks[f"Your RSD is left out of this table: {OTHER_BINS}."] = None
            continue
        own = {
            (curve.metric, f"run {number}"): curve.rsd
            for curve in sweep.curves
            if curve.metric in _RSD_ROWS and curve.rsd is not None
        }
        values |= own
        own_columns |= {f"run {number}": run} if own else {}
    return PublishedComparison(
        source=RSD_SOURCE,
        setting="RSD over M in {5, 10, 20, 50, 100, 200, 500}; two GPT models trained on 1T tokens",
        judged_by="the two RSDs, where Full-ECE is more than chance and they differ by more than noise",
        findings=(
            Finding(
                "Full-ECE depends less on M than cw-ECE: RSD 7.56 % and 8.36 % against 40.93 % and 44.90 %",
                tuple(_judge_rsd(run, sweep) for run, sweep in sweeps.items()),
            ),
        ),
        tables=(
            PublishedTable(
                "",
                rows={metric: f"RSD of {METRICS[metric].title_in_sentence}" for metric in _RSD_ROWS},
                published_columns={model: model for model in RSD_MODELS},
                own_columns=own_columns,
                values=values,
                in_percent=True,
            ),
        ),
        remarks=tuple(remarks),
    )


def _differs_from_paper(sweep: Sweep) -> bool:
    return sweep.bins != PAPER_BINS or sweep.ddof != 0


def _judge_rsd(run: str, sweep: Sweep) -> Judgement:
    """Whether Full-ECE has the smaller RSD of the two, by more than noise moves either.

    Notes
    -----
    Where Full-ECE is within chance, its RSD is noise and decides nothing. The margin is the root of the
    summed squares of half the bands (5th to 95th percentile) of both RSDs in draws of a calibrated model.
    Noise raises the RSD of Full-ECE, so a larger one counts only where most of the value is no noise.
    """
    curves = {curve.metric: curve for curve in sweep.curves}
    if reason := _no_rsd_reason(sweep, curves):
        return Judgement(run, "unknown", reason)
    full, classwise = curves["full_ece"], curves["cw_ece"]
    full_rsd, classwise_rsd = full.rsd or 0.0, classwise.rsd or 0.0
    numbers = f"RSD {format_percent(full_rsd)} against {format_percent(classwise_rsd)}"
    if full.null is None or not all(significant_ends(full.null)):
        noise = "but Full-ECE is not clearly above chance, so its RSD is noise"
        return Judgement(run, "unknown", f"{numbers}, {noise}")
    margin = math.hypot(*(_rsd_half_width(curve) or 0.0 for curve in (full, classwise)))
    if abs(classwise_rsd - full_rsd) <= margin:
        close = f"the difference is within noise ({format_percent(margin)})"
        return Judgement(run, "unknown", f"{numbers}, {close}")
    if full_rsd < classwise_rsd:
        return Judgement(run, "holds", numbers)
    largest = full.values[-1] or 0.0
    if full.null.median[-1] > MAX_NOISE_SHARE * largest:
        noise = f"but more than half of Full-ECE at M = {full.bins[-1]} is chance"
        return Judgement(run, "unknown", f"{numbers}, {noise}")
    return Judgement(run, "fails", numbers)


def _no_rsd_reason(sweep: Sweep, curves: Mapping[str, SweepCurve]) -> str:
    """Why the RSD of Full-ECE and of cw-ECE cannot be compared, "" where they can."""
    if _differs_from_paper(sweep):
        return OTHER_BINS
    for metric in ("full_ece", "cw_ece"):
        if metric not in curves:
            reason = as_clause(sweep.unavailable.get(metric, "it is not among the chosen metrics"))
            return f"no {METRICS[metric].title}: {reason}"
    if sweep.n_used < MIN_ROWS:
        return f"below {MIN_ROWS} rows"
    of_both = [curves["full_ece"], curves["cw_ece"]]
    if any(curve.rsd is None for curve in of_both):
        return "not every M has one value"
    if any(_rsd_half_width(curve) is None for curve in of_both):
        return "what noise alone gives is not known"
    return ""


def _rsd_half_width(curve: SweepCurve) -> float | None:
    """Half the band of the RSD in draws; None where there is none, or not of rows that depend on others."""
    null = curve.null
    if null is None or not null.has_p or null.rsd_low is None or null.rsd_high is None:
        return None
    return (null.rsd_high - null.rsd_low) / 2


# --- The Full-ECE paper: over training ------------------------------------------------------------

TRAINING_SOURCE: Final = "Full-ECE paper (Liu et al. 2024), Figure 2"
TRAINING_METRIC: Final = "full_ece"


def compare_training(result: Training) -> PublishedComparison:
    """Whether Full-ECE falls over training, as in the paper's figure, which prints no numbers.

    Parameters
    ----------
    result : Training
        Of Full-ECE.
    """
    judgements = [_judge_fall(line) for line in result.followed_lines]
    reason = as_clause(next(iter(result.unavailable.values()), "no run here is a checkpoint"))
    return PublishedComparison(
        source=TRAINING_SOURCE,
        setting="Baichuan-2 7B over its checkpoints, M = 10; only plotted, so there is no number to show",
        judged_by="the paired difference of the last and the first checkpoint, corrected over lines (Holm)",
        findings=(
            Finding(
                "Full-ECE falls as training goes on",
                tuple(judgements) or (Judgement("", "unknown", reason),),
            ),
        ),
    )


def _judge_fall(line: TrainingLine) -> Judgement:
    """Whether the last checkpoint of a line is clearly lower than the first."""
    change = line.change
    if change is None:
        return Judgement(line.title, "unknown", "fewer than two of its checkpoints are informative")
    return _judge_lower(line.title, change)


def _judge_lower(subject: str, change: Contrast) -> Judgement:
    """Whether a paired difference is clearly below 0, above 0, or neither."""
    if change.difference is None:
        return Judgement(subject, "unknown", as_clause(change.reason or "the runs cannot be compared"))
    detail = f"{difference_text(change.difference)}, {change_phrase(change)}"
    if not change.is_clear:
        return Judgement(subject, "unknown", detail)
    return Judgement(subject, "holds" if change.difference.value < 0 else "fails", detail)


# --- The self-consistency paper: ECE and Brier score by method ------------------------------------

PAPER_METHODS: Final = _METHOD_ORDER
"""The methods of the self-consistency paper, in its order."""

SELF_CONSISTENCY: Final = ("cluster_number", "cluster_size", "pairwise")

PUBLISHED_MODELS: Final = tuple(_MODEL_TEMPERATURES)
"""The models of the self-consistency paper."""

_ROW_METRICS: Final[Mapping[str, str]] = MappingProxyType({"brier": "Brier", "ece": "ECE"})


def compare_published_methods(
    table: MethodsTable,
    titles: Mapping[str, str],
    has_choices: Mapping[str, bool],
    reference: str = PUBLISHED_MODELS[0],
    names: Mapping[str, str] | None = None,
) -> PublishedComparison:
    """The paper's ECE and Brier scores beside those of one's own runs on the same data set.

    Parameters
    ----------
    table : MethodsTable
    titles : Mapping[str, str]
        Run key → title.
    has_choices : Mapping[str, bool]
        Run key → whether its questions are multiple choice.
    reference : str
        One of `PUBLISHED_MODELS`: differences are from its numbers on the data set of the run.
    names : Mapping[str, str], optional
        Run key → name among the runs of its data set; its title where omitted.
    """
    names = names or titles
    runs_by_dataset: dict[str | None, list[str]] = {}
    for run in table.runs:
        runs_by_dataset.setdefault(published_dataset(table.datasets[run]), []).append(run)
    others = runs_by_dataset.pop(None, [])
    tables = tuple(
        _published_methods_table(
            table, dataset, {run: names[run] for run in runs_by_dataset[dataset]}, reference
        )
        for dataset in N_QUESTIONS
        if dataset in runs_by_dataset
    )
    unknown = list(dict.fromkeys(table.datasets[run] or "data without a name" for run in others))
    published = " and ".join(N_QUESTIONS)
    text = (
        f"The paper has no numbers for {abbreviated_list(unknown)}, only for {published}: no difference."
        if unknown
        else ""
    )
    return PublishedComparison(
        source=METHODS_SOURCE,
        setting=f"{published}; {METHODS_SETTING}",
        judged_by="paired differences in Brier score, corrected for all pairs (Holm) and the number of runs",
        findings=_method_findings(table, titles, has_choices),
        tables=tables,
        remarks=(text,) if text else (),
    )


def published_dataset(name: str | None) -> str | None:
    """The data set of the paper that a name means; None where it means another.

    Examples
    --------
    >>> published_dataset("openai/gsm8k"), published_dataset("math_qa"), published_dataset("gsm8k-hard")
    ('GSM8K', 'MathQA', None)
    """
    letters = "".join(filter(str.isalnum, (name or "").rpartition("/")[2].lower()))
    return next((dataset for dataset in N_QUESTIONS if dataset.lower() == letters), None)


def _published_methods_table(
    table: MethodsTable, dataset: str, own: Mapping[str, str], reference: str
) -> PublishedTable:
    """One data set's numbers in the paper, and those of the runs on it."""
    own_methods = in_order({id_ for run, id_ in table.cells if run in own})
    methods = [*PAPER_METHODS, *(id_ for id_ in own_methods if id_ not in PAPER_METHODS)]
    values: dict[tuple[str, str], float] = {}
    for method, model, ece, brier in (
        published_methods().filter(dataset=dataset).select("method", "model", "ece", "brier").iter_rows()
    ):
        values |= {(f"brier {method}", model): brier, (f"ece {method}", model): ece}
    for (run, method), cell in table.cells.items():
        if run in own:
            numbers = {"brier": cell.brier, "ece": cell.ece}
            values |= {
                (f"{metric} {method}", run): value for metric, value in numbers.items() if value is not None
            }
    return PublishedTable(
        f"{dataset}, {N_QUESTIONS[dataset]:,} questions",
        rows={
            f"{metric} {method}": f"{name}, {METHODS[method].short_title}"
            for metric, name in _ROW_METRICS.items()
            for method in methods
        },
        published_columns={model: model for model in PUBLISHED_MODELS},
        own_columns=own,
        values=values,
        reference=reference,
    )


def has_choices(run: Run) -> bool:
    """Whether the questions of a run are multiple choice."""
    return isinstance(run, AnswerRun) and run.has_columns("choices")


def _method_findings(
    table: MethodsTable, titles: Mapping[str, str], has_choices: Mapping[str, bool]
) -> tuple[Finding, ...]:
    runs = list(table.runs)
    with_choices = [run for run in runs if has_choices.get(run)]
    open_answers = [run for run in runs if not has_choices.get(run)]
    n_runs = len([run for run in runs if run in table.paired])

    def judged(
        of: Sequence[str], better: Sequence[str], worse: Sequence[str], kind: str
    ) -> tuple[Judgement, ...]:
        if not of:
            return (Judgement("", "unknown", f"no run here is of {kind}"),)
        return tuple(_judge_order(titles[run], table.paired.get(run), better, worse, n_runs) for run in of)

    return (
        Finding(
            "one of F_CN, F_CS and F_PC has the lowest Brier score, in all 8 columns",
            tuple(_judge_self_consistency(titles[run], table.paired.get(run), n_runs) for run in runs)
            or (Judgement("", "unknown", "no run here has a confidence and an outcome"),),
        ),
        Finding(
            "F_CN is weak on multiple choice: its Brier score is above those of F_CS and F_PC in all 4 "
            "columns of MathQA",
            judged(with_choices, ("cluster_size", "pairwise"), ("cluster_number",), "multiple choice"),
        ),
        Finding(
            "on open answers the Brier score of F_PC is above those of F_CN and F_CS, in all 4 columns of "
            "GSM8K",
            judged(open_answers, ("cluster_number", "cluster_size"), ("pairwise",), "open answers"),
        ),
    )


def _clear_pair(
    paired: PairedComparison, first: str, second: str, n_runs: int
) -> tuple[PairDifference | None, bool]:
    """The difference in Brier score, and whether it is clear; corrected for all pairs, and for all runs."""
    pair = paired.pair("brier", first, second)
    return pair, pair is not None and pair.p_holm * max(n_runs, 1) <= SIGNIFICANCE_LEVEL


def _judge_order(
    subject: str, paired: PairedComparison | None, better: Sequence[str], worse: Sequence[str], n_runs: int
) -> Judgement:
    """Whether each of `better` has a clearly lower Brier score than each of `worse`."""
    missing = _missing_methods(paired, (*better, *worse))
    if paired is None or missing:
        return Judgement(subject, "unknown", missing)
    outcomes: list[JudgementKind] = []
    for one in better:
        for other in worse:
            pair, clear = _clear_pair(paired, one, other, n_runs)
            if pair is None:
                return Judgement(subject, "unknown", _unpaired_reason(paired))
            outcomes.append("unknown" if not clear else "holds" if pair.test.difference < 0 else "fails")
    brier = paired.values["brier"]
    numbers = ", ".join(_name_and_brier(id_, brier) for id_ in (*better, *worse))
    if "fails" in outcomes:
        return Judgement(subject, "fails", f"Brier {numbers}")
    if all(outcome == "holds" for outcome in outcomes):
        return Judgement(subject, "holds", f"Brier {numbers}")
    return Judgement(subject, "unknown", f"Brier {numbers}, not all clearly different")


def _judge_self_consistency(subject: str, paired: PairedComparison | None, n_runs: int) -> Judgement:
    """Whether some self-consistency method has a clearly lower Brier score than every other method shown."""
    missing = _missing_methods(paired, SELF_CONSISTENCY)
    if paired is None or missing:
        return Judgement(subject, "unknown", missing)
    brier = paired.values["brier"]
    others = [id_ for id_ in brier if id_ not in SELF_CONSISTENCY]
    if not others:
        return Judgement(subject, "unknown", "no other confidence is shown beside them")
    leader, rival = (min(ids, key=brier.__getitem__) for ids in (SELF_CONSISTENCY, others))
    numbers = f"Brier {_name_and_brier(leader, brier)}, {_name_and_brier(rival, brier)}"

    def beats_all(winner: str, losers: Sequence[str]) -> bool:
        pairs = [_clear_pair(paired, winner, loser, n_runs) for loser in losers]
        return all(clear and pair is not None and pair.test.difference < 0 for pair, clear in pairs)

    if beats_all(leader, others):
        return Judgement(subject, "holds", numbers)
    if beats_all(rival, SELF_CONSISTENCY):
        return Judgement(subject, "fails", numbers)
    reason = "not clearly different" if paired.pair("brier", leader, rival) else _unpaired_reason(paired)
    return Judgement(subject, "unknown", f"{numbers}, {reason}")


def _name_and_brier(method: str, brier: Mapping[str, float]) -> str:
    return f"{METHODS[method].short_title} {brier[method]:.4f}"


def _missing_methods(paired: PairedComparison | None, needed: Sequence[str]) -> str:
    """Why methods are not compared, "" where all are."""
    if paired is None:
        return "its methods are not compared on the same rows"
    missing = [METHODS[id_].short_title for id_ in needed if id_ not in paired.values["brier"]]
    return f"no {join_names(missing, 'or')}" if missing else ""


def _unpaired_reason(paired: PairedComparison) -> str:
    return min(paired.unpaired.values(), default="no difference can be tested")


# --- The MMLU replication: shots, size and tuning -------------------------------------------------

MMLU_SOURCE: Final = "MMLU calibration replication after Kadavath et al. 2022"
MMLU_SETTING: Final = (
    "57 subjects, 0-shot and “5-shot” (4 extra questions are described), Llama 7b-chat and 13b-chat; only "
    "diagrams, so that there is no number to show"
)


def compare_mmlu(
    evidences: Mapping[str, AnswerEvidence], scheme: Scheme | None = None
) -> PublishedComparison:
    """What the replication says of size, shots and tuning, judged by paired differences of the ECE.

    Parameters
    ----------
    evidences : Mapping[str, AnswerEvidence]
        Run key → the run as seen by one method.
    scheme : Scheme, optional
        Ten bins of equal width where omitted.
    """
    contrasts = {
        fact: paired_contrasts(evidences, fact, "ece", scheme) for fact in ("params", "shots", "tuning")
    }
    by_size = tuple(
        _judge_lower(f"ECE of {contrast.level} less {contrast.reference_level}", contrast)
        for contrast in contrasts["params"]
    )
    no_sizes = (Judgement("", "unknown", "no two runs here differ in size and in nothing else"),)
    return PublishedComparison(
        source=MMLU_SOURCE,
        setting=MMLU_SETTING,
        judged_by="paired differences in ECE of runs that differ in nothing else, corrected (Holm)",
        findings=(
            Finding("the larger model, 13b-chat, lies closer to the diagonal", by_size or no_sizes),
            Finding(_without_result("0-shot and 5-shot are both drawn", contrasts["shots"])),
            Finding(_without_result("fine-tuning is a heading", contrasts["tuning"])),
            Finding("subject is a heading, without a result"),
        ),
    )


def _without_result(opening: str, contrasts: Sequence[Contrast]) -> str:
    """What is published without a result, and what one's own runs show."""
    own = "; ".join(
        f"{contrast.level} less {contrast.reference_level}, {difference_text(contrast.difference)}, "
        f"{change_phrase(contrast)}"
        for contrast in contrasts
        if contrast.difference is not None
    )
    return f"{opening}, without a result{f'. Here the ECE differs: {own}' if own else ''}"
