// Charts of the versions, folded until opened: how many answers are right, and the shape of each version's space.
import {fill, h} from '../shared/elements.js';
import {complain} from '../shared/messages.js';
import {drawChart, SHARES} from '../shared/plotly.js';
import {call} from '../shared/rest.js';
import {capital, decimal, percent, rightShare} from '../shared/words.js';

const MOST = 12; // versions whose space is measured; each has to be loaded
const SPACE_WORDS =
  'Further left: texts of one intent lie closer together. Further down: all texts are less crowded. The axes have no ' +
  'unit, so only compare versions. Choose a version by its right answers above.';
const BEGUN = 'before training';
const MEASURES = 'In papers, the axes are called alignment (across) and uniformity (up).';
// The least that an axis spans, so that a small difference looks small: percents, distances, crowding.
const SPANS = {shares: 10, alignment: 0.1, uniformity: 0.5};
const ROOM = 0.2; // of what the points span, around them, so that neither a point nor its name is cut
const BETTER = {
  xref: 'paper',
  yref: 'paper',
  x: 0.01,
  y: 0.02,
  xanchor: 'left',
  yanchor: 'bottom',
  text: '↙ better',
  showarrow: false,
};

export class Charts {
  #base;
  #models = [];
  #running = 0; // number of the newest round of measuring; earlier rounds stop drawing
  #accuracy = h('div', {class: 'chart', role: 'img', 'data-role': 'accuracy-chart'});
  #reading = h('p', {class: 'soft small', 'data-role': 'accuracy-words'});
  #space = h('div', {class: 'chart', role: 'img', 'data-role': 'shapes'});
  #spaceReading = h('p', {class: 'soft small', 'data-role': 'shapes-words'});
  #basis = h('p', {class: 'soft small', role: 'status', 'data-role': 'shapes-basis'});
  element = h('details', {class: 'sheet', hidden: true, ontoggle: () => this.#draw().catch(complain)});

  constructor(base) {
    this.#base = base;
    this.#space.hidden = true; // until something is measured
    fill(
      this.element,
      h('summary', {'data-key': 'charts'}, 'Charts and figures for researchers'),
      h('h3', {}, 'Right answers by version, as checked after each training'),
      this.#reading,
      this.#accuracy,
      h('h3', {}, 'How well each version keeps intents apart'),
      h('p', {class: 'soft small'}, SPACE_WORDS),
      this.#spaceReading,
      this.#space,
      this.#basis,
      h('p', {class: 'soft small'}, MEASURES),
    );
  }

  show(models) {
    this.#models = models;
    this.element.hidden = models.length === 0;
    if (this.element.open) this.#draw().catch(complain);
  }

  async #draw() {
    if (!this.element.open || !this.#models.length) return;
    this.#basis.textContent = 'Drawing …';
    await this.#drawAccuracy();
    await this.#measure();
  }

  async #drawAccuracy() {
    const judged = this.#models.filter(({metrics}) => metrics.accuracy !== undefined);
    this.#accuracy.hidden = judged.length === 0;
    if (!judged.length) return;
    const said = judged.map(({number, metrics}) => `version ${number}: ${percent(rightShare(metrics))}`);
    this.#reading.textContent = readingOf(judged);
    this.#accuracy.setAttribute('aria-label', `Right answers by version. ${said.join('; ')}`);
    const trace = {
      place: 0,
      type: 'scatter',
      mode: 'lines+markers+text',
      x: judged.map(({number}) => `version ${number}`),
      y: judged.map(({metrics}) => 100 * rightShare(metrics)),
      text: judged.map(
        ({metrics, champion}) => `${percent(rightShare(metrics))}${champion ? ' (live)' : ''}`,
      ),
      textposition: judged.map((_, at) => sideOf(at, judged.length)),
      cliponaxis: false,
      hoverinfo: 'text',
    };
    const range = rangeOf(trace.y, SPANS.shares);
    const y = {title: {text: 'right (higher is better ↑)'}, ...SHARES, range};
    await drawChart(this.#accuracy, [trace], {x: {type: 'category'}, y, showlegend: false});
  }

  // Measures one version after the other, so the page stays responsive; points appear as they arrive.
  async #measure() {
    const round = ++this.#running;
    const numbers = [0, ...this.#models.slice(-MOST).map(model => model.number)];
    const found = [];
    for (const [at, number] of numbers.entries()) {
      const shape = await call(`${this.#base}/models/${number}/shape`).catch(() => null);
      if (round !== this.#running || !this.element.isConnected) return;
      if (shape) found.push(shape);
      await this.#drawSpace(found, at + 1 < numbers.length);
    }
  }

  // `isComing`: others are still measured. One that cannot be measured is left out.
  async #drawSpace(found, isComing) {
    const points = found.filter(({alignment}) => alignment !== null);
    const on = found.length ? `Measured on ${found[0].basis}.` : '';
    const why = points.length ? on : (found[0]?.basis ?? '');
    this.#basis.textContent = why + (isComing ? ' Measuring …' : found.length ? '' : 'No version could be measured.');
    this.#space.hidden = points.length === 0;
    if (!points.length) return;
    this.#spaceReading.textContent = spaceReadingOf(points.filter(({number}) => number));
    const said = points.map(point => `${nameOf(point)}: ${figures(point)}`);
    this.#space.setAttribute('aria-label', `Distance within an intent, and crowding. ${said.join('; ')}`);
    const trace = {
      place: 0,
      marker: {size: 11, symbol: points.map(({number}) => (number ? 'circle' : 'circle-open'))},
      type: 'scatter',
      mode: 'markers+text',
      x: points.map(({alignment}) => alignment),
      y: points.map(({uniformity}) => uniformity),
      text: namesOf(points),
      textposition: points.map(point => inwards(point, points)),
      cliponaxis: false,
      hovertext: said,
      hoverinfo: 'text',
    };
    await drawChart(this.#space, [trace], {
      x: {
        title: {text: 'distance within an intent (← lower is better)'},
        range: rangeOf(trace.x, SPANS.alignment),
      },
      y: {title: {text: 'crowding (lower is better ↓)'}, range: rangeOf(trace.y, SPANS.uniformity)},
      annotations: [BETTER],
      showlegend: false,
    });
  }
}

// What the points say, and what to do about it.
const APART = 'The versions were checked on different texts, so their points do not compare them:';
const basisOf = ({number, measured_on: on}) => `version ${number} ${on}`;

function readingOf(versions) {
  const share = ({metrics}) => rightShare(metrics);
  const live = versions.find(({champion}) => champion);
  const [best] = [...versions].sort((one, other) => share(other) - share(one) || other.champion - one.champion);
  const high = 'Each point is a version; higher is better. The axis does not begin at 0: read the figures.';
  if (versions.length === 1) return `${high} There is one so far: label more, and train again to see a line.`;
  const bases = new Set(versions.map(({measured_on: on}) => on));
  if (bases.size > 1) return `${high} ${APART} ${versions.map(basisOf).join('; ')}.`;
  if (!live || live === best) {
    const kept = live ? ' It is live: label more texts like those that it answers wrongly, and train again.' : '';
    const most = `answered most texts right, ${percent(share(best))} ${best.measured_on}`;
    return `${high} Version ${best.number} ${most}.${kept}`;
  }
  return (
    `${high} When trained, version ${best.number} answered ${percent(share(best))} right, and the live version ` +
    `${live.number} ${percent(share(live))}: compare them above before you change. A few texts may be luck.`
  );
}

// Which version lies further left, which further down; where these are two, the chart decides nothing.
function spaceReadingOf(versions) {
  if (versions.length < 2) return '';
  const least = of => versions.reduce((best, one) => (of(one) < of(best) ? one : best));
  const [left, low] = [least(({alignment}) => alignment), least(({uniformity}) => uniformity)];
  const both = 'lies furthest left and furthest down: it keeps intents apart best.';
  if (left === low) return `${capital(nameOf(left))} ${both}`;
  return (
    `${capital(nameOf(left))} lies furthest left, ${nameOf(low)} furthest down: ` +
    'neither keeps intents apart better in both ways, so this chart decides nothing here.'
  );
}

const nameOf = ({number}) => (number ? `version ${number}` : BEGUN);

// The figure of the first and the last point goes inwards: on a phone it lay on the axis.
const sideOf = (at, n) => (n === 1 || (at && at < n - 1) ? 'top center' : at ? 'top left' : 'top right');

// Around all values, and never so narrow that chance looks like a difference.
function rangeOf(values, least) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const half = Math.max(least, (high - low) * (1 + 2 * ROOM)) / 2;
  const middle = (low + high) / 2;
  return [middle - half, middle + half];
}

// A name goes towards the middle of the chart: beyond its edge it would be cut off.
function inwards({alignment}, points) {
  const [least, most] = [Math.min, Math.max].map(of => of(...points.map(one => one.alignment)));
  if (least === most) return 'top center';
  return alignment < (least + most) / 2 ? 'top right' : 'top left';
}

// Versions at the same place share one name; two names would lie on each other.
function namesOf(points) {
  const names = new Map();
  for (const point of points)
    names.set(figures(point), [...(names.get(figures(point)) ?? []), nameOf(point)]);
  return points.map(point => {
    const shared = togetherOf(names.get(figures(point)));
    names.set(figures(point), []);
    return shared;
  });
}

// A version that was not tuned lies where all began.
function togetherOf(names) {
  const [begun, made] = [names.includes(BEGUN), names.filter(name => name !== BEGUN)];
  return begun && made.length ? `${made.join(', ')}, as ${BEGUN}` : names.join(', ');
}

const figures = ({alignment, uniformity}) =>
  `distance ${decimal(alignment, 3)}, crowding ${decimal(uniformity, 3)}`;
