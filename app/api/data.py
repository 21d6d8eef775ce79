"""Routes that search, edit, import and export utterances."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Query, Response, UploadFile
from fastapi.responses import FileResponse

from app.api.http.bodies import (
    EditBody,
    EditCountBody,
    EraseBody,
    FilterBody,
    FilterQuery,
    IdsBody,
    MappingBody,
    SavedFilterBody,
)
from app.api.http.downloads import BYTES, download
from app.api.http.repeats import Once
from app.api.http.routers import rest_router
from app.api.http.server_state import Live, OpenStudio, WatchedTexts
from app.api.http.text_bodies import NewTextsBody
from app.services.data.bulk import Edit
from app.services.data.erasing import ErasureView, erase_texts
from app.services.data.exporting import ExportChoice, export_file, export_onto
from app.services.data.importing import ImportReport
from app.services.data.saved_filters import (
    SavedFilter,
    delete_filter,
    save_filter,
    saved_filters,
)
from app.services.data.uploads import (
    Incoming,
    ReceivedPackage,
    delete_upload,
    import_rows,
    import_upload,
    look_at_package,
    preview_upload,
    receive_package,
    receive_upload,
    upload_path,
)
from app.services.data.utterances import (
    ChangeView,
    CountView,
    PageView,
    change_many,
    count_many,
    load_page,
    load_utterances,
)
from app.services.exchange.handover import (
    HandoverChoice,
    HandoverReport,
    TargetView,
    list_targets,
    look_at_handover,
    write_project,
)
from app.services.live.live_studio import LiveStudio
from app.services.live.row_answers import RowAnswers, answer_rows
from app.services.review.disagreements import differing_ids
from app.services.review.names import borderline_ids
from core.exports.targets import TARGETS, Target
from core.formats.rows import WriteFormat
from core.types import Split
from storage.queries.utterances import Filter, Page
from storage.records import UtteranceRecord

router = rest_router("utterances")
_PIECE = 1 << 20

Language = Annotated[str | None, Query(pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$")]
"""Code of the texts that name none, such as `de`."""


@router.get("/projects/{project}/utterances")
def utterances(
    live_studio: Live,
    project: str,
    which: Annotated[FilterQuery, Query()],
) -> PageView:
    """Return a page of utterances."""
    chosen = _filter(live_studio, project, which)
    page = Page(which.page * which.size, which.size)
    return load_page(live_studio.studio, project, chosen, which.order, page)


def _filter(live_studio: LiveStudio, project: str, which: FilterBody) -> Filter:
    return which.read(
        differing_ids(live_studio, project) if which.differs else None,
        borderline_ids(live_studio, project) if which.borderline else None,
    )


@router.post("/projects/{project}/utterances/by-ids")
def by_ids(studio: OpenStudio, project: str, body: IdsBody) -> list[UtteranceRecord]:
    """Return utterances by their ids, in the order asked for."""
    return load_utterances(studio, project, body.ids)


@router.post("/projects/{project}/utterances/answers")
def answers(live_studio: Live, project: str, body: IdsBody) -> RowAnswers:
    """Return the live model's answers to some utterances; never waits for it to load."""
    return answer_rows(live_studio.studio, live_studio.models, project, body.ids)


@router.get("/projects/{project}/filters")
def filters(studio: OpenStudio, project: str) -> list[SavedFilter]:
    """List the filters that the person keeps in a project."""
    return saved_filters(studio, project)


@router.put("/projects/{project}/filters")
def keep_filter(studio: OpenStudio, project: str, body: SavedFilterBody) -> list[SavedFilter]:
    """Keep a filter by name; return all."""
    return save_filter(studio, project, body.name, body.query)


@router.delete("/projects/{project}/filters")
def forget_filter(studio: OpenStudio, project: str, name: str) -> list[SavedFilter]:
    """Delete a filter by name; return the others."""
    return delete_filter(studio, project, name)


@router.post("/projects/{project}/edits/count")
def count(live_studio: Live, project: str, body: EditCountBody) -> CountView:
    """Count what an edit would change, by what must be asked first; nothing is saved."""
    which = _filter(live_studio, project, body.filter)
    return count_many(live_studio.studio, project, which, Edit(body.kind, body.value))


@router.post("/projects/{project}/edits")
def edit(live_studio: Live, project: str, body: EditBody) -> ChangeView:
    """Change the utterances that match a filter, if their number is as expected.

    Labelled texts and those of the test set are left as they are unless `also` names them.
    """
    which = _filter(live_studio, project, body.filter)
    change = Edit(body.kind, body.value, body.create)
    return change_many(live_studio.studio, project, which, change, body.act())


@router.post("/projects/{project}/erase")
def erase(
    live_studio: Live, watched_texts: WatchedTexts, project: str, body: EraseBody
) -> ErasureView:
    """Erase texts for good, from the log and all that quotes it; without `now`, count them."""
    done = erase_texts(live_studio.studio, project, body.texts, now=body.now)
    if done.done:
        live_studio.forget_texts()
        watched_texts.forget()
    return done


