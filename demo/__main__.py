"""How is the demo data made again?  `python -m demo r1` (tokens), `r2` (answers), or both without a name.

One thread throughout: the same machine then gives the same bytes.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Final

import torch
from rich.console import Console

from demo import chains
from demo.code import make as code

DATA: Final = Path(__file__).parent.parent / "data"


def main() -> None:
    """Makes the recipes named on the command line again and replaces their files in data/."""
    parser = ArgumentParser(prog="python -m demo", description="Train tiny models, save what they predict.")
    parser.add_argument("recipe", nargs="?", choices=("r1", "r2"), help="tokens or answers (default: both)")
    parser.add_argument("--work", type=Path, help="where r1 keeps checkpoints (default: the user's cache)")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    console = Console(stderr=True)
    DATA.mkdir(exist_ok=True)
    if chosen.recipe != "r2":
        code.make(DATA, chosen.work, console)
    if chosen.recipe != "r1":
        chains.make(DATA, console)


if __name__ == "__main__":
    main()
