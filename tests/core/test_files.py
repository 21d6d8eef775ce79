import hashlib
import os
import stat
import zipfile
from pathlib import Path

import pytest

from core.files import (
    deflated_size,
    file_sha256,
    named_folder,
    replace_file,
    write_atomically,
)
from core.training.checkpoints import Checkpoint, keep_checkpoint, latest_checkpoint


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_bytes(b"old")

    def fail() -> None:
        with replace_file(target) as stream:
            stream.write(b"half of the new")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_missing_folder_is_made_and_permissions_are_as_asked(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "x"
    with replace_file(target, mode=0o600) as stream:
        stream.write(b"new")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert file_sha256(target) == hashlib.sha256(b"new").hexdigest()


@pytest.mark.parametrize(
    "name", ["~nobody-of-this-name/x", "a" * 300, "\u4e2d" * 100, "a\0", "~\0", "\udfff", "~\ud800"]
)
def test_a_name_that_no_folder_can_have_names_none(name: str, tmp_path: Path) -> None:
    """A training that was to start from such a base was a fault of the server."""
    assert named_folder(name) is None
    assert named_folder(str(tmp_path)) == tmp_path


def test_contents_are_on_disk_before_the_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each way of writing asks the system to write the file and its folder through."""
    synced: list[str] = []

    def fsync(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("the names of open files are read from /proc")
    monkeypatch.setattr(os, "fsync", fsync)
    write_atomically(tmp_path / "x", [b"new"])
    assert synced[0].startswith(".part-")
    assert synced[1:] == [tmp_path.name]
    synced.clear()
    keep_checkpoint(tmp_path / "kept", Checkpoint("tuning", 1, {}))
    assert synced == ["state.safetensors", "checkpoint.json", "kept"]
    assert latest_checkpoint(tmp_path / "kept") == Checkpoint("tuning", 1, {})


def test_the_size_of_a_file_in_a_zip_is_foretold(tmp_path: Path) -> None:
    """ "About 97 MB" was said of a file of 87.5: its parts were counted as they lie on the disk."""
    large, small = tmp_path / "large", tmp_path / "small"
    large.write_bytes(bytes(1_500_000) + os.urandom(3_000_000))
    small.write_bytes(b"where is my parcel\n" * 500)
    for file, within in ((large, 0.1), (small, 0.02)):
        packed = tmp_path / "packed.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(file, "f")
        real = zipfile.ZipFile(packed).infolist()[0].compress_size
        assert abs(deflated_size(file) - real) <= max(32, within * real)
