"""Which facts, which models, which lessons?  Every choice of the multiple-choice demo, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """One transformer's shape, and its highest learning rate."""

    width: int
    layers: int
    heads: int
    rate: float


@dataclass(frozen=True, slots=True)
class FactsRecipe:
    """All that decides the data, but for the code itself and the Python whose library is read.

    version: raised whenever a file would come out differently by intent; asked, practice: facts of each
    subject that the test asks for, and others that stand in practice questions; base_practice: so many of
    these practice questions the base model reads too; copies: how often the textbook states a fact that is
    asked, one of these drawn for each (0: never); practice_copies: how often one that is practised;
    same_answer: facts with one answer a subject has at most; options: a question has; shots: solved
    questions before a question; vocabulary: tokens; window, batch: tokens of a window, windows a step;
    rounds: how often the textbook is read; sheets: practice sheets of each subject a round; sheet: questions
    on one at most; tuned_rounds, tuned_sheets, tuned_rate: the same of the fine-tuning, and its rate.
    """

    version: str = "R3.1"
    seed: int = 30
    asked: int = 39
    practice: int = 30
    base_practice: int = 6
    copies: tuple[int, ...] = (0, 1, 1, 2, 2, 3, 4, 6)
    practice_copies: int = 3
    same_answer: int = 8
    options: int = 4
    shots: tuple[int, ...] = (0, 5)
    vocabulary: int = 1_536
    sizes: tuple[Size, ...] = (Size(48, 4, 4, 6e-3), Size(128, 4, 4, 4e-3))
    window: int = 256
    batch: int = 8
    rounds: int = 44
    sheets: int = 2
    sheet: int = 6
    tuned_rounds: int = 16
    tuned_sheets: int = 8
    tuned_rate: float = 1e-3
