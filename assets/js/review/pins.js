// Pins with the answers of every version; a version that breaks a pin is not promoted automatically.
import {field, fill, h, offer, since, table} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {keptBadge, pin, removeButton, whatPinsAre} from '../shared/pins.js';
import {placeExample} from '../shared/placeholder.js';
import {call} from '../shared/rest.js';
import {failed} from '../shared/skeleton.js';
import {capital} from '../shared/words.js';

const SHOWN = 12; // versions of a pin's history, the newest
const NOTHING = '-'; // the choice of out of scope

export class PinsTab {
  #base;
  #path;
  #intents;
  #noted;
  #pinsChanged;
  #asked = 0; // number of the newest request; older answers are dropped
  #list = h('div', {'data-role': 'promises'});
  #form = h('div', {class: 'row end after'});
  #must = h('select', {'aria-label': 'Answer that it must get'});

  constructor({base, intents, noted, pinsChanged}) {
    this.#base = base;
    this.#path = `${base}/pins`;
    this.#intents = intents;
    this.#noted = noted;
    this.#pinsChanged = pinsChanged;
    const attributes = {class: 'sheet', 'aria-label': 'Pins'};
    this.element = h('section', attributes, h('p', {class: 'soft'}, whatPinsAre), this.#list, this.#form);
  }

  async renew() {
    const asked = ++this.#asked;
    this.#offerAnswers();
    const found = await call(`${this.#path}/history`).catch(error => {
      if (asked === this.#asked && !this.#list.firstChild) fill(this.#list, failed(error, () => this.#anew()));
      throw error;
    });
    if (asked !== this.#asked) return;
    const none = h(
      'div',
      {class: 'empty'},
      h('h2', {}, 'No pin yet'),
      'Set one here, or on the Try page.',
    );
    const head = ['Text', 'Must get', 'Gets now', 'Versions since', 'Pinned', ''];
    const rows = found.map(one => this.#row(one));
    fill(this.#list, rows.length ? table(head, rows, {class: 'wide stacked'}) : none);
    if (!this.#form.hasChildNodes()) this.#drawForm();
  }

  async #anew() {
    fill(this.#list);
    await this.renew();
  }

  // Intents come and go while the page is open.
  #offerAnswers() {
    const intents = this.#intents.openSorted.map(({id, name}) => [id, name]);
    const options = [['', 'Choose an answer'], ...intents, [NOTHING, capital(this.#intents.nothing)]];
    offer(this.#must, options, this.#must.value);
  }

  #row({pin, at, judgements}) {
    return [
      pin.text,
      pin.expected,
      [pin.answer ?? '–', ' ', keptBadge(pin)],
      judgements.length ? h('span', {class: 'verdicts'}, judgements.slice(-SHOWN).map(judged)) : noneSince(),
      h('span', {class: 'soft'}, since(at)),
      removeButton(this.#path, pin, () => Promise.all([this.renew(), this.#pinsChanged()])),
    ];
  }

  #drawForm() {
    const text = h('input', {type: 'text', maxlength: 10000, oninput: () => arm()});
    const label = this.#must;
    label.addEventListener('change', () => arm());
    const set = async () => {
      const [said, chosen] = [text.value, label.value];
      const ids = chosen === NOTHING ? [] : [chosen];
      const words = label.selectedOptions[0].textContent;
      await pin(this.#path, said, ids, words, back => this.#noted(`Pinned “${said}”`, back));
      // Nothing is chosen for the user; what was typed for the next pin meanwhile stays.
      if (text.value === said && label.value === chosen) text.value = label.value = '';
      arm();
      await this.renew();
    };
    const button = busyButton('Pin this answer', set, {class: 'primary', 'data-key': 'pin'});
    const arm = () => {
      button.disabled = !text.value.trim() || !label.value;
    };
    arm();
    placeExample(this.#base, text).catch(() => {}); // the field works without
    fill(
      this.#form,
      field('Text', text, {class: 'field grow'}),
      field('Must get', label),
      button,
    );
  }
}

const noneSince = () => h('span', {class: 'soft'}, 'none trained since');

const judged = ({version, verdict, answer}) =>
  h(
    'span',
    {class: `badge ${verdict === 'kept' ? 'good' : 'bad'}`, title: answer ? `answered ${answer}` : verdict},
    `v${version} ${verdict === 'kept' ? '✓' : '✗'}`,
  );
