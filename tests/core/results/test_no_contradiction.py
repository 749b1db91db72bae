"""A reader of the sentences on 200 made runs finds no contradiction, and no p beside another claim."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import pytest

from calib_core.edges import Scheme
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL, VERDICT_WORDS, Verdict
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.gate import Rule, check_limit, measure
from calib_core.results.reliability import reliability_diagram
from calib_core.results.run_verdict import run_verdict
from calib_core.results.score import score
from core.run_builders import given_evidence

N_RUNS: Final = 200
P: Final = re.compile(r"p ([=<≤]) (\d+(?:\.\d+)?(?:e-?\d+)?)")
AVERAGES: Final = re.compile(r"states \S+ % on average and is right \S+ %")
MEAN_GAP: Final = r"than accuracy by (\S+) on average"
MEAN_SIZE: Final = r"by (\S+) on average in all"
NOT_CLEAR: Final = ("off by no more than chance", "within chance", "no evidence of miscalibration")
CLEAR: Final = (
    *(
        "higher than accuracy",
        "lower than accuracy",
        "confidences are too high and",
        "confidences are too low and",
    ),
    *(
        "Individual confidences are off",
        "individual confidences are off",
        "spread too far",
        "spread too little",
    ),
    *("is clear", "beyond chance", "clearly"),
)


def made_run(seed: int) -> AnswerEvidence:
    """A run with one of many truths, sizes and ways to state confidences."""
    random = np.random.default_rng([36, seed])
    n = int(random.choice([20, 40, 100, 300, 1000, 3000]))
    draw = (
        lambda: random.beta(4, 2, n),
        lambda: random.beta(20, 1, n).round(2),
        lambda: random.choice([0.6, 0.8, 0.95], n),
        lambda: random.beta(0.3, 0.3, n),
        lambda: random.binomial(8, random.beta(4, 2, n)) / 8,
    )
    c = draw[seed % 5]()
    size = float(random.choice([0.0, 0.02, 0.04, 0.1]))
    wrong = (
        c,
        c - size,
        c + size,
        c - size * np.sign(c - 0.5),
        c + size * np.where((c * 20).astype(int) % 2, 1, -1),
    )[int(random.integers(5))]
    y = random.random(n) < np.clip(wrong, 0, 1)
    return given_evidence(c.tolist(), y.astype(int).tolist())


def claims(text: str) -> list[tuple[str, float, bool]]:
    """Each p of a text, with the clause it ends and whether it is at most what is shown ("<")."""
    found: list[tuple[str, float, bool]] = []
    start = 0
    for match in P.finditer(text):
        found.append((text[start : match.start()], float(match[2]), match[1] != "="))
        start = match.end()
    return found


def assert_numbers_agree(verdict: Verdict, diagram: str, run: str) -> None:
    """Two sentences give the same averages, and no mean gap exceeds the mean size of gaps."""
    assert AVERAGES.findall(diagram) == AVERAGES.findall(run), (diagram, run)
    level, in_all = (re.search(pattern, verdict.reason) for pattern in (MEAN_GAP, MEAN_SIZE))
    if level and in_all:
        assert float(level[1]) <= float(in_all[1]), verdict.reason


def assert_words_agree(evidence: AnswerEvidence, text: str) -> None:
    """The text has no other verdict's words; but bins may be over- or under-confident."""
    kind = evidence.verdict.kind
    of_bins = {"over", "under"} if kind in {"over", "under", "extreme", "timid", "uneven"} else set()
    said = text.removeprefix("Not judged: ") if kind == "few" else text
    for other, words in VERDICT_WORDS.items():
        assert words not in said.lower() or other in {kind, *of_bins}, (evidence.verdict, text)


def assert_claims_agree(text: str) -> None:
    """Each p is on the side of its claim."""
    for clause, p, at_most in claims(text):
        if any(words in clause for words in NOT_CLEAR):
            assert p > SIGNIFICANCE_LEVEL, text
            assert not at_most, text
        elif any(words in clause for words in CLEAR):
            assert p <= SIGNIFICANCE_LEVEL, text


@pytest.mark.parametrize("part", range(4))
def test_no_sentence_contradicts_another(part: int) -> None:
    for seed in range(part * N_RUNS // 4, (part + 1) * N_RUNS // 4):
        evidence = made_run(seed)
        verdict, scheme = evidence.verdict, Scheme("width", 10)
        ece = score(evidence, "ece", scheme)
        diagram, run = reliability_diagram(evidence, "ece", scheme).headline, run_verdict(evidence).headline
        assert_numbers_agree(verdict, diagram, run)
        sentences = [verdict.reason, diagram, run, ece.remark or ""]
        for limit in (0.01, 0.05):
            check = check_limit(Rule("max", "ece", limit), measure(evidence, "ece", scheme))
            sentences.append(check.reason)
            if verdict.kind not in {"few", "tolerable"} and check.held == verdict.miscalibrated:
                assert verdict.words in check.reason, (seed, check)
        for text in sentences:
            assert_words_agree(evidence, text)
            assert_claims_agree(text)
        assert (ece.p is None) == (verdict.p is None)
        differ = ece.p is not None and (ece.p <= SIGNIFICANCE_LEVEL) != verdict.miscalibrated
        assert differ == ((ece.remark or "").startswith("ECE by itself")), (seed, ece, verdict)
        assert (", within the tolerance" in verdict.reason) == (verdict.kind == "tolerable")


def test_the_reader_sees_a_p_beside_another_claim() -> None:
    """The sentence that was wrong: a joint p beside a claim on the mean."""
    (claim,) = claims("Confidence is higher than accuracy by 0.028 on average (p = 0.106).")
    assert any(words in claim[0] for words in CLEAR)
    assert claim[1] > SIGNIFICANCE_LEVEL


def test_the_runs_have_nearly_every_verdict() -> None:
    kinds = {made_run(seed).verdict.kind for seed in range(N_RUNS)}
    assert kinds >= {"over", "under", "extreme", "uneven", "none", "few"}
