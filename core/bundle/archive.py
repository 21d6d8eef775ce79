"""Write a bundle as one zip with a manifest, and verify every file before reading it."""

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from core.bundle.card import model_card
from core.bundle.facts import as_json, read_facts
from core.bundle.kinds import odd_fact
from core.bundle.own_files import CARD, PROGRAM, foreign_program, is_allowed, is_own_card, program
from core.bundle.signing import (
    SIGNATURE,
    Signature,
    can_check,
    check_signature,
    check_signer,
    read_signature,
    sign,
)
from core.errors import MALFORMED, ArtifactDamaged, InvalidInput
from core.files import disk_error, entry_fault, has_large_directory, replace_file
from core.text import size_words

FORMAT = "intent-studio-bundle-1"
MANIFEST = "manifest.json"
_MAX_ENTRIES = 500
_MAX_BYTES = 4_000_000_000
_MAX_MANIFEST = 64_000_000
_SMALL_ENTRY = 1_000
_BLOCK = 1 << 20
_LARGE_ENTRY = 1 << 31
_PICKLE_ENDINGS = (".pkl", ".pickle", ".bin", ".pt", ".pth", ".joblib", ".ckpt")
_ARCHIVE_ENDINGS = (".zip", ".tar", ".gz", ".7z", ".whl")
_DO_NOT_TRUST = "Ask for the bundle again, from somebody you trust."


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bundle claims to hold: SHA-256 and size in bytes by file name, and facts.

    `own_card` is whether its card is worded as this release words it. `signature` was checked
    wherever the library of signatures is installed; None for a bundle without one.
    """

    files: dict[str, tuple[str, int]]
    facts: dict[str, Any]
    own_card: bool = True
    signature: Signature | None = None


def export_bundle(folder: Path, out: Path, key_file: Path | None = None) -> Manifest:
    """Pack a stored pipeline with card, example code and manifest; equal input, equal bytes.

    With the file of a private key, the manifest is signed.

    Raises:
        InvalidInput: The file holds no private key, or the library of signatures is missing.
    """
    facts = read_facts(folder)
    contents = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    extra = {
        CARD: model_card(facts).encode(),
        PROGRAM: program(facts),
    }
    names = sorted({*contents, *extra})
    listed: dict[str, tuple[str, int]] = {}
    with (
        replace_file(out) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for name in names:
            with BytesIO(extra[name]) if name in extra else contents[name].open("rb") as source:
                listed[name] = _add(archive, name, source)
        manifest = _manifest_bytes(listed, facts)
        _add(archive, MANIFEST, BytesIO(manifest))
        if key_file is not None:
            _add(archive, SIGNATURE, BytesIO(sign(manifest, key_file)))
    return Manifest(listed, facts)


def verify_bundle(path: Path, key_file: Path | None = None) -> Manifest:
    """Check every claim of a bundle's manifest; nothing unpacked is kept.

    With the file of a public key, the bundle must be signed by it.

    Raises:
        InvalidInput: There is no such file, it is no bundle, or the file holds no public key.
        ArtifactDamaged: A claim is wrong; the message says which.
    """
    with open_bundle(path) as (_, manifest):
        if key_file is not None:
            check_signer(manifest.signature, key_file)
        return manifest


@contextmanager
def open_bundle(path: Path) -> Iterator[tuple[Path, Manifest]]:
    """Verify a bundle and unpack it into a temporary folder, which is then deleted."""
    if not path.is_file():
        raise InvalidInput(f"There is no file {path}.", "Check the path.")
    with tempfile.TemporaryDirectory(prefix="bundle-") as scratch:
        try:
            _refuse_many(path)
            with zipfile.ZipFile(path) as archive:
                _refuse_hostile(archive.infolist())
                manifest = _read_manifest(archive)
                _refuse_other_names(archive.namelist(), manifest)
                manifest = _with_signature(archive, manifest)
                for name, promise in manifest.files.items():
                    _unpack(archive, name, promise, Path(scratch))
            manifest = _checked(Path(scratch), manifest)
        except NotImplementedError as error:
            raise ArtifactDamaged(
                f"{path.name} is packed in a foreign way.", _DO_NOT_TRUST
            ) from error
        except (*MALFORMED, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error) as error:
            raise disk_error(error) or ArtifactDamaged(
                f"{path.name} is not a whole zip file: {error}.", _DO_NOT_TRUST
            ) from error
        yield Path(scratch), manifest


def _refuse_many(path: Path) -> None:
    if has_large_directory(path):
        raise ArtifactDamaged(f"{path.name} has too many entries, a bomb.", _DO_NOT_TRUST)


def _refuse_hostile(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > _MAX_ENTRIES:
        raise ArtifactDamaged(f"The bundle has {len(entries)} entries, a bomb.", _DO_NOT_TRUST)
    seen: set[str] = set()
    for entry in entries:
        reason = _hostile(entry)
        if reason is None and entry.filename.casefold() in seen:
            reason = "occurs twice"
        if reason is not None:
            raise ArtifactDamaged(f"The bundle's entry {entry.filename!r} {reason}.", _DO_NOT_TRUST)
        seen.add(entry.filename.casefold())
    if sum(entry.file_size for entry in entries) > _MAX_BYTES:
        most = size_words(_MAX_BYTES)
        raise ArtifactDamaged(f"The bundle unpacks to over {most}, a bomb.", _DO_NOT_TRUST)


def _hostile(entry: zipfile.ZipInfo) -> str | None:
    """Say what no bundle has: besides what is hostile in every zip, code and odd names."""
    name = entry.orig_filename
    parts = name.split("/")
    checks = {
        "has an empty or dotted name": "" in parts or "." in parts,
        "is a pickle": name.lower().endswith(_PICKLE_ENDINGS),
        "is an archive in the archive": name.lower().endswith(_ARCHIVE_ENDINGS),
    }
    own = next((reason for reason, wrong in checks.items() if wrong), None)
    return entry_fault(entry, _SMALL_ENTRY) or own


def _read_manifest(archive: zipfile.ZipFile) -> Manifest:
    if MANIFEST not in archive.namelist():
        raise ArtifactDamaged("The bundle has no manifest.json.", _DO_NOT_TRUST)
    if archive.getinfo(MANIFEST).file_size > _MAX_MANIFEST:
        most = size_words(_MAX_MANIFEST)
        raise ArtifactDamaged(f"The bundle's manifest is over {most}, a bomb.", _DO_NOT_TRUST)
    try:
        value = json.loads(archive.read(MANIFEST))
        listed = {str(k): (str(v["sha256"]), int(v["size"])) for k, v in value["files"].items()}
        facts, version = dict(value["facts"]), str(value["format"])
    except MALFORMED as error:
        raise ArtifactDamaged(f"The bundle's manifest cannot be read: {error}.") from error
    if version != FORMAT:
        raise ArtifactDamaged(
            f"The bundle is of the format '{version}'; this studio reads {FORMAT}.",
            "Update Intent Studio.",
        )
    return Manifest(listed, facts)


def _refuse_other_names(names: list[str], manifest: Manifest) -> None:
    own = {MANIFEST, SIGNATURE}
    extra = sorted(set(names) - set(manifest.files) - own)
    missing = sorted(set(manifest.files) - set(names))
    if extra:
        raise ArtifactDamaged(f"The bundle holds an extra file: {extra[0]!r}.", _DO_NOT_TRUST)
    if missing:
        raise ArtifactDamaged(f"The bundle lacks a file: {missing[0]!r}.", _DO_NOT_TRUST)
    foreign = next((name for name in manifest.files if not is_allowed(name)), None)
    if foreign is not None:
        raise ArtifactDamaged(
            f"The bundle holds {foreign!r}, which no bundle of Intent Studio has.", _DO_NOT_TRUST
        )


def _with_signature(archive: zipfile.ZipFile, manifest: Manifest) -> Manifest:
    """Read a bundle's signature and check it, where it bears one and the library is installed."""
    if SIGNATURE not in archive.namelist():
        return manifest
    signature = read_signature(archive.read(SIGNATURE))
    if can_check():
        check_signature(signature, archive.read(MANIFEST))
    return replace(manifest, signature=signature)


