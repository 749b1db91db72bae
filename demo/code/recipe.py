"""Which text, which models, which positions?  Every choice of the token-level demo, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeRecipe:
    """All that decides the token-level data, but for the code itself and the Python whose library is read.

    version: raised whenever a file would come out differently by intent; test_share: of the files;
    vocabulary: tokens, a power of two; order: tokens of the longest n-gram; softness: name of an n-gram
    model → how much it trusts shorter contexts, 1 = Witten and Bell; width, layers, heads: the
    transformer; window: tokens it sees at once; batch: windows a step; checkpoints: steps after which it
    is kept, the last ends training; rate: highest learning rate; windows: pieces of test text, of whose
    tokens the second half is predicted; temperatures: the last checkpoint is softened or hardened by;
    top, top_positions: entries and positions of the top-k file; dense_positions: of the dense file.
    """

    version: str = "R1.1"
    seed: int = 10
    test_share: float = 0.1
    vocabulary: int = 2_048
    order: int = 5
    softness: tuple[tuple[str, float], ...] = (("witten-bell", 1.0), ("hard", 0.1), ("soft", 10.0))
    width: int = 128
    layers: int = 4
    heads: int = 4
    window: int = 256
    batch: int = 8
    checkpoints: tuple[int, ...] = (32, 64, 128, 256, 512, 1_024, 2_048, 4_096)
    rate: float = 2e-3
    windows: int = 64
    temperatures: tuple[float, ...] = (0.5, 0.7)
    top: int = 20
    top_positions: int = 4_096
    dense_positions: int = 512

    @property
    def steps(self) -> int:
        """Steps of training."""
        return self.checkpoints[-1]

    @property
    def positions(self) -> int:
        """Tokens predicted by each model."""
        return self.windows * self.window // 2

    def tokens_seen(self, step: int) -> int:
        """Tokens learnt from after so many steps, repeats counted."""
        return step * self.batch * self.window
