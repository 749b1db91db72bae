"""The arguments and options that verbs share, with their help texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from calib_core.edges import MAX_BINS, Binning
from calib_core.methods import METHOD_IDS
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.metrics import METRICS
from calib_core.pairs import Labels
from calib_core.readers import FORMATS


def _parse_path(text: str) -> Path:
    if not text:  # Path("") would be the current folder
        raise typer.BadParameter("a file's name is empty")
    return Path(text)


FilesArgument: TypeAlias = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE", show_default=False, parser=_parse_path, help="Prediction files, or folders of them."
    ),
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON list on stdout, and nothing else there.")
]
SkipBadRowsOption: TypeAlias = Annotated[
    bool,
    typer.Option("--skip-bad-rows", help="Leave bad rows out; without it a file that has any is not loaded."),
]
FormatOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="ID", show_default=False, help=f"Read every FILE as: {', '.join(FORMATS)}."
    ),
]
TogetherOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--together",
        help="Make one run of the files that are parts of one evaluation, such as the subjects of MMLU, and "
        "of plain tables with the same columns.",
    ),
]
ColumnMappingOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="COLUMN=NAME",
        show_default=False,
        help="Read this column, or nested field (a.b.0), as that name; with no NAME not at all. A name can "
        "have a divisor (confidence/100), be of its logarithm (confidence:log), or have the values that are "
        "right (correct:Yes|Mostly). Repeat.",
    ),
]
RowsOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--rows",
        metavar="PATH",
        show_default=False,
        help="Where the rows are in a file of one JSON object, as in results.items; if not said, looked for.",
    ),
]
WideOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--wide",
        metavar='"*SUFFIX=NAME"',
        show_default=False,
        help="Several systems stand in one row: read the columns that fit as NAME, a run for each text at "
        "the star. Repeat.",
    ),
]
MissingOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="VALUE",
        show_default=False,
        help="A value that stands for none, such as Unparseable. Repeat.",
    ),
]
OnOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="KEY",
        show_default=False,
        help="Join --gold on this column, or on THIS=THAT; if not said, on the ids.",
    ),
]
GoldOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--gold",
        metavar="TABLE",
        show_default=False,
        parser=_parse_path,
        help="Right answers or outcomes by id, for files that hold none: a table with columns such as id, "
        "answer.",
    ),
]
MethodOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="ID",
        show_default=False,
        help=f"Repeat; all usable if none is named: {METHOD_IDS}.",
    ),
]
MetricOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="ID", show_default=False, help=f"Repeat: {', '.join(METRICS)}."),
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
        "--ddof", min=0, max=1, help="RSD by the population's (0) or a sample's (1) standard deviation."
    ),
]
BinningOption: TypeAlias = Annotated[
    Binning, typer.Option("--binning", help="Bins of equal width, of equal mass, or one a distinct value.")
]
LabelsOption: TypeAlias = Annotated[
    Labels,
    typer.Option("--labels", help="Of a row of choices: its top label, or all of them, one pair each."),
]
RenormaliseOption: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--renormalise/--no-renormalise",
        show_default=False,
        help="Divide by the sum over the choices; if not said, as each method does by default.",
    ),
]
SizesOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--sizes",
        metavar="N,N,…",
        show_default=False,
        help="Numbers of samples N', as in 4,8,16; those of 4,8,16,32,64 that there are if none is said.",
    ),
]
RepeatsOption: TypeAlias = Annotated[
    int, typer.Option("--repeats", metavar="R", min=1, help="How often parts of each size are drawn.")
]
SeedOption: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, help="Of the draws: the same seed gives the same numbers.")
]
PairsOption: TypeAlias = Annotated[
    bool,
    typer.Option("--pairs", help="Print the difference of every pair on their common questions instead."),
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
WithinOption: TypeAlias = Annotated[
    float,
    typer.Option(
        "--within", metavar="D", help="The largest difference of the Brier score that is none, above 0."
    ),
]
UnparseableOption: TypeAlias = Annotated[
    UnparseableRule,
    typer.Option(
        "--unparseable",
        help="Samples that do not parse: each a cluster of its own, one cluster together, or left out of N.",
    ),
]
