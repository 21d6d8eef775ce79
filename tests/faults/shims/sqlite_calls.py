"""Hear every write of SQLite before it happens, by the door that SQLite has for its own tests.

`sqlite3_vfs.xSetSystemCall` replaces one system call of SQLite's own code, for this process.
"""

import ctypes
import os
from collections.abc import Callable

from storage import database as opening

_Call = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, use_errno=True
)
_CallAt = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t,
    *(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64),
    use_errno=True,
)
_Cut = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64, use_errno=True)
_Set = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_POINTERS = 14
"""Members of the table of a file system between its head and `xSetSystemCall`."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.write.restype = ctypes.c_ssize_t
_libc.write.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
_libc.pwrite.restype = ctypes.c_ssize_t
_libc.pwrite.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64)
_libc.ftruncate.argtypes = (ctypes.c_int, ctypes.c_int64)


class _FileSystem(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int),
        ("file_size", ctypes.c_int),
        ("longest_path", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("calls", ctypes.c_void_p * (_POINTERS - 1)),
        ("set_system_call", _Set),
    )


class SqliteCalls:
    """Calls `before` ahead of each write and truncation of SQLite in this process.

    `before` gets the name of the call; an `OSError` that it raises is what SQLite gets to see.
    """

    def __init__(self, before: Callable[[str], None]) -> None:
        self.before = before
        # SQLite keeps addresses: these objects live as long as this one.
        self.calls = {
            "write": _Call(self._write),
            "pwrite": _CallAt(self._write_at),
            "pwrite64": _CallAt(self._write_at),
            "ftruncate": _Cut(self._cut),
        }
        module = opening._sqlite_module()
        library = ctypes.CDLL(_library_of(module))
        library.sqlite3_vfs_find.restype = ctypes.POINTER(_FileSystem)
        system = library.sqlite3_vfs_find(None)
        here = ctypes.addressof(system.contents)
        for name, call in self.calls.items():
            address = ctypes.cast(call, ctypes.c_void_p)
            assert system.contents.set_system_call(here, name.encode(), address) == 0

    def _refused(self, name: str) -> bool:
        try:
            self.before(name)
        except OSError as error:
            ctypes.set_errno(error.errno or 0)
            return True
        return False

    def _write(self, descriptor: int, content: int, size: int) -> int:
        if self._refused("write"):
            return -1
        return int(_libc.write(descriptor, content, size))

    def _write_at(self, descriptor: int, content: int, size: int, place: int) -> int:
        if self._refused("pwrite"):
            return -1
        return int(_libc.pwrite(descriptor, content, size, place))

    def _cut(self, descriptor: int, size: int) -> int:
        if self._refused("ftruncate"):
            return -1
        return int(_libc.ftruncate(descriptor, size))


def _library_of(module: object) -> str:
    native = (
        __import__(f"{module.__name__.partition('.')[0]}._sqlite3", fromlist=["x"])
        if (module.__name__.startswith("pysqlite3"))
        else __import__("_sqlite3")
    )
    return os.fspath(native.__file__)
