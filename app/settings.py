"""The studio's settings, from STUDIO_* variables or the command line."""

import os
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.log_lines import LogFormat
from core.errors import InvalidInput
from core.types import AskedEncodingPrecision
from storage.database import database_file

_CENTURY = 36_500
"""The most days that anything is kept. A setting of 800,000 would reach before the year 1."""


class Settings(BaseSettings):
    """Settings that are not part of a recipe."""

    model_config = SettingsConfigDict(env_prefix="STUDIO_", frozen=True, extra="ignore")

    home: Path = Field(
        default=Path("~/.intent-studio"), description="Folder of the database and its artifacts."
    )
    database_url: str | None = Field(
        default=None, description="Another database than HOME/studio.db, as sqlite:///FILE."
    )
    device: str = Field(
        default="auto", description="Where tuning computes: auto, cpu, cuda or cuda:N."
    )
    map_precision: AskedEncodingPrecision = Field(
        default="float32",
        description="Number format that encodes maps and groups: auto, float32, bfloat16, int8.",
    )
    chromium: Path | None = Field(
        default=None, description="Chromium, Chrome or Edge that prints PDFs, where not found."
    )
    log: LogFormat | None = Field(
        default=None,
        description="Log one line for each request and job, as text or json; else faults alone.",
    )
    keep_traces_days: int = Field(
        default=30,
        ge=1,
        le=_CENTURY,
        description="Days that logs and curves of jobs without a version are kept.",
    )
    keep_layouts_days: int = Field(
        default=30, ge=1, le=_CENTURY, description="Days that maps of versions out of use are kept."
    )
    keep_receipts_days: int | None = Field(
        default=None,
        ge=1,
        le=_CENTURY,
        description="Days that receipts are kept; their links end. Else for ever.",
    )
    keep_copies_days: int = Field(
        default=90,
        ge=1,
        le=_CENTURY,
        description="Days that copies from before an upgrade are kept.",
    )
    traffic_per_day: int = Field(
        default=2_000,
        ge=1,
        le=100_000,
        description="Texts of the traffic that are kept of each day and source: a fair sample.",
    )
    actor: str = Field(default="local", description="Name that the event log records.")

    @field_validator("home")
    @classmethod
    def _of_somebody(cls, home: Path) -> Path:
        """Refuse a home such as `~anna/studio`, where there is no user of this name."""
        try:
            home.expanduser()
        except RuntimeError as error:
            raise InvalidInput(
                f"'{home}' cannot be used as a home: it is in the folder of an unknown user.",
                "Write the whole path with --home, or in STUDIO_HOME.",
            ) from error
        return home

    @field_validator("database_url")
    @classmethod
    def _of_a_file(cls, url: str | None) -> str | None:
        """Name the file by its whole path: a server works in another folder."""
        return f"sqlite:///{database_file(url)}" if url else None

    def environment(self) -> dict[str, str]:
        """Return the environment of a child process in which `Settings()` gives these settings."""
        inherited = {key: value for key, value in os.environ.items() if key[:7] != "STUDIO_"}
        values = self.model_dump(mode="json", exclude_none=True) | {"home": str(self.folder)}
        return inherited | {f"STUDIO_{key.upper()}": str(value) for key, value in values.items()}

    @property
    def folder(self) -> Path:
        """The home with `~` expanded."""
        return self.home.expanduser().absolute()


def read_settings(**given: Any) -> Settings:
    """Return the settings: those given, else of the STUDIO_* variables, else as they are without.

    Raises:
        InvalidInput: One has a value that it cannot take; it is named, with what it takes.
    """
    try:
        return Settings(**given)
    except ValidationError as error:
        fault = error.errors()[0]
        name = str(fault["loc"][0])
        wanted = fault["msg"].replace("Input should be", "It should be")
        raise InvalidInput(
            f"The setting STUDIO_{name.upper()} cannot be '{str(fault['input'])[:80]}'. {wanted}.",
            Settings.model_fields[name].description or "",
        ) from error
