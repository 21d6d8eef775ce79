"""Commands about bundles."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.services.answering.stored import is_bundle
from app.services.live.catching_up import count_later
from app.services.versions import bundles
from app.services.versions.graphs import GraphWish, answers_again
from app.terminal.output import opened, print_json, report, say
from core.bundle.archive import verify_bundle
from core.bundle.facts import is_graph, is_unmeasured
from core.bundle.signing import Signature, can_check, fingerprint_of, make_key
from core.errors import InvalidInput
from core.text import counted, size_words

if TYPE_CHECKING:
    from core.runtime.comparing import FromStored

_UNSIGNED = (
    "It bears no signature: nothing was damaged or added, but it does not prove who made it."
)
_NOT_CHECKED = (
    "It bears a signature, which was not checked: pip install 'intent-studio[sign]', and verify "
    "again."
)
_BY_SOMEBODY = (
    "It is signed, and was not changed since, by the key {}. Compare that with a fingerprint that "
    "you got another way, or name the public key by --key."
)
_WITHOUT = (
    "{} changed since this version was trained, and the bundle answers without that. Train again "
    "before an export to have all labels in it."
)
_UNMEASURED = (
    "What 8 bits cost was not measured: there are no test texts to compare it with float32, so no "
    "loss could be refused."
)
_WITHIN = "Allowed are {}, and {:.2g} of a score from the sum of its parts."
_IN_FLOAT32 = "{:.2g} and no other answer"
_IN_8_BITS = "{0:.2g}, which is {1:.2g} more than 8 bits cost when it was exported, and {2}"
_NOT_MEASURED = (
    "any differences from answers in float32, because the release that exported it did not measure "
    "what 8 bits cost"
)
_OTHER_CARD = (
    "Its README.md is worded otherwise than this release words it: an earlier release wrote it, or "
    "somebody changed it. The figures in facts.json are those of the manifest."
)


def export(options: argparse.Namespace) -> None:
    """Write a model version as one zip."""
    with opened(options) as studio:
        how = bundles.Handover(options.sign, options.without_texts, _wish(options))
        manifest = bundles.export_model(studio, options.model, options.out, how)
        later = 0 if is_bundle(options.model) else count_later(studio, options.model)
    size = size_words(options.out.stat().st_size)
    value = {"file": str(options.out), "files": len(manifest.files), "facts": manifest.facts}
    value["signed"] = options.sign is not None
    notes = [_UNMEASURED] if is_unmeasured(manifest.facts) else []
    notes += [_WITHOUT.format(counted(later, "label"))] if later else []
    value["notes"] = notes
    words = ", signed" if options.sign else ""
    files = counted(len(manifest.files), "file")
    written = f"Wrote {options.out} ({size}, {files}{words})."
    report(options, "\n".join([written, *notes]), value)


def _wish(options: argparse.Namespace) -> GraphWish | None:
    if options.runtime == "torch":
        if options.precision != "float32":
            raise InvalidInput(
                "Only a graph has another precision than float32.", "Add --runtime onnx."
            )
        return None
    return GraphWish(options.precision, options.any_loss)


def verify(options: argparse.Namespace) -> None:
    """Check every claim of a bundle's manifest, and that what was generated is the studio's own."""
    manifest = verify_bundle(options.file, options.key)
    notes = [_about_signature(manifest.signature, options.key)]
    notes += [] if manifest.own_card else [_OTHER_CARD]
    compared: dict[str, Any] = {}
    if is_graph(manifest.facts):
        difference = answers_again(options.file)
        notes.append(_about_answers(difference, manifest.facts))
        compared = {} if difference is None else _compared(difference, manifest.facts)
    if options.json:
        signer = None if manifest.signature is None else manifest.signature.fingerprint
        facts = {"files": len(manifest.files), "facts": manifest.facts, "notes": notes}
        told = {"sound": True, "signed": signer is not None, "signer": signer}
        print_json({**told, **facts, **compared})
        return
    files = counted(len(manifest.files), "file")
    say(f"{options.file} is sound: {files} as promised, and no foreign program.")
    for note in notes:
        say(note)


def _about_signature(signature: Signature | None, key_file: Path | None) -> str:
    if signature is None:
        return _UNSIGNED
    if key_file is not None:
        return f"It is signed by {key_file} ({signature.fingerprint})."
    if not can_check():
        return _NOT_CHECKED
    return _BY_SOMEBODY.format(signature.fingerprint)


def _compared(difference: "FromStored", facts: Mapping[str, Any]) -> dict[str, Any]:
    from core.runtime.comparing import tolerance_of

    return {"difference": asdict(difference), "tolerance": asdict(tolerance_of(facts))}


def _about_answers(difference: "FromStored | None", facts: Mapping[str, Any]) -> str:
    if difference is None:
        return "It holds no answers of the studio to compare with."
    precision = facts.get("precision")
    gets = "gets" if difference.others == 1 else "get"
    others = f"; {difference.others:,} of them {gets} another answer" if difference.others else ""
    return (
        f"Its graph ({precision}) was run on {counted(difference.texts, 'stored text')}{others}. "
        f"Largest difference of a score {difference.score:.2g}, of a probability "
        f"{difference.probability:.2g}, of a vote {difference.vote:.2g}, of a score from the sum "
        f"of its parts {difference.sums:.2g}. {_allowed(facts)}"
    )


def _allowed(facts: Mapping[str, Any]) -> str:
    """Say which tolerance the differences were held against."""
    from core.runtime.comparing import MORE_IN_8_BITS, tolerance_of

    allowed = tolerance_of(facts)
    if allowed.apart is None:
        words = _NOT_MEASURED
    elif facts.get("precision") == "int8":
        others = counted(allowed.others, "other answer")
        words = _IN_8_BITS.format(allowed.apart, MORE_IN_8_BITS, others)
    else:
        words = _IN_FLOAT32.format(allowed.apart)
    return _WITHIN.format(words, allowed.sums)


def keygen(options: argparse.Namespace) -> None:
    """Write a new pair of keys."""
    fingerprint = fingerprint_of(make_key(options.out))
    words = (
        f"Wrote {options.out}, which signs: keep it secret. Give {options.out}.pub to those who "
        f"verify, and tell them its fingerprint another way: {fingerprint}."
    )
    keys = {"private": str(options.out), "public": f"{options.out}.pub"}
    report(options, words, {**keys, "fingerprint": fingerprint})


def import_(options: argparse.Namespace) -> None:
    """Add a bundle as a model version."""
    with opened(options, makes=True) as studio:
        name = bundles.import_bundle(studio, options.file, options.project)
    report(options, f"Added {name}.", {"model": name})
