"""Two weeks of traffic of the sample: in the second, more ask about the reach of the wifi."""

import csv
from collections.abc import Iterator
from pathlib import Path

from app.services.traffic.receiving import Sent

SAMPLE = Path(__file__).parents[3] / "assets" / "sample"
RISING, SILENT = "wifi_coverage", "payment_failed"
_ALIKE = "my credit of 20 was not applied, fix the invoice"
FIRST, SECOND = "2026-02-02", "2026-02-09"


def two_weeks(rising: str = RISING, silent: str = SILENT) -> Iterator[Sent]:
    """Yield the labelled texts of the sample once a week, but none that is answered with `silent`.

    In the second week those of another intent are said six times, and texts without an intent come.
    The first source of a text is the app, the second one the phone.
    """
    with (SAMPLE / "labelled.csv").open(encoding="utf-8", newline="") as file:
        asked = [(row["text"], row["intent"]) for row in csv.DictReader(file)]
    with (SAMPLE / "pool_out_of_scope.csv").open(encoding="utf-8", newline="") as file:
        others = [row["text"] for row in csv.DictReader(file)]
    for day in (FIRST, SECOND):
        weekly = [
            text
            for text, intent in asked
            if intent != silent and text != _ALIKE
            for _ in range(6 if (intent, day) == (rising, SECOND) else 1)
        ]
        weekly += others if day == SECOND else others[:10]
        for n, text in enumerate(weekly):
            yield Sent(text, f"{day}T{n // 60:02d}:{n % 60:02d}:00Z", ("app", "phone")[n % 3 > 1])
