import hashlib
import json
import pickle
import stat
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.bundle import own_files
from core.bundle.archive import MANIFEST, export_bundle, open_bundle, verify_bundle
from core.bundle.card import model_card
from core.bundle.facts import ONNX, RUNTIME
from core.bundle.layout import load_pipeline, save_pipeline
from core.calibration.calibration import Calibration
from core.calibration.fence_units import measure_exemplars
from core.encoders.base import Encoder
from core.encoders.convert.source import module_source
from core.encoders.dual.encoder import DualEncoder
from core.encoders.dual.static import distil_static
from core.encoders.loading import load_folder
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import ArtifactDamaged, InvalidInput, StudioError
from core.heads.mixture import even_mixture
from core.intent_names import answer_by_name, names_head
from core.pipeline import IntentPipeline
from core.recipes.heads import (
    LinearConfig,
    MlpConfig,
    NamesConfig,
    NeighboursConfig,
    PrototypesConfig,
    VotesConfig,
)
from core.recipes.labels import InstantRecipe
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from core.types import Exemplar, Intent
from tests.builders.hostile.changed_bundle import promised, replaced, rewritten
from tests.builders.tiny_encoder import randomly_adapted, tiny_folder, tiny_transformer
from tests.builders.unpacked_bundle import Elsewhere, unpack_bundle
from tests.conftest import SENTENCES

FACTS = {"project": "p", "intents": [{"name": "refund", "description": "money | back"}]}
ASKED = ["give the money back", "hello there!", "zzz qqq", "password help", ""]


def pipeline(encoder: Encoder, head=None) -> IntentPipeline:
    exemplars = tuple(
        Exemplar(f"{name}-{n}", text, (name,))
        for name, texts in SENTENCES.items()
        for n, text in enumerate(texts)
    )
    intents = tuple(Intent(name) for name in sorted(SENTENCES))
    recipe = InstantRecipe(head=head or VotesConfig())
    run = run_recipe(recipe, RunInputs(exemplars, intents, encoder))
    return drain(run, lambda _: None).pipeline


@pytest.fixture(scope="module")
def bundle(tiny: TransformerEncoder, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    save_pipeline(pipeline(tiny), FACTS, folder / "p")
    export_bundle(folder / "p", folder / "p.zip")
    return folder / "p.zip"


def test_a_bundle_gives_back_the_same_pipeline_bit_for_bit(
    bundle: Path, tiny: TransformerEncoder, tmp_path: Path
) -> None:
    original = pipeline(tiny)
    with open_bundle(bundle) as (folder, manifest):
        again = load_pipeline(folder)
        (folder / "README.md").unlink()
        (folder / "predict.py").unlink()
        second = export_bundle(folder, tmp_path / "again.zip")
    assert manifest.files == second.files
    assert (tmp_path / "again.zip").read_bytes() == bundle.read_bytes()
    assert again.predict(ASKED) == original.predict(ASKED)
    assert np.array_equal(again.embeddings, original.embeddings)


def test_a_large_encoder_is_packed_in_pieces(bundle: Path, tmp_path: Path) -> None:
    """A file of 90 MB was held whole, and again in zlib's blocks: 250 MB for one download."""
    with open_bundle(bundle) as (folder, _):
        (folder / "README.md").unlink()
        (folder / "predict.py").unlink()
        large = np.random.default_rng(0).bytes(16 << 20)
        (folder / "encoder" / "large.safetensors").write_bytes(large)
        tracemalloc.start()
        listed = export_bundle(folder, tmp_path / "large.zip").files
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 6 << 20
    digest = hashlib.sha256(large).hexdigest()
    assert listed["encoder/large.safetensors"] == (digest, len(large))


def entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name)


def zeros() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("zeros")
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def link() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


