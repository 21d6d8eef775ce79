"""A search condition for words in any case and alphabet, in one pass over the rows."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class Contains(FunctionElement[bool]):
    """Whether a text column contains a word; %, _ and backslash are literal."""

    name = "contains"
    type = sa.Boolean()
    inherit_cache = True

    def __init__(self, column: sa.ColumnElement[str], word: str) -> None:
        signs = ("\\", "%", "_")
        for sign in signs:
            word = word.replace(sign, f"\\{sign}")
        super().__init__(column, sa.literal(f"%{word.casefold()}%"))

    def self_group(self, against: Any = None) -> "Contains":  # noqa: ARG002 - SQLAlchemy's own
        """Stay as it is: `(...) = 1` around it would make SQLite fold every text in Python."""
        return self


@compiles(Contains)
def _anywhere(element: Contains, compiler: Any, **kw: Any) -> str:
    column, pattern = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"({column} ILIKE {pattern} ESCAPE '\\')"


@compiles(Contains, "sqlite")
def _in_sqlite(element: Contains, compiler: Any, **kw: Any) -> str:
    """Use fast LIKE, which folds ASCII only; for other texts, also the studio's own `lower`."""
    column, pattern = element.clauses
    text, first, second = (compiler.process(clause, **kw) for clause in (column, pattern, pattern))
    others = f"length({text}) <> octet_length({text})"
    return (
        f"({text} LIKE {first} ESCAPE '\\' "
        f"OR ({others} AND lower({text}) LIKE {second} ESCAPE '\\'))"
    )
