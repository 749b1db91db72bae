"""The arguments and options that verbs share, with their help texts, and the groups they form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from calib_core.cli.option_groups import OptionGroup
from calib_core.edges import MAX_BINS, Binning, Scheme
from calib_core.errors import Refused
from calib_core.inference.decision_loss import ErrorCosts
from calib_core.methods import METHOD_IDS, METHODS
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.pairs import Labels
from calib_core.readers import FORMATS
from calib_core.results.judge import JUDGE_METRICS
from calib_core.results.judge_fairness import LabelsName
from calib_core.results.judge_labels import PASS_WORDS
from calib_core.results.judged_answer import JudgedChoice


def _parse_path(text: str) -> Path:
    if not text:  # Path("") would be the current folder
        raise typer.BadParameter("expected the name of a file, found ''")
    return Path(text)


FilesArgument: TypeAlias = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE", parser=_parse_path, help="Prediction files, or folders of them; - is standard input."
    ),
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON list on stdout and nothing else.")
]
SkipBadRowsOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows", help="Leave bad rows out. Without this option, a file with bad rows is not loaded."
    ),
]
FormatOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--format", metavar="ID", help=f"Read every FILE as: {', '.join(FORMATS)}."),
]
TogetherOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--together",
        help="Merge files that are parts of one evaluation, such as the subjects of MMLU, into one run; "
        "also plain tables with the same columns.",
    ),
]
ColumnMappingOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="COLUMN=NAME",
        help="Read this column or nested field (a.b.0) as NAME; without NAME, ignore the column. NAME may "
        "have a divisor (confidence/100), a logarithm (confidence:log; minus that: :nll), a direction "
        "(confidence:inverted, correct:not), numbers for words (confidence:high=.9|low=.3), a class "
        "(confidence:class:LABEL) or the values that mean right (correct:Yes|Mostly). row=id: the row number "
        "is the id. Repeatable.",
    ),
]
RowsOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--rows",
        metavar="PATH",
        help=(
            "The path of the rows in JSON, such as results.items, also inside every record of a list; a star "
            "matches every key (results.*), and each is a model, or {dataset} a data set. Default: Calib "
            "searches for them."
        ),
    ),
]
WideOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--wide",
        metavar='"*SUFFIX=NAME"',
        help="For files with several systems per row: read the matching columns as NAME, one run for "
        "each text that the star matches. Repeatable.",
    ),
]
MissingOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--missing", metavar="VALUE", help="A value that counts as missing, such as Unparseable. Repeatable."
    ),
]
DatasetOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--dataset",
        metavar="NAME",
        help="The name of the data set, for files that name none. A name in the file is kept.",
    ),
]
OnOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--on", metavar="KEY", help="Join --gold on this column, or on THIS=THAT. Default: the ids."
    ),
]
GoldMappingOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--map-gold",
        metavar="COLUMN=NAME",
        help="Read this column of --gold as NAME: id, gold, gold_index, gold_all, choices, subject, "
        "question, human, judge or correct, also with the values that mean right (correct:Yes|Mostly). "
        "Repeatable.",
    ),
]
GoldOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--gold",
        metavar="TABLE",
        parser=_parse_path,
        help="A table of right answers or outcomes by id, with columns such as id, answer, for files "
        "without them.",
    ),
]
CorrectionsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--corrections",
        metavar="TABLE",
        parser=_parse_path,
        help="A table of questions to leave out (id, leave_out) or whose right answer (gold) or outcome "
        "(correct) is corrected.",
    ),
]
RunOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--run", metavar="LABEL", help="Repeatable; default: all runs of the files."),
]
MethodOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="ID",
        help=f"Repeatable; default: all usable methods: {METHOD_IDS}.",
        autocompletion=lambda: [*METHODS],
    ),
]
MetricOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--metric", metavar="ID", help=f"Repeatable: {', '.join(METRICS)}.", autocompletion=lambda: [*METRICS]
    ),
]
BinsOption: TypeAlias = Annotated[
    int, typer.Option("--bins", metavar="M", min=1, max=MAX_BINS, help=f"Number of bins, 1 to {MAX_BINS}.")
]
BinsListOption: TypeAlias = Annotated[
    str, typer.Option("--bins", metavar="M,M,…", help=f"The numbers of bins, each 1 to {MAX_BINS}.")
]
DdofOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--ddof", min=0, max=1, help="Standard deviation for the RSD: population (0) or sample (1)."
    ),
]
BinningOption: TypeAlias = Annotated[
    Binning, typer.Option("--binning", help="Bins of equal width, of equal mass, or one per distinct value.")
]
LabelsOption: TypeAlias = Annotated[
    Labels,
    typer.Option("--labels", help="For rows with choices: use the top label, or all choices, one pair each."),
]
RenormaliseOption: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--renormalise/--no-renormalise",
        help="Divide by the sum over the choices. Default: the method's own default.",
    ),
]
SizesOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--sizes",
        metavar="N,N,…",
        help="Numbers of samples N', such as 4,8,16. Default: those of 4,8,16,32,64 that the file allows.",
    ),
]
RepeatsOption: TypeAlias = Annotated[
    int, typer.Option("--repeats", metavar="R", min=1, help="Number of subsets drawn per size.")
]
SeedOption: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, help="Random seed: the same seed gives the same numbers.")
]
PairsOption: TypeAlias = Annotated[
    bool,
    typer.Option("--pairs", help="Instead, print the difference of every pair on their common questions."),
]
ToleranceOption: TypeAlias = Annotated[
    float,
    typer.Option(
        "--tolerance",
        metavar="T",
        min=0,
        max=1,
        help="A verdict is “within tolerance” if the fitted accuracy is at most this far from the confidence "
        "on average.",
    ),
]
TargetAccuracyOption: TypeAlias = Annotated[
    float,
    typer.Option(
        "--accuracy",
        metavar="A",
        help="Accuracy of the answered questions, or precision of what is called yes, from 0 to 1.",
    ),
]
ConfidenceLevelOption: TypeAlias = Annotated[
    float, typer.Option("--confidence", metavar="C", help="Confidence of the guarantee, between 0 and 1.")
]
CostOfWrongOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--cost-wrong",
        metavar="C",
        help="Cost of a wrong answer, or a false yes; with --cost-handed-on, what each threshold costs.",
    ),
]
CostOfHandingOnOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--cost-handed-on",
        metavar="C",
        help="Cost of a question that is handed on instead of answered, in the same unit.",
    ),
]
MaxOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--max", metavar="METRIC=X", help="The metric may be at most X. Repeatable."),
]
MinOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--min", metavar="METRIC=X", help="The metric has to be at least X. Repeatable."),
]
MinRowsOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--min-n", metavar="N", min=1, help="At least N rows need a confidence and an outcome."),
]
BaselineOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        parser=_parse_path,
        help="Earlier predictions, read the same way as FILE; each of their runs must be in FILE, too.",
    ),
]
LockedOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--lock",
        metavar="FILE",
        parser=_parse_path,
        help="Locked thresholds, as threshold --lock wrote them: new answers must not contradict them.",
    ),
]
LockOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--lock",
        metavar="FILE",
        parser=_parse_path,
        help="Write the guaranteed threshold of each question here, for gate --lock to check new answers.",
    ),
]
WorseByOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--worse-by",
        metavar="METRIC=D",
        help="The metric may be at most D worse than in the baseline. Repeatable.",
    ),
]
SignificantOption: TypeAlias = Annotated[
    bool,
    typer.Option("--significant", help="Break a rule only if the whole 95 % interval is beyond its limit."),
]
JudgeRulesOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--judge",
        help="Rules for a judge compared with people, such as --min kappa=.6: the 95 % interval decides, "
        "and an undecided rule does not pass.",
    ),
]
GateFormatOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="What is printed: text (default), markdown, junit or json. Also the files' format, as in other "
        f"verbs: {', '.join(FORMATS)}.",
    ),
]
WithinOption: TypeAlias = Annotated[
    float,
    typer.Option(
        "--within",
        metavar="D",
        help="Largest difference in Brier score that counts as no difference, above 0.",
    ),
]
JudgedOption: TypeAlias = Annotated[
    JudgedChoice,
    typer.Option(
        "--judged",
        help="Which answer's outcome judges a method: its own, or greedy or majority for all methods.",
    ),
]
HeldOutOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--held-out",
        help="F_CS: half of the samples choose the answer, and its share is counted on the others.",
    ),
]
UnparseableOption: TypeAlias = Annotated[
    UnparseableRule,
    typer.Option(
        "--unparseable",
        help="Samples without a readable answer: each its own cluster, all one cluster, or left out of N.",
    ),
]


JudgeMetricOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="ID",
        help=f"Repeatable: {', '.join(JUDGE_METRICS)}.",
        autocompletion=lambda: [*JUDGE_METRICS],
    ),
]
GroupColumnOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--by", metavar="COLUMN", help="Also report each group of this column separately."),
]
PassingOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--pass",
        metavar="LABEL",
        help="A label that passes, such as good. Repeatable. Recognised without it: "
        f"{', '.join(f'{good}/{bad}' for good, bad in PASS_WORDS)}.",
    ),
]
LabelsNameOption: TypeAlias = Annotated[
    LabelsName | None,
    typer.Option(
        "--labels-name",
        help="For pairs judged in both orders: whether a label such as A names the place (the answer "
        "shown first) or the answer (the same one in both orders).",
    ),
]


@dataclass(frozen=True, slots=True)
class Choice:
    """What --run, --method and --metric name, as typed; None where an option is not given."""

    runs: RunOption = None
    methods: MethodOption = None
    metrics: MetricOption = None


def _scheme(*, n_bins: BinsOption = 10, binning: BinningOption = "width") -> Scheme:
    return Scheme(binning, n_bins)


def _method_options(
    *,
    labels: LabelsOption = "top",
    renormalise: RenormaliseOption = None,
    unparseable: UnparseableOption = "own",
    held_out: HeldOutOption = False,
) -> MethodOptions:
    return MethodOptions(renormalise, labels, unparseable, held_out=held_out)


def _error_costs(
    *, cost_wrong: CostOfWrongOption = None, cost_handed_on: CostOfHandingOnOption = None
) -> ErrorCosts | None:
    if cost_wrong is None and cost_handed_on is None:
        return None
    if cost_wrong is None or cost_handed_on is None:
        raise Refused("--cost-wrong and --cost-handed-on: give both, or neither.")
    if not (0 < cost_wrong < math.inf and 0 <= cost_handed_on < math.inf):
        raise Refused("--cost-wrong has to be above 0, and --cost-handed-on 0 or more.")
    return ErrorCosts(cost_wrong, cost_handed_on)


ChoiceGroup: TypeAlias = Annotated[Choice, OptionGroup(Choice)]
SchemeGroup: TypeAlias = Annotated[Scheme, OptionGroup(_scheme)]
MethodGroup: TypeAlias = Annotated[MethodOptions, OptionGroup(_method_options)]
ErrorCostsGroup: TypeAlias = Annotated[ErrorCosts | None, OptionGroup(_error_costs)]
