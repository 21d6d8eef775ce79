"""The entry of the command line: it finds the studio's own packages, whatever else is on the path.

Other projects have folders called `app` and `core`, too, and may stand before these.
"""

import sys
from pathlib import Path


def main() -> int:
    """Run one command and return its exit code."""
    sys.path.insert(0, str(Path(__file__).parent))
    if sys.argv[1:2] == ["serve-model"]:  # runs where the studio's other packages are not
        from app.serving.command import main as serve

        return serve(sys.argv[2:])
    try:
        import pydantic  # noqa: F401 - every other command reads settings
    except ImportError:
        sys.stderr.write("Only serve-model can run here: the studio's packages are missing.\n")
        sys.stderr.write("  pip install 'intent-studio[studio]'\n")
        return 2
    from app.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
