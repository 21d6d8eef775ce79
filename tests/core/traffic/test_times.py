"""Forms and zones of times."""

from datetime import UTC, datetime

import pytest

from core.traffic.times import TimeForm, form_of, is_day_first, read_time, zone_named

BERLIN = TimeForm(zone_named("Europe/Berlin"), day_first=True)


@pytest.mark.parametrize(
    ("time", "hour"),
    [
        ("2026-11-26T14:30:00Z", 14),
        ("2026-11-26 14:30:00 +0100", 13),
        ("2026-11-26 14:30 UTC", 14),
        ("2026-11-26 14:30", 13),  # in Berlin's zone
        ("1795703400", 14),
        ("1795703400000", 14),
        ("26.11.2026 14:30", 13),
        ("26/11/2026, 2:30 PM", 13),
        ("2026/11/26 14:30", 13),
        ("Thu, 26 Nov 2026 14:30:00 -0500", 19),
        ("Nov 26, 2026 2:30 PM", 13),
        ("26 November 2026 14:30", 13),
    ],
)
def test_usual_forms_of_times_are_read(time: str, hour: int) -> None:
    assert read_time(time, BERLIN) == datetime(2026, 11, 26, hour, 30, tzinfo=UTC)


def test_summer_has_another_offset_and_nonsense_has_no_time() -> None:
    assert read_time("2026-07-01 12:00", BERLIN) == datetime(2026, 7, 1, 10, tzinfo=UTC)
    assert [read_time(time, BERLIN) for time in ("", "soon", "31.02.2026", "12")] == [None] * 4


def test_other_dates_of_a_log_tell_whether_the_day_is_first() -> None:
    assert is_day_first(["3/4/2026", "3/14/2026"]) is False
    assert is_day_first(["3/4/2026", "14/3/2026"]) is True
    assert is_day_first(["3/4/2026"]) is None
    assert read_time("3/4/2026", TimeForm()) is None
    american = read_time("3/4/2026", TimeForm(day_first=False))
    assert american == datetime(2026, 3, 4, tzinfo=UTC)


def test_days_alone_have_no_zone_and_one_time_of_the_day_tells_that_the_log_has() -> None:
    """A day of Berlin began at 23:00 of the day before, in UTC."""
    days = ["26.11.2026", "27.11.2026 00:00:00", "soon", ""]
    assert form_of(days, BERLIN.zone) == TimeForm(UTC, day_first=True)
    assert read_time(days[0], form_of(days, BERLIN.zone)) == datetime(2026, 11, 26, tzinfo=UTC)
    for clock in ("26.11.2026 00:01", "1795703400", "20261126T143000", "2026-11-26 14"):
        assert form_of([*days, clock], BERLIN.zone) == BERLIN
    # So do spreadsheets and American programs write a day.
    for day in ("11/26/2026 0:00", "11/26/2026 12:00:00 AM", "20261126T0000", "20261126"):
        assert form_of([day], BERLIN.zone).zone is UTC
