"""Commands about projects and their utterances."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import cast, get_args

from app.services.data import importing, projects
from app.services.data.erasing import (
    ErasureView,
    ListedText,
    erase_listed,
    erase_texts,
    list_containing,
)
from app.services.data.import_cases import CaseKind, ImportChoices, Meaning
from app.services.data.importing import ImportReport, PackageReport
from app.services.versions import registry, timeline
from app.services.versions import shapes as geometry
from app.services.versions.intact import damaged_versions
from app.terminal.arguments.given_file import given_file
from app.terminal.arguments.importing import OF_LOGS, naming_options
from app.terminal.output import opened, print_json, report, say, table, tell
from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.text import counted, percent, plain_name, size_words, some_of
from core.types import Task

_CASES: dict[CaseKind, str] = {
    "in-test": "in the test set already",
    "in-training": "for the test set, but in another split already",
    "contradicted": "repeated in the file with different labels",
}
_MEANINGS: dict[Meaning, str] = {
    "out-of-scope": "out of scope",
    "unlabelled": "unlabelled",
    "intent": "an intent of this name",
}
_ASSUMED = " (change it with --treat LABEL=MEANING)"


def new(options: argparse.Namespace) -> None:
    """Create an empty project."""
    task: Task = "multi-label" if options.multi_label else "single-label"
    with opened(options, makes=True) as studio:
        projects.create_project(studio, options.name, task)
    report(options, f"Created '{options.name}'.", {"project": options.name, "task": task})
    tell(f"Next: intent-studio import '{options.name}' FILE")


def rename(options: argparse.Namespace) -> None:
    """Rename a project."""
    with opened(options) as studio:
        record = projects.rename_project(studio, options.project, options.name)
    done = f"'{options.project}' is called '{record.name}' now."
    report(options, done, {"project": record.name, "was": options.project})


def delete(options: argparse.Namespace) -> None:
    """Move a project aside."""
    with opened(options) as studio:
        gone = projects.delete_project(studio, options.project)
    report(options, f"Deleted '{gone.name}'.", {"project": gone.name, "key": gone.id})
    tell(f"To bring it back: intent-studio project restore {gone.id}")


def restore(options: argparse.Namespace) -> None:
    """Bring a deleted project back, or list those that can come back."""
    with opened(options) as studio:
        if options.key is None:
            deleted = projects.list_deleted(studio)
            if options.json:
                print_json({"deleted": deleted})
            else:
                rows = [(str(gone.id), gone.name) for gone in deleted]
                table("Deleted projects", ("key", "name"), rows)
            return
        record = projects.restore_project(studio, options.key)
    report(options, f"'{record.name}' is back.", {"project": record.name})


def sample(options: argparse.Namespace) -> None:
    """Create the sample project."""
    with opened(options, makes=True) as studio:
        reports = projects.create_sample(studio, options.name)
    if options.json:
        print_json({"project": options.name, "imports": reports})
    else:
        for one in reports:
            _say_report(one)
    tell(f"Next: intent-studio train '{options.name}'")


def import_(options: argparse.Namespace) -> None:
    """Import a file: its texts, or with --traffic what users said."""
    with naming_options():
        if options.traffic:
            from app.terminal.exchange.traffic_logs import import_traffic

            import_traffic(options)
        else:
            _import_texts(options)


def _import_texts(options: argparse.Namespace) -> None:
    given = any(vars(options)[name] for name in ("source", "zone", *OF_LOGS))
    if given or options.unmasked or options.speaker_column is not None:
        raise InvalidInput(
            "Times, sources and masking go with --traffic.", "Add --traffic, or leave them out."
        )
    with given_file(options.file) as path, opened(options) as studio:
        done = importing.import_file(studio, _import_request(options, path))
    if options.json:
        print_json(done)
    else:
        _say_report(done)


def erase(options: argparse.Namespace) -> None:
    """Erase texts for good, or list them and count what that would touch."""
    if options.containing is not None:
        _erase_containing(options)
        return
    with given_file(options.file) as path:
        rows = read_rows(path, ReadOptions("text"))
        texts = [row.text for row in rows if isinstance(row, ImportedRow)]
    with opened(options) as studio:
        done = erase_texts(studio, options.project, texts, now=options.now)
    if options.json:
        print_json(done)
    else:
        _say_erasure(done, "Add --now to erase")


def _erase_containing(options: argparse.Namespace) -> None:
    words, code = options.containing, options.list or ""
    with opened(options) as studio:
        listed = list_containing(studio, options.project, words)
        done = erase_listed(studio, options.project, words, code, now=options.now)
    if options.json:
        print_json({"texts": listed.texts, "list": listed.code, "erasure": done})
        return
    if not options.now:
        rows = [(one.text, _standing(one)) for one in listed.texts]
        table(f"{counted(len(rows), 'text')} to erase", ("text", "which is"), rows)
    _say_erasure(done, f"To erase exactly these texts, add --now --list {listed.code}")


def _standing(one: ListedText) -> str:
    """Say what becomes of the project if this text goes."""
    if not one.split:
        return "deleted"
    label = "no label" if one.labels is None else " and ".join(one.labels) or "none of the intents"
    return f"{one.split}, {label}{', corrected since' if one.is_former else ''}"


def _say_erasure(done: ErasureView, how: str) -> None:
    counts = {
        "utterances, with deleted ones": done.utterances,
        "of these made from others": done.synthetic,
        "receipts": done.receipts,
        "jobs": done.jobs,
        "filters, goals and proposals": done.preferences,
        "figures of versions": done.versions,
    }
    verb = "Erased" if done.done else "Would be erased"
    rows = [(name, str(n)) for name, n in counts.items()]
    rows += [("examples of " + name, "yes") for name in done.models]
    rows += [("data version " + str(n), "new SHA-256") for n in done.data_versions]
    rows += [(copy, "deleted") for copy in done.copies]
    rows += [("waiting upload " + Path(file).name, "deleted") for file in done.uploads]
    rows += [("stopped training " + job, "cannot be resumed") for job in done.stopped]
    table(verb, ("what", "how many"), rows)
    for place in done.left:
        say(f"Not reached: {place}.")
    if not done.done:
        tell(f"Nothing was changed. {how}; it cannot be undone.")


def _import_request(options: argparse.Namespace, path: Path) -> importing.ImportRequest:
    return importing.ImportRequest(
        project=options.project,
        path=path,
        options=ReadOptions(
            options.format,
            options.text_column,
            options.intent_column,
            options.separator,
            options.encoding,
            sheet=options.sheet,
            split_column=options.split_column,
        ),
        split=options.split,
        dry_run=options.dry_run,
        choices=ImportChoices(
            otherwise=options.conflicts,
            across=options.across,
            contradicted=options.repeats,
            meanings=dict(map(_meaning, options.treat)),
        ),
    )


def _meaning(given: str) -> tuple[str, Meaning]:
    """Read `LABEL=MEANING`; an empty label is an empty cell."""
    label, _, meaning = given.rpartition("=")
    if meaning not in get_args(Meaning):
        raise InvalidInput(
            f"'{given}' does not say what a label means.",
            f"Write LABEL=MEANING, where the meaning is {', '.join(get_args(Meaning))}.",
        )
    return plain_name(label), cast("Meaning", meaning)


def projects_(options: argparse.Namespace) -> None:
    """List the projects."""
    with opened(options) as studio:
        views = projects.list_projects(studio)
    if options.json:
        print_json({"projects": views})
        return
    rows = [
        (
            view.name,
            view.task,
            view.intents,
            f"{view.labelled} of {view.utterances}",
            view.champion or "-",
            _share(view.accuracy),
            _share(view.micro_f1),
            view.measured_on,
        )
        for view in views
    ]
    head = ("name", "task", "intents", "labelled", "champion", "accuracy", "F1", "measured")
    table("Projects", head, rows)


def versions(options: argparse.Namespace) -> None:
    """List dataset and model versions; with --delete, delete one."""
    if options.delete is not None:
        _delete_version(options)
        return
    with opened(options) as studio:
        frozen, models = timeline.list_versions(studio, options.project)
        damaged = damaged_versions(studio, options.project)
        shapes = geometry.shapes_of(studio, options.project) if options.shapes else []
    if options.json:
        measured = {"shapes": shapes} if options.shapes else {}
        print_json({"datasets": frozen, "models": models, "damaged": damaged, **measured})
        return
    rows = [(v.number, v.n_rows, v.sha256[:12], v.created_at[:19], v.changes) for v in frozen]
    table("Dataset versions", ("version", "rows", "SHA-256", "made", "changes"), rows)
    table(
        "Model versions",
        ("version", "recipe", "data", "made", "accuracy", "F1", "measured", "champion"),
        [
            (
                m.name,
                m.recipe,
                m.dataset_version,
                m.created_at[:19],
                _share(m.metrics.get("accuracy")),
                _share(m.metrics.get("micro_f1")),
                m.measured_on,
                "yes" if m.champion else "",
            )
            for m in models
        ],
    )
    for number in damaged:
        say(f"DAMAGED: {options.project}@{number} cannot be used. `intent-studio doctor` says why.")
    if shapes:
        _say_shapes(shapes)


def _delete_version(options: argparse.Namespace) -> None:
    number = options.delete
    with opened(options) as studio:
        gone = registry.delete_model(studio, options.project, number, even_so=options.even_so)
    freed = size_words(gone.bytes_freed - gone.bytes_later)
    words = f"Deleted version {number} of '{options.project}'; {freed} of files went."
    report(options, words, {"deleted": number, **asdict(gone)})


def _say_shapes(shapes: Sequence[geometry.Shape]) -> None:
    rows = [(s.model, s.recipe, _figure(s.uniformity), _figure(s.alignment)) for s in shapes]
    head = ("version", "recipe", "uniformity", "alignment")
    table(f"Embedding spaces, lower is better; on {shapes[0].basis}", head, rows)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _share(value: object) -> str:
    return percent(value, 1) if isinstance(value, float) else "-"


def _say_package(package: PackageReport) -> None:
    with_phrases = sum(1 for one in package.files if one.phrases)
    say(f"{package.platform}: phrases in {counted(with_phrases, 'file')}.")
    for slot, count in package.values.items():
        say(f"  into the slot book: {counted(count, 'value')} of “{slot}”")
    for loss in package.losses:
        say(f"  stays in the package: {loss.what} ({loss.count:,})")
    if package.unread:
        say(f"  texts and labels are read, and no {package.unread}; export --onto keeps these")


def _say_report(report: ImportReport) -> None:
    if report.package is not None:
        _say_package(report.package)
    would = "Would add" if report.dry_run else "Added"
    given = counted(report.labelled, "label")
    say(f"{would} {counted(report.added, 'utterance')}; {given} given.")
    rows = {case.kind: case.rows for case in report.cases}
    sets = report.added_to if len(report.added_to) > 1 else {}
    notes = {
        **{f"of these in {split}": count for split, count in sets.items()},
        "for validation, read as rows without a split": report.validation,
        "with slots": report.marked,
        "got a language, ids or other fields that they lacked": report.completed,
        "already there": report.already_there,
        "with another label than here": report.conflicting,
        "relabelled as in the file": report.relabelled,
        **{words: rows.get(kind, 0) for kind, words in _CASES.items()},
        "empty": report.empty,
        "too long": report.too_long,
    }
    for words, count in notes.items():
        if count:
            say(f"  {count:,} {words}")
    for doubt in report.doubtful:
        name = f"labelled '{doubt.label}'" if doubt.label else "without a label"
        meaning = _MEANINGS[doubt.meaning]
        say(f"  {doubt.rows:,} {name}: taken as {meaning}" + ("" if doubt.chosen else _ASSUMED))
    if report.new_intents:
        new = counted(len(report.new_intents), "new intent")
        say(f"  {new}: {some_of(report.new_intents, 8)}")
    for example in report.examples:
        say(f"    {example}")
    if report.convention:
        say(f"  {report.without} labelled with no intent")
        tell(report.convention)
