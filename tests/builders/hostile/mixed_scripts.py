"""A name with a foreign letter, and a text that turns round."""

CYRILLIC = "r\u0435fund"
"""Looks like "refund"."""
TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Signs that turn the order of the letters after them."""
TURNED = "invoice \u202efdp.exe"
"""Is drawn as "invoice exe.pdf"."""
