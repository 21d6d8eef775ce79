// What a point says: at the pointer, or beside the point that the keyboard is on.
import {fill, h} from '../shared/elements.js';
import {utterances} from './points.js';

const AWAY = 14; // pixels from the pointer
const REST = 40; // milliseconds that the pointer rests on a point before its text is requested

export class Tooltip {
  element = h('div', {class: 'tip', hidden: true, 'data-role': 'tip'});

  // `left` and `top` are pixels within the map; it turns to the side on which there is room.
  show(content, left, top) {
    fill(this.element, content);
    this.element.hidden = false;
    const {offsetWidth: width, offsetHeight: height} = this.element;
    const {clientWidth: across, clientHeight: down} = this.element.parentElement;
    const beside = (at, size, room) => {
      const after = at + AWAY;
      return Math.max(0, after + size <= room ? after : Math.min(at - AWAY - size, room - size));
    };
    const place = [beside(left, width, across), beside(top, height, down)];
    this.element.style.transform = `translate(${place.map(at => `${Math.round(at)}px`).join(', ')})`;
  }

  hide() {
    this.element.hidden = true;
  }
}

// Finds out what a point says: its answer is known with the colours, which a point that is pointed at asks for after a
// label; its text and label are fetched together, as the panel beside the map fetches them, so that both say the same
// while labels are on their way.
export class Teller {
  #base;
  #intents;
  #tell;
  #rows = new Map(); // by id
  #place = null; // the point that was pointed at last

  // Calls `tell` with a point, what to show, and the words to read aloud once its text is known.
  constructor(base, intents, tell) {
    this.#base = base;
    this.#intents = intents;
    this.#tell = tell;
  }

  // Labels have changed: what was told last is told anew.
  async renew(points) {
    this.#rows = new Map(); // a row that is on its way is of before
    if (this.#place !== null && points?.ids[this.#place]) await this.#look(points, this.#place);
  }

  async point(points, place) {
    await this.#look(points, place);
    if (this.#place !== place || points.entryOf('prediction', place)) return;
    await points.fetchAnswers();
    if (this.#place === place && this.#rows.has(points.ids[place])) this.#say(points, place);
  }

  async #look(points, place) {
    const id = points.ids[place];
    this.#place = place;
    this.#say(points, place);
    if (this.#rows.has(id)) return;
    await new Promise(rested => setTimeout(rested, REST));
    if (this.#place !== place) return;
    const rows = this.#rows;
    const [row] = await utterances(this.#base, [id]);
    if (row) rows.set(id, row);
    if (row && rows === this.#rows && this.#place === place) this.#say(points, place);
  }

  #say(points, place) {
    const [row, answer] = [this.#rows.get(points.ids[place]), points.entryOf('prediction', place)];
    this.#tell(place, this.#about(row, answer), row && this.#spoken(row, answer));
  }

  #about(row, answer) {
    const label = row && line('Label', this.#intents.labels(row.labels));
    const said = answer && line('Answer', h('span', {class: 'chip', style: {'--dot': answer.colour}}, answer.words));
    return [h('div', {class: 'tip-text', dir: 'auto'}, row?.text ?? '…'), h('dl', {}, label, said)];
  }

  #spoken({text, labels}, answer) {
    const words = [text, `Label: ${this.#intents.wordsOf(labels)}.`, answer && `Answer: ${answer.words}.`];
    return words.filter(Boolean).join(' ');
  }
}

const line = (name, chips) => [h('dt', {}, name), h('dd', {}, chips)];
