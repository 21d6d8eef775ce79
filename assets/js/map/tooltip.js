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

// Finds out what a point says: label and answer are known with the colours, its text is fetched.
export class Teller {
  #base;
  #tell;
  #texts = new Map(); // by id
  #place = null; // the point that was pointed at last

  // Calls `tell` with a point, what to show, and the words to read aloud once its text is known.
  constructor(base, tell) {
    this.#base = base;
    this.#tell = tell;
  }

  forget() {
    this.#texts.clear();
  }

  async point(points, place) {
    const id = points.ids[place];
    this.#place = place;
    const [label, answer] = await Promise.all(['intent', 'prediction'].map(by => points.entryOf(by, place)));
    const say = () => {
      const text = this.#texts.get(id);
      const words = [text, label && `Label: ${label.words}.`, answer && `Answer: ${answer.words}.`];
      this.#tell(place, about({text, label, answer}), text && words.filter(Boolean).join(' '));
    };
    if (this.#place !== place) return;
    say();
    if (this.#texts.has(id)) return;
    await new Promise(rested => setTimeout(rested, REST));
    if (this.#place !== place) return;
    const [row] = await utterances(this.#base, [id]);
    if (row) this.#texts.set(id, row.text);
    if (row && this.#place === place) say();
  }
}

const about = ({text = '…', label, answer}) => [
  h('div', {class: 'tip-text', dir: 'auto'}, text),
  h('dl', {}, label && line('Label', label), answer && line('Answer', answer)),
];

const line = (name, {words, colour}) => [
  h('dt', {}, name),
  h('dd', {}, h('span', {class: 'chip', style: {'--dot': colour}}, words)),
];
