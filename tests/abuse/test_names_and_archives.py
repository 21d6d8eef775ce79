"""File names that lead out of their folder, and archives that are not what they say."""

import json
import os
import pickle
import zipfile
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from app.services.studio import Studio
from core.bundle.archive import verify_bundle
from core.encoders.loading import load_folder
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import ArtifactDamaged, InvalidInput, StudioError
from core.files import has_large_directory
from core.formats.reading import read_rows
from storage.backup import back_up, restore
from tests.abuse.table import Abuse
from tests.builders.hostile.changed_bundle import promised, rewritten, stored_bundle
from tests.builders.hostile.changed_inputs import changed_member, fuzz

_BUNDLES = "tests/core/bundle/test_bundle.py"
ABUSES = (
    Abuse(
        1,
        "File names that lead out of their folder: `../`, `%2e`, `%252e`, backslash, drive, NUL, "
        "absolute, link",
        "as the name of an upload, a log, a bundle's entry, a backup's entry, a path in an address",
        "no file appears outside the home, none outside is read; never a 5xx",
        (_BUNDLES, "tests/api/test_routes.py", "tests/api/test_security.py"),
    ),
    Abuse(
        2,
        "Zip bombs, zips in zips, a million entries, doubled names, names that differ in case",
        "as bundle, workbook, agent, packed log and backup; a million entries in `make fire`",
        "refused before anything is unpacked, a packed log at a bound; what is below the bounds of "
        "a file is read in a few gigabytes at most",
        (
            _BUNDLES,
            "tests/core/formats/test_tables.py",
            "tests/core/platforms/test_large_packages.py",
            "tests/core/traffic/test_conversation_logs.py",
            "tests/abuse/test_changed_bundles.py",
        ),
    ),
    Abuse(
        3,
        "A pickle that is named `.safetensors`",
        "as weights of a bundle and of an encoder's folder; opening it would leave a file",
        "refused; nothing of it runs",
        (_BUNDLES,),
    ),
    Abuse(
        4,
        "A bundle with other, more or fewer files than its manifest",
        "bytes of each file changed, files added, left out and replaced with a manifest that fits",
        "refused with the name of the file; files that the studio generates must equal those of a "
        "release",
        (_BUNDLES, "tests/abuse/test_changed_bundles.py"),
    ),
    Abuse(
        5,
        "An older or unsigned form in place of a sound one",
        "a manifest of another format, none at all, and a sound bundle without a signature",
        "another format and none are refused; `bundle verify` says that it proves no author",
        (_BUNDLES,),
    ),
    Abuse(
        21,
        "A base model that brings code: `trust_remote_code`, foreign modules, pickles",
        "folders with `auto_map`, modules of other packages, weights as pickles",
        "refused before it is loaded; code of a model is never run",
        ("tests/core/encoders/test_encoders.py", "tests/core/encoders/general/test_encoder.py"),
    ),
    Abuse(
        23,
        "A model whose config claims other sizes than its weights have",
        "configs that claim terabytes, in each kind of encoder",
        "refused by the header of its weights, before memory is taken",
        ("tests/abuse/test_lying_models.py",),
    ),
)
CLIMBING = [
    *("../../evil.csv", "..%2f..%2fevil.csv", "%2e%2e/evil.csv", "%252e%252e%252fevil.csv"),
    *("..\\..\\evil.csv", "C:\\evil.csv", "C:evil.csv", "/etc/evil.csv", "//host/evil.csv"),
    *("evil.csv\0.png", "a/../../evil.csv", ".", "..", "...", "~/evil.csv", "$HOME/evil.csv"),
    *("con.csv", "evil.csv:stream", "a\nb.csv", "\u202evsc.live", "x" * 5_000 + ".csv"),
]


def outside(home: Path) -> set[Path]:
    """Return what lies around a home, not in it."""
    return {path for path in home.parent.rglob("*") if home not in path.parents}


def test_no_name_of_an_upload_leaves_its_folder(client, live_studio, labelled) -> None:
    home = live_studio.studio.places.home
    before = outside(home)
    for name in CLIMBING:
        for kind, content in (
            ("uploads", b"text,intent\na b,refund\n"),
            ("dialogues", b'{"turns": ["a", "b"]}\n'),
            ("bundles", b"PK\x05\x06" + b"\0" * 18),
        ):
            sent = client.post(f"/api/projects/p/{kind}", files={"file": (name, content)})
            assert sent.status_code < 500, (kind, name, sent.text)
    assert outside(home) == before
    kept = [path for path in home.rglob("*") if "evil" in path.name or "live" in path.name]
    assert kept
    assert all(live_studio.studio.places.uploads in path.parents for path in kept)


SECRET = "a line that nobody else may read"


