"""What the tests of faults measure: told at the end of a run, and kept on request."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults import table
from tests.storage.copied_tables import making_tables

_NAME = "measured"


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "keep what the tests of faults measure, and write docs/topics/reliability.md"
    parser.addoption("--keep-measured", action="store_true", help=words)


@pytest.fixture(scope="module", autouse=True)
def real_tables() -> Iterator[None]:
    """Let new homes be made as users' are, write for write: each may be where something fails."""
    with making_tables():
        yield


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Tell what a test measured: a key within its file, and a sentence with the figures."""
    path = request.path.relative_to(request.config.rootpath).as_posix()

    def tell(key: str, sentence: str) -> None:
        request.node.user_properties.append((_NAME, (path, key, sentence)))

    return tell


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, labelled_csv: Path, tiny_path: Path) -> Path:
    """A home with a model, texts that wait and a training that is queued; to be copied."""
    from tests.faults.kills.acts import make_home
    from tests.faults.shims.write_points import do

    home = tmp_path_factory.mktemp("template") / "home"
    assert do(lambda: str(make_home(home, labelled_csv, tiny_path))).error is None
    return home


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was measured; with xdist the reports of all workers come here."""
    told: dict[str, dict[str, str]] = defaultdict(dict)
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == _NAME and report.when == "call":
                path, key, sentence = value
                told[path][key] = sentence
    for path, sentences in sorted(told.items()):
        for sentence in sentences.values():
            terminalreporter.write_line(f"{path}: {sentence}")
    if told and terminalreporter.config.getoption("--keep-measured", default=False):
        table.keep(told)
