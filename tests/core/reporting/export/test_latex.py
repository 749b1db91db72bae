"""The LaTeX contains the whole table, and no text from a file breaks out of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.reporting.export.latex import ece_brier_latex, escape_latex
from core.views.ece_brier_tables import HOSTILE, make_table

COMMANDS = {
    "textbackslash": "\\",
    "textasciicircum": "^",
    "textasciitilde": "~",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textperiodcentered": "·",
    "textdagger": "†",
    "textasciigrave": "`",
    "textquotesingle": "'",
    "textendash": "–",
    "textquoteright": "’",
    "textquotedblleft": "“",
    "textquotedblright": "”",
    "textellipsis": "…",
}
MATHS = {
    "-": "−",
    r"\pm": "±",
    r"\times": "×",
    r"\leq": "≤",
    r"\geq": "≥",
    r"\neq": "≠",
    r"\approx": "≈",
    r"\infty": "∞",
    r"\propto": "∝",
    "^{2}": "²",
    r"\rho": "ρ",
    r"\Sigma": "Σ",
    r"\Pi": "Π",
    r"\ell": "ℓ",
    r"\lceil": "⌈",
    r"\rceil": "⌉",
}


JOINED = {"--": "–", "---": "—", ",,": "„", "``": "“", "''": "”"}
"""What fonts make of letters that stand side by side."""


def printed_text(latex: str) -> str:
    """What LaTeX would print of escaped text."""
    pattern = (
        r"\\([a-z]+)\{\}|\\([{}$&#%_])|\{([\[\]])\}|(---?|,,|``|'')|\$([^$]+)\$|\\symbol\{(\d+)\}|(\{\})"
    )
    return re.sub(
        pattern,
        lambda hit: (
            COMMANDS.get(hit[1] or "")
            or hit[2]
            or hit[3]
            or JOINED.get(hit[4] or "")
            or MATHS.get(hit[5] or "")
            or chr(int(hit[6] or 0)).strip("\0")
        ),
        latex,
    )


def test_a_table_of_the_usual_kind() -> None:
    assert (
        ece_brier_latex(make_table(note="n 1"))
        == r"""% model-a: ECE-L1, M=10
% second
\begin{table}
\centering
\caption{ECE and Brier. Lowest in bold among numbers on the same rows.}
\begin{tabular}{lrrrr}
\toprule
 & \multicolumn{2}{c}{model-a} & \multicolumn{2}{c}{model-b} \\
\cmidrule(lr){2-3} \cmidrule(lr){4-5}
Method & ECE & Brier & ECE & Brier \\
\midrule
\textit{quiz} & \multicolumn{2}{r}{\footnotesize n 1, 61.3 \% right} & \multicolumn{2}{r}{\footnotesize } \\
p(True) & 0.1000 & \textbf{0.2000} & 0.3000 & 0.4000 \\
confidence in the file & \textbf{0.0500} & 0.2500 & -- & -- \\
\midrule
 & \multicolumn{2}{c}{model-c} &  &  \\
\cmidrule(lr){2-3}
Method & ECE & Brier &  &  \\
\midrule
\textit{sums} & \multicolumn{2}{r}{\footnotesize } &  &  \\
confidence in the file & 0.5 & 0.6 &  &  \\
\bottomrule
\end{tabular}
\end{table}
"""
    )


def test_a_flag_is_drawn_and_explained() -> None:
    latex = ece_brier_latex(make_table(flag="one bin"))
    assert r"0.1000\textdagger{} & \textbf{0.2000}" in latex
    assert r"\textdagger{}: one or two bins hold most rows" in latex


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        "a\\",
        "%",
        "[2ex]",
        "{",
        "a – b − c · d",
        "--",
        "a---b –- -–",
        "``x'' `?",
        "a,,b",
        "-\\-",
        "it's",
        "“it’s” …",
        "0.1 ± 0.2 × 3 ≤ 4 ≥ 5 ≠ 6 ≈ 7 ∝ ∞",
        "Σw², Πp, ρ, ℓ, ⌈n⌉",
        'a "b" 34',
    ],
)
def test_escaped_text_is_read_back(text: str) -> None:
    assert printed_text(escape_latex(text)) == " ".join(text.split())
    assert "\n" not in escape_latex(text)


def test_our_own_texts_use_only_characters_of_pdflatex() -> None:
    words = [metric.meaning + metric.source + metric.title for metric in METRICS.values()]
    words += [method.meaning + method.title for method in METHODS.values()]
    words += ["± × ≤ ≥ ≠ ≈ ∝ ∞ ρ Σ Π ℓ ⌈ ⌉ ² · – − † ’ “ ” …"]
    for text in words:
        assert escape_latex(text).isascii(), text


def test_lines_become_spaces() -> None:
    assert escape_latex("one\ntwo\r\n three\u2028four") == "one two three four"


@given(st.text(alphabet=st.sampled_from("\\{}$&#%_^~<>|\"[]`'-,ab \n\r\t\x0b\x0c\x1c\x85\u2028\u2029\x00")))
def test_no_mark_of_latex_stands_alone(text: str) -> None:
    shown = escape_latex(text)
    rest = re.sub(r"\\(?:[a-z]+\{\}|symbol\{34\}|[{}$&#%_])|\{[\[\]]\}", "", shown)
    assert not set(rest.replace("{}", "")) & set("\\{}$&#%_^~<>|\"[]`'")
    assert not re.search("--|,,", shown)
    assert len(shown.splitlines()) <= 1


def test_a_comment_ends_where_its_line_ends() -> None:
    latex = ece_brier_latex(make_table(name="evil\n\\input{x}\r\x0b\x0c\x1c\x85\u2028\\end{table}"))
    assert [line for line in latex.splitlines() if "input" in line and not line.startswith("% ")] == [
        line for line in latex.splitlines() if r"\textbackslash{}input" in line
    ]
    assert latex.count(r"\end{table}") == 1 + sum(
        line.count(r"\end{table}") for line in latex.splitlines() if line.startswith("%")
    )


def test_every_row_has_every_column() -> None:
    body = ece_brier_latex(make_table(name=HOSTILE, dataset=HOSTILE)).partition(r"\toprule")[2]
    lines = body.partition(r"\bottomrule")[0].strip().splitlines()
    for line in [line for line in lines if not line.startswith((r"\midrule", r"\cmidrule"))]:
        assert line.endswith(r" \\")
        cells = re.split(r"(?<!\\)&", line)
        spans = sum(2 if "multicolumn" in cell else 1 for cell in cells)
        assert spans == 5
