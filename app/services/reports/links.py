"""Whether an address of this studio can be opened on another computer."""

import ipaddress
from urllib.parse import urlsplit


def reaches_others(address: str) -> bool:
    """Whether other computers may open an address: its host is not this computer alone.

    A host of the network reaches those who are in the same network and may log in.
    """
    host = urlsplit(address).hostname or ""
    if not host or host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, not a number
        return True


def kept_at(address: str) -> dict[str, str]:
    """Return what the foot of a page says of its own address; nothing for a file, which has none.

    An address that only this computer opens is not printed: whoever reads it elsewhere is misled.
    """
    if not address:
        return {"link": "", "reach": ""}
    shown = address if reaches_others(address) else ""
    return {"link": shown, "reach": link_words(address)}


def link_words(address: str) -> str:
    """Say who can open an address."""
    if reaches_others(address):
        return "It opens for everyone who can reach this studio over the network while it runs."
    return (
        "The link works only on this computer, while the studio runs. For anybody else, send the "
        "PDF or the HTML file."
    )
