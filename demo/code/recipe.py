"""Every choice of the token-level demo: text, models, positions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeRecipe:
    """Everything that determines the token-level data, except the code itself and the version of Python.

    version: raised whenever a file changes on purpose; test_share: share of the files used for testing;
    vocabulary: number of tokens, a power of two; order: tokens of the longest n-gram; softness: name of an
    n-gram model → weight of shorter contexts, 1 = Witten–Bell; width, layers, heads: of the transformer;
    window: its context length in tokens; batch: windows per step; checkpoints: steps after which it is
    saved, the last one ends training; matrix_rate, rate: highest learning rates of the weights within layers
    (Muon) and of all others (AdamW); texts: test files in which positions are predicted; windows_per_text:
    pieces of each; predicted: tokens at the end of each that are predicted, at most half of a window;
    temperatures: further temperatures of the last checkpoint; top, top_positions: entries and positions of
    the top-k file; dense_positions: positions of the dense file.
    """

    version: str = "R1.2"
    seed: int = 10
    test_share: float = 0.28
    vocabulary: int = 2_048
    order: int = 5
    softness: tuple[tuple[str, float], ...] = (("witten-bell", 1.0), ("hard", 0.1), ("soft", 10.0))
    width: int = 96
    layers: int = 3
    heads: int = 4
    window: int = 256
    batch: int = 8
    checkpoints: tuple[int, ...] = (128, 256, 512, 1_024, 2_048, 2_816)
    matrix_rate: float = 0.02
    rate: float = 3e-3
    texts: int = 128
    windows_per_text: int = 2
    predicted: int = 64
    temperatures: tuple[float, ...] = (0.5,)
    top: int = 20
    top_positions: int = 4_096
    dense_positions: int = 256

    @property
    def steps(self) -> int:
        """Steps of training."""
        return self.checkpoints[-1]

    @property
    def windows(self) -> int:
        """Pieces of test text."""
        return self.texts * self.windows_per_text

    @property
    def positions(self) -> int:
        """Tokens predicted by each model."""
        return self.windows * self.predicted

    def tokens_seen(self, step: int) -> int:
        """Training tokens after this many steps, counting repeats."""
        return step * self.batch * self.window