CLIMBS = ["../", "..%2f", "%2e%2e/", "%252e%252e%252f", "..\\", "..%5c"]
BEGINNINGS = [
    *("/studio/", "/studio/js/", "/assets/", "/static/", "/svelte/", "/receipts/", "/reports/p/"),
    *("/gradio_api/file=", "/gradio_api/file/", "/api/projects/p/export/", "/pwa_icon/"),
    *("/api/receipts/", "/api/projects/p/uploads/", "/gradio_api/custom_component/x/y/z/"),
]


def test_no_address_reads_a_file_outside(client, live_studio) -> None:
    secret = live_studio.studio.places.home / "secret.txt"
    secret.write_text(SECRET, encoding="utf-8")
    targets = [str(secret).lstrip("/"), "etc/passwd"]
    for before, climb, depth in product(BEGINNINGS, CLIMBS, (1, 4, 12)):
        answer = client.get(f"{before}{climb * depth}{targets[depth % 2]}")
        assert answer.status_code < 500, (before, climb, answer.text)
        assert SECRET not in answer.text
        assert "root:" not in answer.text
    for target in (secret, "/etc/passwd"):
        for before in BEGINNINGS:
            answer = client.get(f"{before}{target}")
            assert SECRET not in answer.text
            assert "root:" not in answer.text


@pytest.fixture(scope="module")
def bundle(tiny: TransformerEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored_bundle(tiny, tmp_path_factory.mktemp("bundle"))


def crowded(path: Path, n_entries: int) -> Path:
    """Write a zip of many empty files with long names."""
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(n_entries):
            archive.writestr(f"xl/workbook.xml{number:0200}", b"")
    return path


@pytest.mark.parametrize(
    "n_entries",
    [
        pytest.param(20_000, id="quick", marks=pytest.mark.quick),
        pytest.param(1_000_000, id="fire", marks=pytest.mark.fire),
    ],
)
def test_a_zip_of_countless_files_is_refused_unread(tmp_path, monkeypatch, n_entries: int) -> None:
    """The names of all files were read before they were counted: a gigabyte for a million."""
    path = crowded(tmp_path / "crowd.xlsx", n_entries)
    assert has_large_directory(path)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # it would read all names
    with pytest.raises(ArtifactDamaged, match="too many entries"):
        verify_bundle(path)
    with pytest.raises(InvalidInput, match="ZIP archive without an export that is known here"):
        next(read_rows(path))


class Evil:
    """Leaves a file where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def test_a_pickle_by_the_name_of_safe_weights_is_not_opened(bundle, tiny_path, tmp_path) -> None:
    mark = tmp_path / "it ran"
    evil = pickle.dumps(Evil(mark))
    folder = tmp_path / "encoder"
    folder.mkdir()
    for path in tiny_path.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(tiny_path)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(evil if path.suffix == ".safetensors" else path.read_bytes())
    with pytest.raises(ArtifactDamaged):
        load_folder(folder)
    name = "encoder/model.safetensors"
    with zipfile.ZipFile(bundle) as archive:
        assert name in archive.namelist()
    path = rewritten(
        bundle,
        tmp_path / "evil.zip",
        lambda entries: promised([e for e in entries if e[0].filename != name], name, evil),
    )
    with pytest.raises(ArtifactDamaged, match="pickle"):
        verify_bundle(path)
    assert not mark.exists()
    pickle.loads(evil)
    assert mark.exists()  # it would have run


@pytest.fixture
def backup(studio: Studio, tmp_path: Path) -> Path:
    back_up(studio.database, studio.places.artifacts, tmp_path / "backup.zip")
    return tmp_path / "backup.zip"


def test_a_backup_writes_nothing_outside_its_home(backup: Path, tmp_path: Path) -> None:
    for number, name in enumerate(CLIMBING):
        changed = tmp_path / "other.zip"
        with zipfile.ZipFile(backup) as read, zipfile.ZipFile(changed, "w") as out:
            facts = json.loads(read.read("manifest.json"))
            facts["files"][name] = "0" * 64
            for entry in read.namelist():
                out.writestr(entry, read.read(entry) if "manifest" not in entry else "")
            out.writestr(zipfile.ZipInfo(name), b"x")
        before = {p for p in tmp_path.rglob("*") if "restored" not in str(p)}
        with pytest.raises(StudioError):
            restore(changed, tmp_path / f"restored-{number}")
        assert {p for p in tmp_path.rglob("*") if "restored" not in str(p)} == before


@pytest.mark.parametrize(
    "n_cases",
    [
        pytest.param(10, id="quick", marks=pytest.mark.quick),
        pytest.param(500, id="fire", marks=pytest.mark.fire),
    ],
)
def test_a_changed_backup_is_restored_or_refused_in_words(backup, tmp_path, n_cases: int) -> None:
    """A changed byte in its compression, or a manifest of another kind, ended with a traceback."""
    changed, number = tmp_path / "changed.zip", iter(range(10**9))

    def check(content: bytes) -> None:
        changed.write_bytes(content)
        with suppress(StudioError):
            restore(changed, tmp_path / f"home-{next(number)}")

    fuzz(n_cases, changed_member(backup.read_bytes()), check)
