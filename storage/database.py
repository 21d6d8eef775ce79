"""Open the database safely: settings, version checks, migrations, and one writer at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from core.errors import InvalidInput, StudioError
from core.files import network_file_system, sync_file, sync_folder
from storage.faults import in_words, not_kept, translate
from storage.soundness.checksums import add_checksum
from storage.soundness.damage import (
    OlderDatabase,
    damage_of,
    damaged_tables,
    is_damaged,
    older_than,
)
from storage.write_queue import SharedWrites, WriteQueue

SCHEMA = "0025"
"""The newest revision; the migrations and Alembic are imported only when needed."""

FIXED_SQLITE = (3, 51, 3)
"""Before this version, two connections could damage a WAL that is being reset."""

Transaction = Connection
"""The type that repositories take, so that other code need not import SQLAlchemy."""

_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA busy_timeout=15000",
    # Memory mapping makes reading tens of thousands of embeddings three times as fast.
    "PRAGMA mmap_size=1073741824",
    # After a large transaction the write-ahead log is cut back when it begins anew.
    "PRAGMA journal_size_limit=16777216",
)

_FOR_MANY_ROWS = (
    # KiB: pages of random places are written once. With the usual 2 MB they spill again and again.
    "PRAGMA cache_size=-131072",
    # The commit only appends to the log; `empty_log` copies it later, while others may write.
    "PRAGMA wal_autocheckpoint=0",
)

_TRUNCATE_PATIENCE_MS = 100

_COPY = ".before-"
"""Stands in the name of a copy before the revision that it has."""


@dataclass(frozen=True, slots=True)
class Database:
    """An open database, made by `open_database`."""

    engine: Engine
    writers: WriteQueue = field(default_factory=WriteQueue)
    decisions: SharedWrites[Any, Any] = field(default_factory=SharedWrites)

    @property
    def file(self) -> Path:
        """The SQLite file."""
        return Path(self.engine.url.database or "")

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Run one writing transaction; writers of this process wait in a queue."""
        with (
            self.writers.turn(),
            self.engine.execution_options(studio_writes=True).connect() as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def write_beside(self, other: Path) -> Iterator[Connection]:
        """Run one writing transaction that reads the tables of another file as `staged`."""
        with (
            self.writers.turn(),
            self.engine.execution_options(studio_writes=True).connect() as connection,
        ):
            raw: Any = connection.connection.driver_connection
            try:
                for pragma in _FOR_MANY_ROWS:
                    raw.execute(pragma)
                raw.execute("ATTACH ? AS staged", (str(other),))  # not possible in a transaction
                with connection.begin():
                    yield connection
            finally:
                connection.invalidate()  # closes it, and with it the other file

    def empty_log(self) -> None:
        """Copy the write-ahead log into the database and cut it to nothing, if nobody reads it.

        Others may write meanwhile; only the cut, a few ms, makes them wait.
        """
        raw: Any = self.engine.raw_connection()
        try:
            raw.execute("PRAGMA wal_checkpoint(PASSIVE)")
            raw.execute(f"PRAGMA busy_timeout={_TRUNCATE_PATIENCE_MS}")
            with self.writers.turn():
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            raw.invalidate()  # its patience is not that of other connections
            raw.close()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Run one read-only transaction on a single consistent state."""
        with self.engine.connect() as connection, connection.begin():
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def savepoint(connection: Transaction) -> Iterator[None]:
    """Take back what follows alone, if it fails.

    On a full or failing disk SQLite takes the whole transaction back, and the savepoint with it:
    then what went wrong is raised, and not that the savepoint is gone.
    """
    failed: StudioError | None = None
    try:
        with connection.begin_nested():
            try:
                yield
            except StudioError as error:
                failed = error
                raise
    except sa.exc.OperationalError:
        if failed is None:
            raise
        raise failed from failed.__cause__


def database_file(url: str) -> Path:
    """Return the file that a database's URL names, by its whole path.

    Raises:
        InvalidInput: It is not SQLite's, or names no file.
    """
    kind, _, rest = url.partition(":")
    file = rest.removeprefix("///").partition("?")[0] if rest.startswith("///") else ""
    if kind != "sqlite":
        raise InvalidInput(
            f"Data are kept in SQLite; {kind} is not supported yet.",
            "Leave the URL out, or write sqlite:///FILE.",
        )
    if not file or file == ":memory:":
        raise InvalidInput(
            f"The URL of the database, {url[:80]}, names no file.",
            "Leave the URL out, or write sqlite:///FILE.",
        )
    return Path(file).absolute()


def open_database(file: Path) -> Database:
    """Open a database, and create or migrate its schema.

    Raises:
        InvalidInput: The database is from a newer studio; SQLite is too old; or the file lies on a
            network file system.
        DatabaseDamaged: The file is not what was written.
        ReadOnlyHome: The folder may not be written to.
    """
    _refuse_network(file)
    database = Database(_sqlite_engine(file))
    try:
        _bring_up_to_date(database)
    except BaseException:
        database.close()
        raise
    return database


def _refuse_network(file: Path) -> None:
    """Refuse a file of another machine: SQLite's locks and shared memory need a local disk."""
    kind = network_file_system(file.parent)
    if kind is not None:
        raise InvalidInput(
            f"The database {file} lies on a network file system ({kind}), where two programs could "
            "damage it.",
            "Name a folder on a disk of this machine with --home, and keep backups elsewhere.",
        )


def _bring_up_to_date(database: Database) -> None:
    with database.read() as connection:
        schema = _schema_revision(connection)
    if schema == SCHEMA:
        return
    if schema is not None and schema > SCHEMA:
        raise InvalidInput(
            f"The database is of a newer studio (schema {schema}, this one knows {SCHEMA}).",
            "Update Intent Studio, or open another home.",
        )
    if schema is not None:
        _copy_aside(database, schema)
    from storage.migrations.steps import migrate

    with database.write() as connection:
        migrate(connection)


def _schema_revision(connection: Connection) -> str | None:
    """Return the schema's revision; None for an empty database."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.exec_driver_sql(
        "SELECT version_num FROM alembic_version"
    ).scalar()
    return revision


def _copy_aside(database: Database, revision: str) -> None:
    """Write a full copy beside the file before its schema changes."""
    copy = Path(f"{database.file}{_COPY}{revision}")
    copy.unlink(missing_ok=True)
    copy_database(database.engine, copy)
    with copy.open("rb+") as written:  # "VACUUM INTO" leaves that to its caller
        sync_file(written)
    sync_folder(copy.parent)


def copies_aside(database: Path) -> list[Path]:
    """Return the copies of a database's file from before upgrades, by name."""
    return sorted(database.parent.glob(f"{escape(database.name)}{_COPY}*"))


def copy_database(engine: Engine, target: Path) -> None:
    """Write a consistent copy of an SQLite database, even during writes."""
    with _raw_cursor(engine) as cursor:
        cursor.execute("VACUUM INTO ?", (str(target),))


def overwrite_free_pages(database: Database) -> bool:
    """Rewrite the file without the pages of deleted rows, and empty the write-ahead log.

    Returns False where another process reads for too long; the next call does it.
    """
    with database.writers.turn(), _raw_cursor(database.engine) as cursor:
        cursor.execute("VACUUM")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return not busy


@contextmanager
def _raw_cursor(engine: Engine) -> Iterator[Any]:
    """Give a cursor outside any transaction, in which VACUUM refuses to run."""
    raw = engine.raw_connection()
    try:
        yield raw.cursor()
    except _sqlite_module().Error as error:
        told = in_words(str(error), Path(engine.url.database or ""))
        if told is None:
            raise
        raise told from error
    finally:
        raw.close()


def _sqlite_engine(file: Path) -> Engine:
    module = _sqlite_module()
    if module.sqlite_version_info < FIXED_SQLITE:
        raise InvalidInput(
            f"SQLite {module.sqlite_version} can damage a database that two programs write.",
            "Install the newer one: pip install --upgrade pysqlite3",
        )
    # Without parameters in its errors: they are what customers said.
    options = {"hide_parameters": True, "connect_args": {"timeout": 15}}
    url = sa.URL.create("sqlite", database=str(file))
    engine = sa.create_engine(url, module=module, **options)
    sa.event.listen(engine, "connect", _configure)
    sa.event.listen(engine, "begin", _begin)
    sa.event.listen(engine, "handle_error", translate)
    return engine


@contextmanager
def scratch_database(file: Path) -> Iterator[Any]:
    """Open a database that is thrown away after a crash: nothing is synchronised or journalled.

    Raises:
        DiskFull: Nothing more can be written.
        InvalidInput: As for `translate`.
    """
    module = _sqlite_module()
    raw = module.connect(str(file), isolation_level=None)
    try:
        raw.execute("PRAGMA journal_mode=OFF")
        raw.execute("PRAGMA synchronous=OFF")
        yield raw
    except (module.Error, OverflowError, UnicodeEncodeError) as error:
        words = not_kept(error) or in_words(str(error), file)
        if words is None:
            raise
        raise words from error
    finally:
        raw.close()


def _sqlite_module() -> Any:
    """Return the system's SQLite if it is new enough, else pysqlite3's."""
    import sqlite3

    if sqlite3.sqlite_version_info >= FIXED_SQLITE:
        return sqlite3
    from pysqlite3 import dbapi2

    return dbapi2


def _configure(raw: Any, _record: object) -> None:
    raw.isolation_level = None  # `_begin` begins transactions, not the driver
    cursor = raw.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()
    add_checksum(raw)
    # SQLite's own `lower` changes ASCII letters only, but a search for ä must find Ä.
    raw.create_function("lower", 1, _folded, deterministic=True)


def _folded(text: str | None) -> str | None:
    return None if text is None else text.casefold()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("studio_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def damage(database: Path) -> tuple[str, ...]:
    """List all damage of a database's file, reading only; () for a sound one."""
    return damage_of(database, _sqlite_module())


def older_database(database: Path) -> OlderDatabase | None:
    """Read a sound database that `open_database` would upgrade, as it is; None for any other."""
    return older_than(SCHEMA, database, _sqlite_module())


def quick_damage(database: Database) -> frozenset[str] | None:
    """Name the tables that SQLite's quick check finds damaged; None for a sound database.

    It reads the whole file by a connection of its own and holds no lock of Python meanwhile.
    Where only unused pages are damaged, no table is named.
    """
    if not is_damaged(database.file, _sqlite_module()):
        return None
    return damaged_tables(database.file, _sqlite_module())
