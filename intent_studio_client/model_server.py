"""A model server, as `intent-studio serve-model` runs it: `ModelServer(address, key)`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from intent_studio_client.answers import Served
from intent_studio_client.connection import Connection, Request, StudioFault
from intent_studio_client.reading import read


@dataclass(frozen=True)
class ModelServer:
    """A running model server; its methods raise `StudioFault` where it refuses.

    Attributes:
        address: Such as `http://127.0.0.1:8080`.
        key: The key that the server was started with; "" for none.
        timeout: Seconds without a byte after which a request has failed.
        patience: Seconds for which a request is sent again while too many texts wait (429).
    """

    address: str
    key: str = field(default="", repr=False)
    timeout: float = 10.0
    patience: float = 0.0

    def predict(self, texts: Sequence[str], *, evidence: bool = True, model: str = "") -> Served:
        """Answer texts, as many as the server takes at once; with the votes, or without.

        `model` names one of the server's models; without it, the first of them answers.
        """
        query = {"evidence": int(evidence)}
        body = {"texts": list(texts)} | ({"model": model} if model else {})
        found = self._connection.ask(Request("POST", "/predict", query=query, body=body))
        return read(Served, found)

    def is_ready(self) -> bool:
        """Whether texts are answered now."""
        try:
            self._connection.ask(Request("GET", "/health/ready"))
        except StudioFault:
            return False
        return True

    @property
    def _connection(self) -> Connection:
        return Connection(self.address, self.key, self.timeout, self.patience)