def _checked(folder: Path, manifest: Manifest) -> Manifest:
    """Compare what is generated with what this release and earlier ones generate."""
    foreign = foreign_program(folder)
    if foreign is not None:
        raise ArtifactDamaged(
            f"The bundle's {foreign} is not the program that Intent Studio writes: it was replaced "
            "and the manifest adjusted, or a newer release wrote it.",
            "Do not run it. Ask for the bundle again, or update Intent Studio.",
        )
    if read_facts(folder) != manifest.facts:
        raise ArtifactDamaged("The bundle's manifest and facts.json differ.", _DO_NOT_TRUST)
    if odd := odd_fact(manifest.facts):
        raise ArtifactDamaged(
            f"The bundle's facts cannot be read: '{odd}' is not what a training writes.",
            _DO_NOT_TRUST,
        )
    try:
        # The database keeps them, which has neither NaN nor half of a surrogate pair.
        json.dumps(manifest.facts, ensure_ascii=False, allow_nan=False).encode()
        own_card = is_own_card(folder, manifest.facts)
    except MALFORMED as error:
        raise ArtifactDamaged(f"The bundle's facts cannot be read: {error}.") from error
    return replace(manifest, own_card=own_card)


def _unpack(archive: zipfile.ZipFile, name: str, promise: tuple[str, int], target: Path) -> None:
    """Stream one file out, never more of it than the size in the manifest."""
    place = target / name
    place.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with archive.open(name) as source, place.open("wb") as out:
        while block := source.read(_BLOCK):
            size += len(block)
            if size > promise[1]:
                break
            digest.update(block)
            out.write(block)
    if size != promise[1] or digest.hexdigest() != promise[0]:
        raise ArtifactDamaged(f"The bundle's file {name!r} was changed.", _DO_NOT_TRUST)
    _refuse_pickle(name, place)


