// Searches for texts to point out on the map.
import {h} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {plural} from '../shared/words.js';

const PAUSE = 150; // milliseconds without typing before a search is sent
const MOST_MARKED = 500;

export class Search {
  element;
  #base;
  #hears;

  // Callbacks in `hears`: `marked` with ids of texts, none when nothing is looked for; `told` with words.
  constructor(base, hears) {
    let timer = 0;
    this.#base = base;
    this.#hears = hears;
    const look = guarded(() => this.look());
    this.element = h('input', {
      type: 'search',
      placeholder: 'Highlight texts with …',
      'aria-label': 'Highlight texts',
      maxlength: 1000,
      oninput: () => {
        clearTimeout(timer);
        // An emptied field asks for nothing, and a lasso takes no text that a search dims.
        if (this.isUsed) timer = setTimeout(look, PAUSE);
        else look();
      },
    });
  }

  get isUsed() {
    return this.element.value.trim() !== '';
  }

  async look() {
    const text = this.element.value;
    if (!this.isUsed) {
      this.#hears.marked([]);
      this.#hears.told('');
      return;
    }
    const asked = new URLSearchParams({text, size: MOST_MARKED});
    const {rows, total} = await call(`${this.#base}/utterances?${asked}`);
    if (text !== this.element.value) return; // the search text has changed
    this.#hears.marked(rows.map(row => row.id));
    const more = total > MOST_MARKED ? `; the first ${MOST_MARKED} are marked` : '';
    this.#hears.told(`${plural(total, 'text')} with “${text}”${more}`);
  }
}
