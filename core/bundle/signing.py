"""Ed25519 signatures over a bundle's manifest, which holds the digest of every other file.

A signature shows that the owner of a key wrote the manifest. It says nothing about who owns the
key: whoever verifies compares the key's fingerprint with one that came another way.
"""

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from core.errors import MALFORMED, ArtifactDamaged, InvalidInput
from core.files import replace_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SIGNATURE = "signature.json"
_FORMAT = "intent-studio-signature-1"
_DOMAIN = b"intent-studio bundle manifest, SHA-256: "
"""Before the digest that is signed, so that no signature of something else can be taken for one."""

_NO_LIBRARY = (
    "Signatures need the package cryptography, which is not installed.",
    "pip install 'intent-studio[sign]'",
)
_UNREADABLE = "The bundle's signature cannot be read."
_NOT_TRUSTED = "Do not trust the bundle. Ask for it again, from whoever should have signed it."


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature of a manifest; `public_key` is 32 raw bytes, `value` 64."""

    public_key: bytes
    value: bytes

    @property
    def fingerprint(self) -> str:
        """The name of the key for people: 32 hexadecimal digits of its SHA-256."""
        return fingerprint_of(self.public_key)


def fingerprint_of(public_key: bytes) -> str:
    """Return 32 hexadecimal digits of a public key's SHA-256, in groups of four."""
    digits = hashlib.sha256(public_key).hexdigest()[:32]
    return " ".join(digits[start : start + 4] for start in range(0, 32, 4))


def make_key(out: Path) -> bytes:
    """Write a new private key, for its owner alone, and `OUT.pub`; return the public key.

    Raises:
        InvalidInput: One of the files exists, cannot be written, or the library is missing.
    """
    ed25519, serialization = _library()
    public = out.with_name(out.name + ".pub")
    for place in (out, public):
        if place.exists():
            raise InvalidInput(f"{place} exists already.", "Name another file.")
    key = ed25519.Ed25519PrivateKey.generate()
    private_form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    public_form = serialization.PublicFormat.SubjectPublicKeyInfo
    contents = (
        (out, key.private_bytes(pem, *private_form), 0o600),
        (public, key.public_key().public_bytes(pem, public_form), 0o644),
    )
    for place, content, mode in contents:
        try:
            with replace_file(place, mode) as stream:
                stream.write(content)
        except OSError as error:
            raise InvalidInput(f"{place} cannot be written: {error.strerror}.") from error
    return _raw(key.public_key())


def sign(manifest: bytes, key_file: Path) -> bytes:
    """Sign a manifest by a private key; return the content of `signature.json`.

    Raises:
        InvalidInput: The file holds no Ed25519 private key, or the library is missing.
    """
    ed25519, serialization = _library()
    try:
        key = serialization.load_pem_private_key(_content(key_file), password=None)
    except (ValueError, TypeError) as error:
        raise _no_key(key_file, "private") from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise _no_key(key_file, "private")
    facts = {
        "format": _FORMAT,
        "public_key": _raw(key.public_key()).hex(),
        "signature": base64.b64encode(key.sign(_signed(manifest))).decode(),
    }
    return (json.dumps(facts, indent=1, sort_keys=True) + "\n").encode()


def read_signature(content: bytes) -> Signature:
    """Read the content of `signature.json`.

    Raises:
        ArtifactDamaged: It is no signature.
    """
    try:
        facts = json.loads(content)
        form = facts["format"]
        key, value = bytes.fromhex(facts["public_key"]), base64.b64decode(facts["signature"])
    except MALFORMED as error:
        raise ArtifactDamaged(_UNREADABLE, _NOT_TRUSTED) from error
    if form != _FORMAT or (len(key), len(value)) != (32, 64):
        raise ArtifactDamaged(_UNREADABLE, _NOT_TRUSTED)
    return Signature(key, value)


def check_signature(signature: Signature, manifest: bytes) -> None:
    """Check that a signature is of this manifest.

    Raises:
        ArtifactDamaged: It is broken: the manifest, the signature or the key was changed.
        InvalidInput: The library is missing.
    """
    ed25519, _ = _library()
    from cryptography.exceptions import InvalidSignature

    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(signature.public_key)
        key.verify(signature.value, _signed(manifest))
    except (InvalidSignature, ValueError) as error:
        raise ArtifactDamaged(
            "The bundle's signature is broken: the bundle was changed after it was signed, or the "
            "signature is not its own.",
            _NOT_TRUSTED,
        ) from error


def check_signer(signature: Signature | None, key_file: Path) -> None:
    """Check that a bundle's signature is by the public key of a file.

    Raises:
        ArtifactDamaged: There is none, or it is by another key.
        InvalidInput: The file holds no Ed25519 public key, or the library is missing.
    """
    wanted = _public_key(key_file)
    if signature is None:
        raise ArtifactDamaged("The bundle bears no signature.", _NOT_TRUSTED)
    if signature.public_key != wanted:
        raise ArtifactDamaged(
            f"The bundle is signed by another key: by {signature.fingerprint}, and {key_file} is "
            f"{fingerprint_of(wanted)}.",
            _NOT_TRUSTED,
        )


def can_check() -> bool:
    """Whether the library of signatures is installed."""
    try:
        _library()
    except InvalidInput:
        return False
    return True


def _public_key(file: Path) -> bytes:
    ed25519, serialization = _library()
    try:
        key = serialization.load_pem_public_key(_content(file))
    except ValueError as error:
        raise _no_key(file, "public") from error
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise _no_key(file, "public")
    return _raw(key)


def _library() -> tuple[ModuleType, ModuleType]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise InvalidInput(*_NO_LIBRARY) from error
    return ed25519, serialization


def _raw(public_key: "Ed25519PublicKey") -> bytes:
    raw: bytes = public_key.public_bytes_raw()
    return raw


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{file} cannot be read: {error.strerror}.", "Check the path."
        ) from error


def _no_key(file: Path, kind: str) -> InvalidInput:
    return InvalidInput(
        f"{file} holds no Ed25519 {kind} key.",
        "`intent-studio bundle keygen FILE` makes one, and FILE.pub beside it.",
    )


def _signed(manifest: bytes) -> bytes:
    return _DOMAIN + hashlib.sha256(manifest).hexdigest().encode()
