"""Few-shot accuracy on the public sets, where they lie beside the project."""

import sys
from pathlib import Path

from app.cli import main

DATA = Path(__file__).parents[3] / "shared" / "data"


def run() -> int:
    """Measure both sets; return 0."""
    if not DATA.is_dir():
        sys.stderr.write(f"skipped: {DATA} is absent\n")
        return 0
    for name in ("banking77", "clinc150"):
        train, test = DATA / name / "train_10.csv", DATA / name / "test.csv"
        for recipe in ("instant", "convfit"):
            files = ["--train", str(train), "--test", str(test)]
            main(["bench", "few-shot", *files, "--recipe", recipe, "--json"])
    return 0


if __name__ == "__main__":
    sys.exit(run())
