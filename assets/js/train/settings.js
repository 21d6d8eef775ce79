// The settings that were chosen in Gradio's forms. They come by way of the server, a moment after the typing.
const QUIET = 300; // milliseconds without another answer, after which the last one is in
const PATIENCE = 5000;

export class ChosenSettings {
  #all = {};
  #typed = 0;
  #arrived = 0;

  // `changed` hears of each arrival.
  constructor({props, watch}, changed) {
    watch?.('settings', () => {
      this.#all = JSON.parse(props.settings || '{}');
      this.#arrived = performance.now();
      changed();
    });
    const typed = event => {
      if (event.target.closest('.recipe-settings')) this.#typed = performance.now();
    };
    for (const kind of ['input', 'change', 'click']) document.addEventListener(kind, typed, true);
  }

  of(recipe) {
    return this.#all[recipe] ?? {};
  }

  // Wait for what was typed just now, so that no training starts without it.
  async settled() {
    const until = performance.now() + PATIENCE;
    const waits = now => this.#arrived < this.#typed || now - this.#arrived < QUIET;
    while (performance.now() < until && this.#typed && waits(performance.now())) {
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
}
