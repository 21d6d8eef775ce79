"""A studio that people reach through a proxy alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.builders.proxied.proxy import Proxy, proxy_at
from tests.builders.served_studio import Served

TOKEN = "a-token-that-a-file-holds"


@contextmanager
def behind(proxy: Proxy, home: Path, *names: str) -> Iterator[tuple[Served, Proxy]]:
    """Serve a home on a Unix socket behind a proxy, with the token of a file.

    `names` are the options that tell its address, in place of `--public-url`.
    """
    token, file = home.with_suffix(".token"), home.with_suffix(".sock")
    token.write_text(TOKEN + "\n", encoding="utf-8")
    with proxy_at(replace(proxy, upstream=file)) as listening:
        more = ("--socket", str(file), "--token-file", str(token))
        more += names or ("--public-url", listening.url)
        served = Served(home, forked=True, more=more)
        try:
            served.start()
            assert TOKEN not in served.address
            served.address = f"{listening.url}/?token={TOKEN}"
            yield served, listening
        finally:
            served.stop()
    assert served.strangers() == []
    assert TOKEN not in served.output.read_text(encoding="utf-8")
