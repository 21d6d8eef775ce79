"""Contexts of Chromium that one test hands on to the next: loading all scripts anew costs 3 s."""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from tests.builders.held_answers import give_up

_STORES = "cookies,local_storage,indexeddb,cache_storage,service_workers"


@dataclass
class ContextPool:
    """Contexts that nobody uses, by their settings; empty but for the cache of what was loaded.

    Attributes:
        browser: Makes new ones.
        idle: Those that were given back.
        empty: An empty page of each, through which it is cleaned: a new page costs 0.1 s.
    """

    browser: Browser
    idle: dict[str, list[BrowserContext]] = field(default_factory=lambda: defaultdict(list))
    empty: dict[BrowserContext, tuple[Page, CDPSession]] = field(default_factory=dict)

    def take(self, settings: dict[str, Any]) -> BrowserContext:
        """Return a context that has these settings and remembers nothing of anybody."""
        waiting = self.idle[_key(settings)]
        if waiting:
            return waiting.pop()
        context = self.browser.new_context(**settings)
        page = context.new_page()
        self.empty[context] = page, context.new_cdp_session(page)
        return context

    def give_back(self, context: BrowserContext, settings: dict[str, Any], origin: str) -> None:
        """Close its pages, and empty all that they have kept."""
        empty, session = self.empty[context]
        for page in context.pages:
            if page != empty:
                give_up(page)
                page.unroute_all(behavior="ignoreErrors")  # a handler may be asking the server
                page.close()
        context.unroute_all(behavior="ignoreErrors")
        context.set_offline(False)
        context.clear_cookies()
        asked = {"origin": origin, "storageTypes": _STORES}
        session.send("Storage.clearDataForOrigin", asked)
        self.idle[_key(settings)].append(context)


def _key(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)
