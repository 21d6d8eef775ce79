"""A whole project over REST, as a platform keeps it: the report, and the file."""

import io
import zipfile

from fastapi.testclient import TestClient

from core.exports.targets import TARGETS


def test_a_report_says_what_is_written_and_the_file_holds_it(
    client: TestClient, labelled: str
) -> None:
    here = f"/api/projects/{labelled}/handovers"
    listed = client.get(here).json()
    assert [one["target"] for one in listed] == list(TARGETS)
    assert {one["ending"] for one in listed if one["target"] == "rasa"} == {".zip"}
    report = client.get(f"{here}/rasa").json()
    left = sum(one["count"] for one in report["left_out"])
    overview = client.get(f"/api/projects/{labelled}/utterances?size=1").json()
    assert (report["written"] + left, report["refusals"]) == (overview["total"], [])
    assert report["words"][0].startswith(f"Rasa: {report['written']} texts would be written")
    answer = client.get(f"{here}/rasa/file?language=de")
    assert answer.headers["content-disposition"] == f'attachment; filename="{labelled}-rasa.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as package:
        assert package.namelist() == report["files"]
        lines = package.read("data/nlu.yml").decode().splitlines()
    assert sum(line.startswith("    - ") for line in lines) >= report["written"]


def test_what_cannot_be_written_is_refused_in_words(client: TestClient, labelled: str) -> None:
    here = f"/api/projects/{labelled}/handovers"
    refused = client.get(f"{here}/lex-tests")
    assert (refused.status_code, refused.json()["message"]) == (
        422,
        "There are no pins to write as tests.",
    )
    assert client.get(f"{here}/papyrus").status_code == 422
    assert client.get(f"{here}/lex?language=../../x").status_code == 422
    assert client.get("/api/projects/nobody/handovers/lex").status_code == 404
