// Values marked by hand: one text without a mark after the other, found by a word if the person likes.
import {field, fill, h} from '../shared/elements.js';
import {Marker} from '../shared/marker.js';
import {guarded} from '../shared/messages.js';
import {call} from '../shared/rest.js';
import {SlotNames} from '../shared/slot_names.js';

const PAUSE = 150; // milliseconds without typing before a search is sent
const AT_ONCE = 50; // texts of one request
const HOW =
  'Drag over a city, a date or a name, and say what it is. The same words are then proposed in all other texts.';

export class ByHandSheet {
  #base;
  #marker;
  #texts = [];
  #at = 0; // place of the text in view
  #timer = 0;
  #asked = 0; // number of the newest request; older answers are dropped
  #note = h('p', {class: 'soft', role: 'status', hidden: true});
  #next = h('button', {'data-key': 'next', onclick: guarded(() => this.#turn())}, 'Next text');
  #search = h('input', {
    type: 'search',
    placeholder: 'A word, such as Berlin',
    maxlength: 200,
    oninput: () => this.#loadSoon(),
  });

  // Calls `changed` after each saved mark.
  constructor(base, changed) {
    this.#base = base;
    this.#marker = new Marker({
      base,
      names: new SlotNames(base),
      left: () => this.#next.focus(),
      saved: changed,
    });
    const find = field('Texts with', this.#search);
    this.element = h(
      'section',
      {class: 'sheet stack', 'aria-label': 'Mark by hand'},
      h('h2', {}, 'Mark by hand'),
      h('p', {class: 'soft small'}, HOW),
      h('div', {class: 'row end'}, find, this.#next),
      this.#note,
      this.#marker.element,
    );
  }

  // Shows a text, unless one is in view.
  async start() {
    if (!this.#texts.length) await this.#load();
  }

  focus() {
    this.element.scrollIntoView({block: 'nearest'});
    this.#marker.focus();
  }

  #loadSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      guarded(() => this.#load()),
      PAUSE,
    );
  }

  async #load() {
    const asked = (this.#asked += 1);
    const wanted = new URLSearchParams({text: this.#search.value.trim(), most: AT_ONCE});
    const found = await call(`${this.#base}/slots/unmarked?${wanted}`);
    if (asked !== this.#asked) return;
    this.#texts = found;
    this.#at = 0;
    await this.#draw();
  }

  // After the last one the list is asked for anew: what was marked is no longer in it.
  async #turn() {
    this.#at += 1;
    if (this.#at < this.#texts.length) await this.#draw();
    else await this.#load();
  }

  async #draw() {
    const text = this.#texts[this.#at];
    const isSearch = Boolean(this.#search.value.trim());
    this.#note.hidden = Boolean(text);
    fill(this.#note, isSearch ? 'No text without a mark has these words.' : 'Every text has a marked value.');
    this.#marker.element.hidden = !text;
    this.#next.disabled = !text;
    if (text) await this.#marker.show(text.id);
  }
}
