// Changes that came while a dialog was open, or while something else must not be drawn over: they are shown as soon as
// that is over.
export class Behind {
  #waits;
  #shows;
  #is = false;

  // `waits` returns whether nothing may be drawn now; `shows` draws the page anew.
  constructor(waits, shows) {
    this.#waits = waits;
    this.#shows = shows;
    document.addEventListener('close', () => this.catchUp(), true); // it does not bubble
  }

  // The project has changed since the page was drawn.
  note() {
    this.#is = true;
    this.catchUp();
  }

  // Perhaps nothing is in the way any more.
  catchUp() {
    if (!this.#is || this.#waits()) return;
    this.#is = false;
    this.#shows();
  }
}