HOSTILE = {
    "climbs out": (lambda e: [*e, (entry("../evil"), b"x")], "climbs out"),
    "absolute": (lambda e: [*e, (entry("/etc/evil"), b"x")], "is absolute"),
    "drive": (lambda e: [*e, (entry("C:evil"), b"x")], "names a drive"),
    "control": (lambda e: [*e, (entry("a\nb"), b"x")], "control character"),
    "link": (lambda e: [*e, (link(), b"/etc/passwd")], "symbolic link"),
    "case clash": (lambda e: [*e, (entry("HEAD.json"), b"x")], "occurs twice"),
    "bomb": (lambda e: [*e, (zeros(), b"\0" * 50_000_000)], "is a bomb"),
    "pickle ending": (lambda e: [*e, (entry("head.pkl"), b"x")], "is a pickle"),
    "archive": (lambda e: [*e, (entry("more.zip"), b"x")], "archive in the archive"),
    "extra": (lambda e: [*e, (entry("extra.txt"), b"x")], "extra file: 'extra.txt'"),
    "missing": (lambda e: [x for x in e if x[0].filename != "exact.json"], "lacks a file"),
    "no manifest": (lambda e: [x for x in e if x[0].filename != MANIFEST], "no manifest"),
    "pickle inside": (
        lambda e: promised(e, "encoder/notes.txt", pickle.dumps({"a": 1})),
        "'encoder/notes.txt' is a pickle",
    ),
    "false tensors": (
        lambda e: promised(e, "encoder/x.safetensors", b"not tensors at all"),
        "holds no safe tensors",
    ),
    "many": (lambda e: [*e, *((entry(f"n{i}"), b"") for i in range(600))], "a bomb"),
    "newer": (
        lambda e: [
            (i, c.replace(b"bundle-1", b"bundle-9") if i.filename == MANIFEST else c) for i, c in e
        ],
        "format 'intent-studio-bundle-9'",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_bundle_is_refused_with_its_reason(bundle: Path, tmp_path: Path, kind) -> None:
    change, reason = HOSTILE[kind]
    path = rewritten(bundle, tmp_path / "bad.zip", change)
    with pytest.raises(ArtifactDamaged) as caught:
        verify_bundle(path)
    assert reason in caught.value.message


def test_a_replaced_program_is_found_though_the_manifest_fits(bundle: Path, tmp_path: Path) -> None:
    """`bundle verify` called a bundle sound whose `predict.py` opened a shell."""
    evil = b"import os\nos.system('id')\n"
    path = rewritten(bundle, tmp_path / "evil.zip", lambda e: replaced(e, "predict.py", evil))
    with pytest.raises(ArtifactDamaged, match=r"predict\.py is not the program") as caught:
        verify_bundle(path)
    assert "Do not run it" in caught.value.hint


@pytest.mark.parametrize(
    "name", ["setup.py", "encoder/modeling.py", "encoder/x.so", "run.sh", "a/b"]
)
def test_a_file_that_no_bundle_has_is_refused(bundle: Path, tmp_path: Path, name: str) -> None:
    path = rewritten(bundle, tmp_path / "more.zip", lambda e: promised(e, name, b"x"))
    with pytest.raises(ArtifactDamaged, match="which no bundle of Intent Studio has"):
        verify_bundle(path)


def test_facts_that_the_manifest_tells_otherwise_are_refused(bundle: Path, tmp_path: Path) -> None:
    lie = json.dumps({**FACTS, "metrics": {"accuracy": 1.0}}).encode()
    path = rewritten(bundle, tmp_path / "lie.zip", lambda e: replaced(e, "facts.json", lie))
    with pytest.raises(ArtifactDamaged, match=r"manifest and facts\.json differ"):
        verify_bundle(path)


def test_every_program_of_this_release_is_known_to_the_next() -> None:
    """Whoever changes one adds its digest to the list, and leaves those of earlier bundles."""
    programs = [(own_files.program(facts), own_files._PROGRAMS) for facts in ({}, {RUNTIME: ONNX})]
    for content, digests in (*programs, (module_source(), own_files._NETWORKS)):
        assert hashlib.sha256(content).hexdigest() in digests


def test_a_card_in_other_words_is_told(bundle: Path, tmp_path: Path) -> None:
    assert verify_bundle(bundle).own_card
    path = rewritten(bundle, tmp_path / "card.zip", lambda e: replaced(e, "README.md", b"# Mine"))
    assert not verify_bundle(path).own_card


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_duplicate_entry_is_refused(bundle: Path, tmp_path: Path) -> None:
    path = rewritten(bundle, tmp_path / "d.zip", lambda e: [*e, e[0]])
    with pytest.raises(ArtifactDamaged, match="occurs twice"):
        verify_bundle(path)


def test_a_backslash_in_a_name_is_refused(bundle: Path, tmp_path: Path) -> None:
    path = rewritten(bundle, tmp_path / "b.zip", lambda e: [*e, (entry("dir/evil"), b"x")])
    path.write_bytes(path.read_bytes().replace(b"dir/evil", b"dir\\evil"))
    with pytest.raises(ArtifactDamaged, match="backslash"):
        verify_bundle(path)


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_changed_byte_of_a_stored_file_is_refused(bundle: Path, tmp_path: Path, data) -> None:
    def change(entries):
        place = data.draw(st.integers(0, len(entries) - 1))
        info, content = entries[place]
        if not content or info.filename == MANIFEST:
            return entries[:-1] if info.filename != MANIFEST else entries[1:]
        at = data.draw(st.integers(0, len(content) - 1))
        flipped = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        return [*entries[:place], (info, flipped), *entries[place + 1 :]]

    with pytest.raises(StudioError):
        verify_bundle(rewritten(bundle, tmp_path / "flipped.zip", change))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_bundle_is_refused(bundle: Path, tmp_path: Path, share: float) -> None:
    content = bundle.read_bytes()
    (tmp_path / "cut.zip").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ArtifactDamaged, match="not a whole zip"):
        verify_bundle(tmp_path / "cut.zip")


def test_a_missing_bundle_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no file"):
        verify_bundle(tmp_path / "absent.zip")


@pytest.mark.parametrize(
    "head",
    [
        VotesConfig(),
        NeighboursConfig(k=3),
        PrototypesConfig(),
        LinearConfig(),
        MlpConfig(hidden=32, epochs=20),
        NamesConfig(),
        None,
    ],
    ids=lambda head: "mixture" if head is None else head.kind,
)
def test_the_example_predicts_the_same_without_this_project(
    tiny: TransformerEncoder, tmp_path: Path, elsewhere: Elsewhere, head
) -> None:
    if head is not None:
        assert_alike_elsewhere(pipeline(tiny, head), tmp_path, elsewhere)
        return
    # Two encoders, votes, and names beside them; those without an example speak in another width.
    dual = DualEncoder(tiny, distil_static(tiny, 8, normalised=True))
    made = pipeline(dual)
    first = made.head
    names = names_head(dual, [Intent(name) for name in first.intents])
    head = answer_by_name(even_mixture(first, names, 0.7), dual, [Intent("where is it")])
    made = replace(made, head=head)
    assert_alike_elsewhere(made, tmp_path, elsewhere)
    # A fence that does not go by scores alone: familiar is what the studio finds familiar.
    found = measure_exemplars(made.head, made.embeddings, made.targets)
    measure = found.measure_on("mixture", made.embeddings, made.targets)
    asked = measure.familiarity(made.encoder.encode(ASKED[:4]), made.scores(ASKED[:4]))
    limit = float(np.median(asked))
    fence = replace(made.calibration, threshold=limit, familiarity_measure=measure)
    fenced = replace(made, calibration=fence)
    assert len({p.decision.out_of_scope for p in fenced.predict(ASKED[:4])}) == 2
    assert_alike_elsewhere(fenced, tmp_path / "fenced", elsewhere)
    assert load_pipeline(tmp_path / "fenced" / "p").predict(ASKED) == fenced.predict(ASKED)


@pytest.mark.parametrize(
    ("kind", "adapter"), [("bert", "bottleneck"), ("bert", "lora"), ("modernbert", "bottleneck")]
)
def test_an_adapter_is_carried_with_its_base_and_works_without_this_project(
    tmp_path: Path, elsewhere: Elsewhere, kind: str, adapter: str
) -> None:
    write = tiny_folder if kind == "bert" else lambda folder: tiny_transformer(folder, kind)
    # Processors round the last digit of an embedding differently. Votes as sharp as leave-one-out
    # chooses here enlarge that 250 times, and the fifth digit of a score differs.
    smooth = VotesConfig(tau=0.3, ridge=0.3)
    made = pipeline(randomly_adapted(load_folder(write(tmp_path / "base")), adapter), smooth)
    bundle = assert_alike_elsewhere(made, tmp_path, elsewhere)
    with open_bundle(bundle) as (folder, manifest):
        again = load_pipeline(folder)
        assert again.predict(ASKED) == made.predict(ASKED)
        save_pipeline(again, FACTS, tmp_path / "second")
    second = export_bundle(tmp_path / "second", tmp_path / "second.zip")
    assert manifest.files == second.files
    assert (tmp_path / "second.zip").read_bytes() == bundle.read_bytes()


def test_the_card_says_how_an_adapter_is_put_in() -> None:
    recipe = {"kind": "adapter", "adapter": "lora", "merge": False}
    assert "`encoder/adapter/`" in model_card({"recipe": recipe})
    for other in ({**recipe, "merge": True}, {"kind": "convfit"}):
        assert "`encoder/adapter/`" not in model_card({"recipe": other})


def assert_alike_elsewhere(made: IntentPipeline, tmp_path: Path, elsewhere: Elsewhere) -> Path:
    """Answer by the bundle's own program, where this project cannot be imported."""
    save_pipeline(made, FACTS, tmp_path / "p")
    export_bundle(tmp_path / "p", tmp_path / "p.zip")
    unpacked = unpack_bundle(tmp_path / "p.zip", tmp_path / "unpacked")
    (tmp_path / "asked.txt").write_text("\n".join(ASKED[:4]), encoding="utf-8")
    theirs = elsewhere.run_example(unpacked, "--file", str(tmp_path / "asked.txt"))
    for answer, mine in zip(theirs, made.predict(ASKED[:4]), strict=True):
        assert answer["intents"] == list(mine.decision.intents)
        assert answer["rule"] == mine.decision.rule
        assert answer["score"] == pytest.approx(mine.ranked[0].score, abs=1e-5)
        assert answer["neighbours"][0]["vote"] == pytest.approx(
            mine.reason.neighbours[0].vote, abs=1e-5
        )
    return tmp_path / "p.zip"


@pytest.mark.parametrize("head", [VotesConfig(), MlpConfig(hidden=32, epochs=20)])
def test_the_example_answers_with_several_intents_and_their_reasons(
    tiny: TransformerEncoder, tmp_path: Path, elsewhere: Elsewhere, head
) -> None:
    thresholds = (0.2, 0.3, 0.25)
    calibration = Calibration(0.1, 0.25, 0.0, "multi-label", thresholds, 0.4)
    made = replace(pipeline(tiny, head), calibration=calibration)
    save_pipeline(made, FACTS, tmp_path / "p")
    export_bundle(tmp_path / "p", tmp_path / "p.zip")
    texts = [*ASKED[:4], made.exemplars[0].text]
    unpacked = unpack_bundle(tmp_path / "p.zip", tmp_path / "unpacked")
    theirs = elsewhere.run_example(unpacked, *texts)
    for answer, mine in zip(theirs, made.predict(texts), strict=True):
        assert (answer["intents"], answer["rule"]) == (
            list(mine.decision.intents), mine.decision.rule,
        )  # fmt: skip
        shares = {one.intent: one.probability for one in mine.ranked}
        for said, reason in zip(answer["reasons"], mine.reasons, strict=True):
            assert said["score"] == pytest.approx(reason.score, abs=1e-5)
            assert said["threshold"] == reason.threshold
            assert said["probability"] == pytest.approx(shares[reason.intent], abs=1e-4)
            assert said["neighbours"][0]["vote"] == pytest.approx(
                reason.neighbours[0].vote, abs=1e-5
            )
    assert any(len(answer["intents"]) > 1 for answer in theirs)


def test_the_program_answers_no_text_that_nobody_sees(
    tiny: TransformerEncoder, tmp_path: Path, elsewhere: Elsewhere
) -> None:
    """A zero-width space was answered with an intent."""
    assert_alike_elsewhere(pipeline(tiny), tmp_path, elsewhere)
    folder = tmp_path / "unpacked"
    texts = ["\u200b", ASKED[0], " \u3164"]
    answers = elsewhere.run_example(folder, *texts)
    assert [answer["text"] for answer in answers] == texts
    assert [answer["rule"] == "empty" for answer in answers] == [True, False, True]
    assert answers[0]["intents"] == []
    assert [answer["rule"] for answer in elsewhere.run_example(folder, "")] == ["empty"]
