// The texts that the server leases to this tab, so that no other tab shows them: given back as the page is left.
import {newKey} from '../shared/new_key.js';
import {call} from '../shared/rest.js';

const STORE = 'client';

export class Leases {
  client; // the name under which the server leases texts to this tab
  #path;

  constructor(base) {
    this.client = takeName();
    this.#path = `${base}/queue?client=${this.client}`;
  }

  // Calls `again` when the browser shows the page once more that it has kept: its texts may be on other cards by then.
  giveBackOnLeaving(again) {
    window.addEventListener('pagehide', () => this.#giveBack());
    window.addEventListener('pageshow', ({persisted}) => {
      if (!persisted) return;
      takeName(this.client);
      again();
    });
  }

  #giveBack() {
    sessionStorage.setItem(STORE, this.client);
    call(this.#path, {method: 'DELETE', keepalive: true}).catch(() => {});
  }
}

// The name is stored only between two pages of this tab. While a page is open, a copy of the tab finds none in its own
// copy of the store: with the same name both tabs would show the same texts, and the first to close give back those of
// the other.
function takeName(own = sessionStorage.getItem(STORE) ?? newKey()) {
  sessionStorage.removeItem(STORE);
  return own;
}
