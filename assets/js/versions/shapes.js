// Uniformity and alignment of each version's embedding space, one point each; lower is better on both axes.
import {fill, h, svg} from '../shared/elements.js';
import {call} from '../shared/rest.js';

const MOST = 12; // versions that are measured; each has to be loaded
const WIDTH = 560;
const HEIGHT = 300;
const LINE = 14; // pixels; height of a name
const WIDEST = 130; // pixels; greatest width of a name
const EDGE = {left: 56, right: 90, top: 18, bottom: 40};
const LEAD =
  'Alignment: how far apart texts of one intent are. Uniformity: how unevenly all of them fill the space. ' +
  'Lower is better for both, so the best version lies at the bottom left.';

export class Shapes {
  element = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Shape of the spaces'});
  #base;
  #running = 0; // number of the newest round; earlier rounds stop drawing

  constructor(base) {
    this.#base = base;
  }

  // Measures one version after the other, so the page stays responsive; points appear as they arrive.
  async show(models) {
    this.element.hidden = models.length === 0;
    if (!models.length) return;
    const round = ++this.#running;
    const numbers = [0, ...models.slice(-MOST).map(model => model.number)];
    const found = [];
    for (const number of numbers) {
      const shape = await call(`${this.#base}/models/${number}/shape`).catch(() => null);
      if (round !== this.#running || !this.element.isConnected) return;
      if (shape) found.push(shape);
      this.#draw(found, numbers.length);
    }
  }

  #draw(found, expected) {
    const points = found.filter(({alignment}) => alignment !== null);
    const on = found.length ? `Measured on ${found[0].basis}.` : '';
    const why = points.length ? on : (found[0]?.basis ?? '');
    const busy = found.length < expected ? ' Measuring …' : '';
    fill(
      this.element,
      h('h2', {}, 'Shape of the spaces'),
      h('p', {class: 'soft small'}, LEAD),
      points.length > 0 && drawing(points),
      h('p', {class: 'soft small', role: 'status', 'data-role': 'shapes-basis'}, why + busy),
    );
  }
}

function drawing(points) {
  const axes = {
    x: scale(points, 'alignment', [EDGE.left, WIDTH - EDGE.right]),
    y: scale(points, 'uniformity', [HEIGHT - EDGE.bottom, EDGE.top]),
  };
  const said = points.map(point => `${nameOf(point)}: ${figures(point)}`).join('; ');
  const label = `Alignment and uniformity. ${said}`;
  const plot = svg('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label});
  const placed = points.map(point => ({
    ...point,
    at: axes.x.at(point.alignment),
    up: axes.y.at(point.uniformity),
  }));
  plot.append(...frameOf(axes), ...placed.map(dotOf), ...namesOf(placed));
  return h('figure', {class: 'shapes', 'data-role': 'shapes'}, plot);
}

// Scale from values to pixels with a margin; a single point is centred.
function scale(points, figure, [from, to]) {
  const values = points.map(point => point[figure]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = (most - least) * 0.12 || Math.abs(most) * 0.1 || 0.1;
  const [low, high] = [least - room, most + room];
  return {low, high, at: value => from + ((value - low) / (high - low)) * (to - from)};
}

function frameOf({x, y}) {
  const [left, right, bottom, top] = [EDGE.left, WIDTH - EDGE.right, HEIGHT - EDGE.bottom, EDGE.top];
  return [
    svg('path', {class: 'axes', d: `M${left} ${top}V${bottom}H${right}`}),
    words('alignment →', (left + right) / 2, HEIGHT - 6, 'middle'),
    words('uniformity ↑', left - 46, top - 5, 'start'),
    words(x.low.toFixed(2), left, bottom + 16, 'middle'),
    words(x.high.toFixed(2), right, bottom + 16, 'middle'),
    words(y.low.toFixed(2), left - 6, bottom, 'end'),
    words(y.high.toFixed(2), left - 6, top + 12, 'end'),
  ];
}

function dotOf(point) {
  const dot = svg('circle', {class: point.number ? '' : 'untuned', cx: point.at, cy: point.up, r: 5});
  dot.append(titled(`${point.model}: ${figures(point)}`));
  return dot;
}

// Points at one place share a line of names; names of near points are stacked.
function namesOf(placed) {
  const lines = [];
  for (const point of placed.toSorted((one, other) => one.up - other.up)) {
    const same = lines.find(({at, up}) => Math.hypot(at - point.at, up - point.up) < 3);
    if (same) same.names.push(nameOf(point));
    else lines.push({...point, names: [nameOf(point)], line: lineFor(lines, point)});
  }
  return lines.map(({at, line, names}) => words(names.join(', '), at + 9, line, 'start'));
}

function lineFor(lines, {at, up}) {
  const near = lines.filter(one => Math.abs(one.at - at) < WIDEST).map(({line}) => line);
  return Math.max(up + 4, ...near.map(line => line + LINE).filter(line => line - LINE > up + 4 - LINE));
}

function titled(text) {
  const title = svg('title', {});
  title.textContent = text;
  return title;
}

function words(text, x, y, anchor) {
  const node = svg('text', {x, y, 'text-anchor': anchor});
  node.textContent = text;
  return node;
}

const nameOf = ({number, recipe}) => (number ? `v${number} ${recipe}`.trim() : 'untuned');
const figures = ({alignment, uniformity}) =>
  `alignment ${alignment.toFixed(3)}, uniformity ${uniformity.toFixed(3)}`;
