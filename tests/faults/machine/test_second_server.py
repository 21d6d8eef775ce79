"""A second server is started on a home that one serves."""

import os
import sys
from pathlib import Path

from app.cli import main
from tests.builders.served_studio import copy_home
from tests.faults.kills.light_server import LightServer
from tests.faults.shims.write_points import do
from tests.faults.table import Fault

FAULTS = (
    Fault(
        7,
        "Two servers on one home",
        "`serve` is started twice; the first is then killed",
        "The second is refused with the first one's address; after a kill the next may begin",
    ),
)


def test_a_second_server_is_refused_until_the_first_has_ended(
    template: Path, tmp_path: Path
) -> None:
    home = copy_home(template, tmp_path / "home")
    first, told = LightServer(home), tmp_path / "told"

    def second() -> int:
        os.dup2(os.open(told, os.O_WRONLY | os.O_CREAT), 2)
        sys.stderr = os.fdopen(2, "w")
        code = main(["--home", str(home), "serve", "--no-browser", "--port", "0"])
        sys.stderr.flush()
        return code

    try:
        first.start()
        assert do(second).value == 2
        assert first.address in told.read_text()
        first.kill()
        first.start()
    finally:
        first.kill()
        first.kill_workers()
