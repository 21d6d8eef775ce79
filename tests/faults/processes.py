"""Which processes do the jobs of a home, whoever their parent is."""

from contextlib import suppress
from pathlib import Path


def serving(home: Path, name: str) -> list[int]:
    """Ids of the processes of a name of `app.jobs.process_names` that have a home's file open."""
    numbers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [number for number in numbers if _name(number) == name and _holds(number, home)]


def holding(file: Path) -> list[int]:
    """Ids of the processes that have a file open."""
    numbers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [number for number in numbers if _holds(number, file)]


def _name(number: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{number}/comm").read_text(encoding="utf-8").strip()
    return ""


def _holds(number: int, place: Path) -> bool:
    with suppress(OSError):
        for descriptor in Path(f"/proc/{number}/fd").iterdir():
            with suppress(OSError):
                if descriptor.readlink().is_relative_to(place):
                    return True
    return False
