"""Browsers keep scripts and styles, and still never run those of an older studio."""

import re

from app.ui.asset_files import asset_address, fingerprint
from tests.served_in_memory import TOKEN


def test_what_a_page_names_is_kept_because_its_address_changes_with_its_content(serve) -> None:
    client = serve(TOKEN)
    page = client.get(f"/label?token={TOKEN}").text
    named = set(re.findall(r"/studio/[\w./-]+\.(?:css|js|svg|woff2)", page))
    assert asset_address("css/label.css") in named
    assert asset_address("js/label.js") in named
    for address in named:
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"


def test_a_file_without_the_fingerprint_is_asked_about_each_time(serve) -> None:
    """An upgraded studio was shown with scripts of the old one that the browser had kept."""
    client = serve(TOKEN)
    first = client.get(f"/studio/css/label.css?token={TOKEN}")
    assert first.headers["cache-control"] == "no-cache"
    again = client.get("/studio/css/label.css", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.headers["cache-control"]) == (304, "no-cache")


def test_another_fingerprint_and_a_way_out_lead_nowhere(serve) -> None:
    client = serve(TOKEN)
    client.get(f"/?token={TOKEN}")
    for path in ("0123456789ab/css/label.css", f"{fingerprint()}/..%2f..%2fserver.py"):
        assert client.get(f"/studio/{path}").status_code == 404
