"""Paths of the files and folders of a home."""

from dataclasses import dataclass
from pathlib import Path

from app.settings import Settings
from storage.database import database_file


@dataclass(frozen=True, slots=True)
class Places:
    """The folders and files of one studio; `elsewhere` is a database outside its home."""

    home: Path
    elsewhere: Path | None = None

    @classmethod
    def of(cls, settings: Settings) -> "Places":
        """Return the places that the settings name."""
        url = settings.database_url
        return cls(settings.folder, None if url is None else database_file(url))

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.elsewhere or self.home / "studio.db"

    @property
    def artifacts(self) -> Path:
        """Content-addressed files."""
        return self.home / "artifacts"

    @property
    def uploads(self) -> Path:
        """Files dropped on the page that wait for their import."""
        return self.home / "uploads"

    @property
    def scratch(self) -> Path:
        """Folders that are deleted after use."""
        return self.home / "scratch"

    @property
    def supervisor_lock(self) -> Path:
        """The lock held by the supervisor."""
        return self.home / "locks" / "supervisor.lock"

    @property
    def server_lock(self) -> Path:
        """The lock held by the server of the home; its address stands in it, without the token."""
        return self.home / "locks" / "server.lock"

    @property
    def last_port(self) -> Path:
        """The port on which the home's server listened last, in digits."""
        return self.home / "locks" / "server.port"

    def device_lock(self, device: str) -> Path:
        """The lock held by the job that computes on a device."""
        return self.home / "locks" / f"device-{device.replace(':', '-')}.lock"

    def checkpoints(self, job_id: str) -> Path:
        """A job's checkpoints, deleted when it has ended."""
        return self.home / "checkpoints" / job_id

    def log(self, job_id: str) -> Path:
        """The output of a job's process."""
        return self.home / "logs" / f"{job_id}.log"
