"""What is new among added texts: subjects that neither a group nor an intent is about."""

from pathlib import Path

from app.services.data.importing import ImportRequest, import_file
from app.services.discover.stored import list_groups
from app.services.studio import Studio
from tests.builders.trained_home import grouped, raw_project

LABELLED = """what is the weather like in Rome
will it rain tomorrow
how cold is it outside right now
is it going to snow this weekend
do I need an umbrella today
what is the forecast for Friday
how hot will it get in Madrid
is it windy in London
tell me today's temperature
will the sun shine on Sunday
is a storm coming
what will the weather be next week""".splitlines()
SAID_AGAIN = """how is the weather in Oslo
is it raining in Paris
what is the temperature outside
will there be snow in Bern tomorrow
should I take an umbrella with me
give me the forecast for Monday
how warm is it in Lima today
is it sunny in Cairo
will it be windy this weekend
is there a thunderstorm coming
what is the weather for tomorrow
does it rain on Saturday""".splitlines()
OTHERWISE = """book me a flight to Rome
I need a plane ticket to Oslo
find flights from Paris to Berlin
are there cheap flights to Madrid
reserve a seat on the next plane to London
which airlines fly to Tokyo
I want to fly to Cairo in May
get me a return ticket to Lima
show me direct flights to Delhi
book two seats on a plane to Bern
what does a flight to Quito cost
find the earliest flight to Vienna""".splitlines()
OLD = [f"my card number {n} is lost" for n in range(30)]
OLD += [f"why is the bill so high in month {n}" for n in range(30)]


def bring(studio: Studio, path: Path, *lines: str) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    import_file(studio, ImportRequest("raw", path))


def test_a_subject_that_an_intent_is_about_is_not_new(studio: Studio, tmp_path: Path) -> None:
    """Its group had the badge “new” and stood before all else: no group was about it before."""
    idle = raw_project(studio, tmp_path, OLD)
    grouped(idle, n_groups=2)
    bring(idle, tmp_path / "labelled.csv", "text,intent", *(f"{one},weather" for one in LABELLED))
    bring(idle, tmp_path / "more.txt", *SAID_AGAIN, *OTHERWISE)
    grouped(idle)
    cards = list_groups(idle, "raw").groups
    told = {one.description: one.is_new for one in cards if one.id > 2}
    assert {is_new for words, is_new in told.items() if "flight" in words} == {True}
    assert {is_new for words, is_new in told.items() if "weather" in words} == {False}
    assert cards[0].is_new
