"""Which processes serve a home, whoever their parent is."""

from pathlib import Path


def serving(home: Path, module: str) -> list[int]:
    """Process ids that run a module, such as `app.jobs.worker`, for a home."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if module.encode() in words and str(home).encode() in words:
                found.append(int(entry.name))
    return found
