"""A project at a glance tells of every job that waits, not only of the one that runs."""

from app.bootstrap import open_studio
from app.services.data.projects import create_project
from app.services.live.live_studio import open_live_studio
from app.services.status import load_status
from app.settings import Settings
from storage import jobs, projects


def test_jobs_that_wait_behind_another_are_told(tmp_path, monkeypatch) -> None:
    """Discover did not know that its groups waited for a training."""
    studio = open_studio(Settings(home=tmp_path / "home"))
    monkeypatch.setattr(type(studio.executor), "ensure_running", lambda _: None)
    live_studio = open_live_studio(studio)
    for name in ("p", "other"):
        create_project(studio, name)
    assert (load_status(live_studio, "p").job, load_status(live_studio, "p").queued) == (None, ())
    with studio.database.write() as connection:
        ids = {one: projects.find(connection, one).id for one in ("p", "other")}
        training = jobs.enqueue(connection, "train", {}, ids["p"])
        jobs.enqueue(connection, "discover", {}, ids["other"])
        jobs.enqueue(connection, "discover", {}, ids["p"])
        jobs.claim(connection, training.id)
    view = load_status(live_studio, "p")
    assert view.job is not None
    assert (view.job.kind, view.job.state, view.queued) == ("train", "running", ("discover",))
    view = load_status(live_studio, "other")
    assert view.job is not None
    assert (view.job.kind, view.job.state, view.queued) == ("discover", "queued", ())
    studio.database.close()
