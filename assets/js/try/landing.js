// A small map of the examples, drawn once for each model, with the place of the typed text.
import {fill, h, svg} from '../shared/elements.js';
import {call} from '../shared/rest.js';
import {plural} from '../shared/words.js';

const MARGIN = 14;
const GREY = '#8b929d';
const REACH = 12; // pixels; a point this near to the pointer is selected
const OTHER_MAP = 'The page Map draws the examples in another way.';
const MANY = 600; // points that are drawn smaller and fainter

export class LandingMap {
  #base;
  #intents;
  #map = null;
  #strength = null; // compression of the requested examples
  #loading = null;
  #shown = null; // the landing of the text that was typed last
  #fit = null; // from a place of the map to pixels
  #canvas = h('canvas', {role: 'img', 'data-role': 'landing-map'});
  #marks = svg('svg', {'aria-hidden': 'true'});
  #words = h('figcaption', {'data-role': 'landing-words'});

  constructor(base, intents) {
    this.#base = base;
    this.#intents = intents;
    this.element = h(
      'figure',
      {class: 'landing', 'data-role': 'landing', hidden: true},
      h('h2', {}, 'Where it lands'),
      h('div', {class: 'plot'}, this.#canvas, this.#marks),
      this.#words,
    );
    this.#canvas.addEventListener('pointermove', event => this.#pointAt(event));
    this.#canvas.addEventListener('pointerleave', () => this.#say());
    new ResizeObserver(() => this.#drawPoints()).observe(this.#canvas);
  }

  async show({landing, prediction, compressed}) {
    this.#shown = landing;
    this.element.hidden = !landing;
    if (!landing) return;
    const strength = compressed?.strength ?? null;
    const fresh = this.#map?.model !== prediction.model_version || this.#map.strength !== strength;
    this.#strength = strength;
    if (fresh) await this.#load();
    if (this.#strength !== strength) return; // the slider has moved on
    const {points, total} = this.#map;
    const part = points.length < total ? `${points.length} of ` : '';
    const label = `Map of ${part}${plural(total, 'example')} by intent. ${(this.#shown ?? landing).words}`;
    this.#canvas.setAttribute('aria-label', label);
    this.#say();
    if (fresh || !this.#fit) this.#drawPoints();
    else this.#drawMarks();
  }

  // Called when labels, and so the examples, have changed.
  async renew() {
    if (this.#loading) this.#loading.isOld = true;
    else if (!this.#map) return;
    this.#loading = null;
    await this.#load();
    this.#drawPoints();
  }

  async #load() {
    const strength = this.#strength;
    const asked = strength === null ? '' : `?strength=${strength}`;
    if (this.#loading?.asked !== asked) this.#loading = {asked, map: call(`${this.#base}/examples${asked}`)};
    const loading = this.#loading;
    try {
      const map = await loading.map;
      if (loading.isOld) return await this.#load(); // labels have changed meanwhile
      if (strength === this.#strength) this.#map = {...map, strength};
    } finally {
      if (this.#loading === loading) this.#loading = null;
    }
    return undefined;
  }

  // One scale for both axes; a text beyond all examples is shown at the edge.
  #measure({width, height}) {
    const {points} = this.#map;
    const [low, high] = [Math.min, Math.max].map(most =>
      [0, 1].map(axis => most(...points.map(point => point[axis]))),
    );
    const spans = high.map((value, axis) => Math.max(1e-6, value - low[axis]));
    const unit = Math.min((width - 2 * MARGIN) / spans[0], (height - 2 * MARGIN) / spans[1]);
    const clamp = (value, most) => Math.max(MARGIN / 2, Math.min(most - MARGIN / 2, value));
    return ([x, y]) => [
      clamp(width / 2 + unit * (x - low[0] - spans[0] / 2), width),
      clamp(height / 2 - unit * (y - low[1] - spans[1] / 2), height),
    ];
  }

  #drawPoints() {
    if (!this.#map || this.element.hidden) return;
    const {width, height} = this.#canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.#fit = this.#measure({width, height});
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    const pen = this.#canvas.getContext('2d');
    pen.scale(ratio, ratio);
    this.#paint(pen);
    this.#marks.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.#drawMarks();
  }

  // The first intent of an example gives its colour.
  #paint(pen) {
    const {points, codes} = this.#map;
    const many = points.length > MANY;
    pen.globalAlpha = many ? 0.55 : 0.8;
    points.forEach((point, at) => {
      const [x, y] = this.#fit(point);
      pen.fillStyle = this.#intentOf(codes[at])?.color ?? GREY;
      pen.beginPath();
      pen.arc(x, y, many ? 2 : 3, 0, 7);
      pen.fill();
    });
  }

  #intentOf(code) {
    return this.#intents.byName.get(this.#map.labels[code][0]);
  }

  #drawMarks() {
    if (!this.#shown || !this.#fit) {
      this.#marks.replaceChildren();
      return;
    }
    const here = this.#fit(this.#shown.place);
    const near = this.#shown.neighbours.map(this.#fit);
    const rings = near.map(([x, y]) => svg('circle', {class: 'near', r: 5, cx: x, cy: y}));
    const lines = near.map(([x, y]) => svg('line', {x1: here[0], y1: here[1], x2: x, y2: y}));
    const old = this.#marks.querySelector('.here');
    const dot = old ?? svg('circle', {class: 'here', r: 7});
    for (const node of this.#marks.querySelectorAll(':not(.here)')) node.remove();
    this.#marks.prepend(...lines, ...rings);
    if (!old) this.#marks.append(dot); // an existing dot is moved, so it glides
    dot.style.transform = `translate(${here[0]}px, ${here[1]}px)`;
  }

  #pointAt(event) {
    const label = this.#labelAt(event);
    if (label) fill(this.#words, this.#intents.named(label));
    else this.#say();
  }

  #say() {
    if (!this.#shown) return;
    const {words, neighbours} = this.#shown;
    const rings = `Rings mark the ${plural(neighbours.length, 'most similar example')}. ${OTHER_MAP}`;
    fill(this.#words, h('div', {'data-role': 'landing-said'}, words), h('div', {class: 'soft small'}, rings));
  }

  // The label of the example nearest to the pointer, if any is within reach.
  #labelAt({clientX, clientY}) {
    if (!this.#fit) return null;
    const {left, top} = this.#canvas.getBoundingClientRect();
    const {points, codes, labels} = this.#map;
    let best = REACH ** 2;
    let found = null;
    points.forEach((point, at) => {
      const [x, y] = this.#fit(point);
      const distance = (x - (clientX - left)) ** 2 + (y - (clientY - top)) ** 2;
      if (distance < best) {
        best = distance;
        found = labels[codes[at]];
      }
    });
    return found;
  }
}
