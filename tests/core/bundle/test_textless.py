"""A bundle without texts answers as before, and holds no text of its examples."""

import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

from core.bundle.archive import export_bundle, verify_bundle
from core.bundle.facts import add_facts, read_facts
from core.bundle.layout import load_pipeline, save_pipeline
from core.bundle.textless import leave_out_texts
from core.encoders.packed.encoder import TransformerEncoder
from tests.builders.unpacked_bundle import Elsewhere, unpack_bundle
from tests.conftest import SENTENCES
from tests.core.bundle.test_bundle import ASKED, FACTS, pipeline

QUOTED = SENTENCES["refund"][0]


def test_only_the_texts_are_missing(
    tiny: TransformerEncoder, tmp_path: Path, elsewhere: Elsewhere
) -> None:
    metrics = {"accuracy": 0.9, "wrong": [QUOTED], "by_intent": {QUOTED: 1}, "judged_on": "all"}
    pins = {"kept": 1, "broken": [{"text": QUOTED}]}
    whole = pipeline(tiny)
    save_pipeline(whole, {**FACTS, "metrics": metrics, "pins": pins}, tmp_path / "whole")
    folder = Path(shutil.copytree(tmp_path / "whole", tmp_path / "bare"))
    leave_out_texts(folder)
    out = tmp_path / "bare.zip"
    export_bundle(folder, out)
    facts = verify_bundle(out).facts
    assert facts["metrics"] == {"accuracy": 0.9, "wrong": [], "judged_on": "all"}
    assert facts["pins"] == {"kept": 1, "broken": []}
    with zipfile.ZipFile(out) as archive:
        contents = {
            name: archive.read(name).decode("utf-8", "replace")
            for name in archive.namelist()
            if name != "predict.py"  # its own example is a text of these
        }
    texts = [text for intent in SENTENCES.values() for text in intent if " " in text]
    assert [(name, t) for name, held in contents.items() for t in texts if t in held] == []
    assert "were left out" in contents["README.md"]

    asked = [*filter(None, ASKED), QUOTED, f"  {QUOTED.upper()}!"]
    bare = load_pipeline(folder)
    assert [e.text for e in bare.exemplars] == [f"[{e.id}]" for e in whole.exemplars]
    before, after = whole.predict(asked), bare.predict(asked)
    assert [p.decision for p in after] == [p.decision for p in before]
    assert [p.decision.rule for p in after[-2:]] == ["exact", "exact"]
    assert [n.text for n in after[0].reason.neighbours] == [
        f"[{n.exemplar_id}]" for n in before[0].reason.neighbours
    ]
    answers = elsewhere.example_answers(unpack_bundle(out, tmp_path / "unpacked"), asked)
    assert [(a["intents"], a["rule"]) for a in answers] == [
        (list(p.decision.intents), p.decision.rule) for p in after
    ]


def test_a_text_with_signs_that_end_lines_elsewhere_is_left_out(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    """The reader took U+2028, U+2029 and U+0085 for ends of lines, and the export broke."""
    whole = pipeline(tiny)
    first = replace(whole.exemplars[0], text="send\u2028it\u2029back\x85now")
    exemplars = (first, *whole.exemplars[1:])
    save_pipeline(replace(whole, exemplars=exemplars), FACTS, tmp_path / "p")
    leave_out_texts(tmp_path / "p")
    assert [e.text for e in load_pipeline(tmp_path / "p").exemplars] == [
        f"[{e.id}]" for e in exemplars
    ]


def test_a_card_says_that_texts_are_in_the_bundle(tiny: TransformerEncoder, tmp_path: Path) -> None:
    save_pipeline(replace(pipeline(tiny)), FACTS, tmp_path / "p")
    export_bundle(tmp_path / "p", tmp_path / "p.zip")
    with zipfile.ZipFile(tmp_path / "p.zip") as archive:
        assert "are in `exemplars.jsonl`" in archive.read("README.md").decode()


def test_texts_may_be_left_out_again(tiny: TransformerEncoder, tmp_path: Path) -> None:
    """The second time hashed the hashes, so that no example was recognised any more."""
    save_pipeline(pipeline(tiny), FACTS, tmp_path)
    leave_out_texts(tmp_path)
    files = [tmp_path / name for name in ("exemplars.jsonl", "exact.json")]
    once = [path.read_bytes() for path in files]
    add_facts(tmp_path, {"pins": {"expected": [{"text": QUOTED}]}})  # as an export does
    leave_out_texts(tmp_path)
    assert [path.read_bytes() for path in files] == once
    assert read_facts(tmp_path)["pins"] == {"expected": []}
    (said,) = load_pipeline(tmp_path).predict([QUOTED])
    assert said.decision.rule == "exact"