@router.post("/projects/{project}/uploads", status_code=201)
def upload(studio: OpenStudio, project: str, file: UploadFile) -> Incoming:
    """Store an uploaded file, and preview its import."""
    pieces: Iterator[bytes] = iter(lambda: file.file.read(_PIECE), b"")
    return receive_upload(studio, project, file.filename or "upload.csv", pieces)


@router.post("/projects/{project}/uploads/{key}/look")
def look(studio: OpenStudio, project: str, key: str, body: MappingBody) -> Incoming:
    """Preview the import again, with another mapping."""
    return preview_upload(studio, project, key, body.read())


@router.post("/projects/{project}/uploads/{key}/import")
def bring_in(
    studio: OpenStudio, once: Once, project: str, key: str, body: MappingBody
) -> ImportReport:
    """Import an uploaded file, all or nothing."""
    mapping = body.read()
    return once.answer(body, lambda keep: import_upload(studio, project, key, mapping, keep))


@router.post("/projects/{project}/texts", status_code=201)
def add_texts(studio: OpenStudio, once: Once, project: str, body: NewTextsBody) -> ImportReport:
    """Add texts, all or nothing, as an import of a file with these rows does."""
    rows, mapping = body.read(), body.choices()
    return once.answer(body, lambda keep: import_rows(studio, project, rows, mapping, keep))


@router.delete("/projects/{project}/uploads/{key}", status_code=204)
def forget(studio: OpenStudio, key: str) -> Response:
    """Delete an uploaded file."""
    delete_upload(studio, key)
    return Response(status_code=204)


_ENDINGS: dict[WriteFormat, str] = {
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "text": "txt",
    "spreadsheet": "csv",
    "rasa": "yml",
}


@router.get("/projects/{project}/export", responses=BYTES)
def export(
    studio: OpenStudio,
    project: str,
    kind: WriteFormat = "csv",
    version: str | None = None,
    split: Split | None = None,
) -> FileResponse:
    """Download the utterances, as they are now or in a dataset version, of all splits or one.

    Files of Rasa and plain texts have no place for the split: without one, they leave out the test
    texts.
    """
    number = "" if version is None else f"-v{version}"
    part = "" if split is None else f"-{split}"
    choice = ExportChoice(kind, version, split)
    name = f"{project}{number}{part}.{_ENDINGS[kind]}"
    return download(name, lambda out: export_file(studio, project, out, choice))


@router.post("/projects/{project}/packages", status_code=201)
def package(studio: OpenStudio, project: str, file: UploadFile) -> ReceivedPackage:
    """Store a platform's export, and count what the project's labels would change in it."""
    pieces: Iterator[bytes] = iter(lambda: file.file.read(_PIECE), b"")
    return receive_package(studio, project, file.filename or "package.zip", pieces)


@router.get("/projects/{project}/packages/{key}/look")
def look_at_onto(
    studio: OpenStudio, project: str, key: str, remove_missing: bool = False
) -> ReceivedPackage:
    """Count what the project's labels would change in a stored package."""
    return look_at_package(studio, project, key, remove_missing=remove_missing)


@router.get("/projects/{project}/packages/{key}", responses=BYTES)
def onto(studio: OpenStudio, project: str, key: str, remove_missing: bool = False) -> FileResponse:
    """Download a stored package with the project's labels; all else keeps every byte."""
    path = upload_path(studio, key)
    return download(
        f"{path.stem}-labelled{path.suffix}",
        lambda out: export_onto(studio, project, path, out, remove_missing=remove_missing),
    )


@router.get("/projects/{project}/handovers")
def targets() -> list[TargetView]:
    """List the platforms and tools in whose format a whole project is written."""
    return list_targets()


async def _handover(
    target: Target,
    version: int | None = None,
    split: Split | None = None,
    language: Language = None,
) -> HandoverChoice:
    return HandoverChoice(target, version, split, language)


@router.get("/projects/{project}/handovers/{target}")
def look_at_target(
    studio: OpenStudio, project: str, choice: Annotated[HandoverChoice, Depends(_handover)]
) -> HandoverReport:
    """Say what a platform or a tool has a place for of a project, and what it would refuse."""
    return look_at_handover(studio, project, choice)


@router.get("/projects/{project}/handovers/{target}/file", responses=BYTES)
def hand_over(
    studio: OpenStudio, project: str, choice: Annotated[HandoverChoice, Depends(_handover)]
) -> FileResponse:
    """Download a project as a platform or a tool keeps it; several files as a zip."""
    name = f"{project}-{choice.target}{TARGETS[choice.target].ending}"
    return download(name, lambda out: write_project(studio, project, choice, out, as_download=True))
