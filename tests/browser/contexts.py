"""Contexts of Chromium that one test hands on to the next: loading all scripts anew costs 3 s."""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext

_STORES = "cookies,local_storage,indexeddb,cache_storage,service_workers"


@dataclass
class ContextPool:
    """Contexts that nobody uses, by their settings; empty but for the cache of what was loaded.

    Attributes:
        browser: Makes new ones.
        idle: Those that were given back.
    """

    browser: Browser
    idle: dict[str, list[BrowserContext]] = field(default_factory=lambda: defaultdict(list))

    def take(self, settings: dict[str, Any]) -> BrowserContext:
        """Return a context that has these settings and remembers nothing of anybody."""
        waiting = self.idle[_key(settings)]
        return waiting.pop() if waiting else self.browser.new_context(**settings)

    def give_back(self, context: BrowserContext, settings: dict[str, Any], origin: str) -> None:
        """Close its pages, and empty all that they have kept."""
        for page in context.pages:
            page.close()
        context.unroute_all(behavior="ignoreErrors")
        context.set_offline(False)
        context.clear_cookies()
        page = context.new_page()
        asked = {"origin": origin, "storageTypes": _STORES}
        context.new_cdp_session(page).send("Storage.clearDataForOrigin", asked)
        page.close()
        self.idle[_key(settings)].append(context)


def _key(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)