def _refuse_pickle(name: str, place: Path) -> None:
    with place.open("rb") as stream:
        start = stream.read(2)
    if start[:1] == b"\x80" and start[1:] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise ArtifactDamaged(f"The bundle's file {name!r} is a pickle.", _DO_NOT_TRUST)
    if name.endswith(".safetensors"):
        from safetensors import SafetensorError, safe_open  # a bundle for serving has no such file

        try:
            with safe_open(place, "np"):
                pass
        except (SafetensorError, OSError) as error:
            raise ArtifactDamaged(
                f"The bundle's file {name!r} holds no safe tensors: {error}.", _DO_NOT_TRUST
            ) from error


def _manifest_bytes(listed: dict[str, tuple[str, int]], facts: dict[str, Any]) -> bytes:
    value = {
        "format": FORMAT,
        "facts": facts,
        "files": {name: {"sha256": sha, "size": size} for name, (sha, size) in listed.items()},
    }
    return as_json(value).encode()


def _add(archive: zipfile.ZipFile, name: str, source: BinaryIO) -> tuple[str, int]:
    """Add a file in pieces, and return digest and size; an encoder at once takes 200 MB more."""
    digest, size = hashlib.sha256(), source.seek(0, os.SEEK_END)
    source.seek(0)
    # A name, unlike an entry, takes the archive's level and the date 1980-01-01.
    with archive.open(name, "w", force_zip64=size > _LARGE_ENTRY) as target:
        while piece := source.read(_BLOCK):
            digest.update(piece)
            target.write(piece)
    archive.getinfo(name).external_attr = 0o644 << 16
    return digest.hexdigest(), size
