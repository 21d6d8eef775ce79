"""Routes for explanations, receipts and reports, and for the links that show one to others."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Literal
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse

from app.addresses import PublicAddress
from app.api.http.bodies import ExplainBody, ShareBody
from app.api.http.downloads import BYTES, download
from app.api.http.routers import rest_router
from app.api.http.schemas import Kept
from app.api.http.server_state import IN_TURN, PRINTS_IN_TURN, Live, OpenStudio
from app.services.explaining import explain as explaining
from app.services.explaining.views import Explanation
from app.services.reports import model_report, receipts, sharing, traffic_report
from app.services.reports.audit import list_acts
from app.services.reports.links import link_words, reaches_others
from app.services.reports.pdf import print_pdf
from app.services.reports.sharing import NewShare, ShareView
from app.services.studio import Studio
from app.services.traffic.coverage import MOST_DAYS, Period
from storage.people.acts import ActFilter, ActPage
from storage.people.shares import Shared

router = rest_router("evidence")
pages = APIRouter(include_in_schema=False)

_POLICY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; font-src data:"
}
_LOOK_AGAIN = "2"
"""Seconds after which a browser asks for a report again that is being counted."""
Form = Literal["html", "pdf"]


@router.post("/projects/{project}/explain", dependencies=[IN_TURN])
def explain(live_studio: Live, project: str, body: ExplainBody) -> Explanation:
    """Explain why a text gets its answer; votes and prior add up to the score."""
    return explaining.explain(live_studio, project, body.text, body.model, body.against)


@router.post("/projects/{project}/receipts", status_code=201, dependencies=[IN_TURN])
def keep_receipt(live_studio: Live, request: Request, project: str, body: ExplainBody) -> Kept:
    """Store the evidence of an answer; its link always shows the same."""
    kept = receipts.keep_receipt(live_studio, project, body.text, body.model, body.against)
    return _kept(request, kept.id, kept.path)


@router.get("/receipts/{key}/receipt.{form}", responses=BYTES, dependencies=[PRINTS_IN_TURN])
def receipt(studio: OpenStudio, request: Request, key: str, form: Form) -> FileResponse:
    """Download a receipt as one self-contained page or as a PDF."""
    record = receipts.find_receipt(studio, key)
    link = _absolute(request, f"/receipts/{key}")

    def make() -> str:
        return receipts.receipt_page(record.content, record.created_at, link, {})

    return _file(studio, f"receipt-{key[:8]}", form, make)


@router.get(
    "/projects/{project}/models/{number}/report.{form}",
    responses=BYTES,
    dependencies=[PRINTS_IN_TURN, IN_TURN],
)
def report(
    live_studio: Live, request: Request, project: str, number: int, form: Form
) -> FileResponse:
    """Download the report on a model version as one page or as a PDF."""
    link = _absolute(request, _report_path(project, number))

    def make() -> str:
        return model_report.report_page(model_report.report(live_studio, project, number), link, {})

    return _file(live_studio.studio, f"{project}-v{number}-report", form, make)


@router.get("/projects/{project}/models/{number}/report-link")
def report_link(studio: OpenStudio, request: Request, project: str, number: int) -> Kept:
    """Return the address of a report."""
    model_report.require_version(studio, project, number)
    return _kept(request, f"{project}@{number}", _report_path(project, number))


@router.get("/projects/{project}/shares")
def list_shares(studio: OpenStudio, project: str) -> list[ShareView]:
    """List the links that open a receipt or report of the project, newest first."""
    return sharing.list_shares(studio, project)


@router.post("/projects/{project}/shares", status_code=201)
def create_share(studio: OpenStudio, request: Request, project: str, body: ShareBody) -> NewShare:
    """Make a link that opens one receipt or report for reading, until it expires or is stopped.

    `link` is a path with its token, behind a proxy with the studio's address there.
    """
    made = sharing.create_share(studio, project, Shared(body.kind, body.target, body.days))
    return replace(made, link=_public(request).root + made.link)


@router.delete("/projects/{project}/shares/{key}", status_code=204)
def stop_sharing(studio: OpenStudio, project: str, key: str) -> Response:
    """Stop sharing: the link opens nothing any more."""
    sharing.stop_sharing(studio, project, key)
    return Response(status_code=204)


@router.get("/projects/{project}/acts")
def acts(
    studio: OpenStudio,
    project: str,
    actor: str | None = None,
    verb: str | None = None,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ActPage:
    """List every act in the project, newest first: when, who, from where, and what."""
    return list_acts(studio, project, ActFilter(actor, verb, offset, limit))


@pages.get("/receipts/{key}")
def receipt_page(studio: OpenStudio, request: Request, key: str) -> HTMLResponse:
    """Show a receipt, with a way back to its text for who may open the studio."""
    record = receipts.find_receipt(studio, key)
    forms = _forms(request, f"/api/receipts/{key}", "receipt")
    link = _absolute(request, f"/receipts/{key}")
    text = record.content["explanation"]["text"]
    asked = {"project": receipts.project_of(studio, record), "text": text}
    back = _back(request, "try", asked)
    page = receipts.receipt_page(record.content, record.created_at, link, forms, back)
    return HTMLResponse(page, headers=_POLICY)


@pages.get("/reports/{project}/traffic")
def traffic_page(
    live_studio: Live,
    request: Request,
    project: str,
    days: Annotated[int, Query(ge=1, le=MOST_DAYS)] = 7,
) -> HTMLResponse:
    """Show the report about what people said in the last days with traffic, once it is counted."""
    asked = urlencode({"project": project, "tab": "traffic"})
    back = f"{_public(request).prefix}/discover?{asked}"
    try:
        found = traffic_report.traffic_report(live_studio, project, Period(days=days))
    except traffic_report.StillCounting:
        waits = traffic_report.waiting_page(project, back)
        return HTMLResponse(waits, headers={**_POLICY, "Refresh": _LOOK_AGAIN})
    path, asked = f"/api/projects/{quote(project)}/traffic", f"?days={days}"
    forms = {name: at + asked for name, at in _forms(request, path, "report").items()}
    return HTMLResponse(traffic_report.report_page(found, forms, back), headers=_POLICY)


@router.get(
    "/projects/{project}/traffic/report.{form}",
    responses=BYTES,
    dependencies=[PRINTS_IN_TURN, IN_TURN],
)
def traffic_file(
    live_studio: Live,
    project: str,
    form: Form,
    days: Annotated[int, Query(ge=1, le=MOST_DAYS)] = 7,
) -> FileResponse:
    """Download the report about what people said, as one file."""

    def page() -> str:
        found = traffic_report.traffic_report(live_studio, project, Period(days=days))
        return traffic_report.report_page(found, {})

    return _file(live_studio.studio, f"{project}-traffic", form, page)


@pages.get("/reports/{project}/{number}", dependencies=[IN_TURN])
def report_page(live_studio: Live, request: Request, project: str, number: int) -> HTMLResponse:
    """Show the report on a model version, with a way back for who may open the studio."""
    forms = _forms(request, f"/api/projects/{quote(project)}/models/{number}", "report")
    report = model_report.report(live_studio, project, number)
    link = _absolute(request, _report_path(project, number))
    back = _back(request, "versions", {"project": project})
    page = model_report.report_page(report, link, forms, back)
    return HTMLResponse(page, headers=_POLICY)


def _back(request: Request, name: str, asked: Mapping[str, str]) -> str:
    """Return the address of one of the studio's pages; "" for who reads one receipt or report."""
    is_owner = getattr(request.state, "entrant", "") == "owner"
    return f"{_public(request).prefix}/{name}?{urlencode(asked)}" if is_owner else ""


def _report_path(project: str, number: int) -> str:
    return f"/reports/{quote(project)}/{number}"


def _public(request: Request) -> PublicAddress:
    public: PublicAddress = request.app.state.public
    return public


def _absolute(request: Request, path: str) -> str:
    public = _public(request)
    return (public.origin or str(request.base_url).rstrip("/")) + public.prefix + path


def _kept(request: Request, name: str, path: str) -> Kept:
    address = _absolute(request, path)
    link = _public(request).root + path
    return Kept(name, path, link, reaches_others(address), link_words(address))


def _forms(request: Request, path: str, name: str) -> dict[str, str]:
    """Return the downloads of a page, by what they are called."""
    path = _public(request).prefix + path
    return {"Download HTML": f"{path}/{name}.html", "Download PDF": f"{path}/{name}.pdf"}


def _file(studio: Studio, name: str, form: Form, make: Callable[[], str]) -> FileResponse:
    page = make()
    if form == "pdf":
        return download(f"{name}.pdf", lambda out: print_pdf(studio.settings, page, out))
    return download(f"{name}.html", lambda out: out.write_text(page, encoding="utf-8"))
