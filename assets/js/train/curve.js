// Two charts of what a training reports: its loss, which the page calls a distance, and how many unseen texts it
// answers rightly. Folded until opened.
import {plainBasis} from '../shared/accuracy.js';
import {fill, h} from '../shared/elements.js';
import {complain} from '../shared/messages.js';
import {drawChart, SHARES} from '../shared/plotly.js';
import {capital, figuresOf, percent, plural} from '../shared/words.js';

const SMOOTHING = 0.25;
const STEPS = {title: {text: 'steps of the training →'}};
const STAGES = {
  tuning: 'Learning',
  retuning: 'Learning, second round',
  calibrating: 'Checking',
  recalibrating: 'Checking, second round',
  naming: 'Learning the names',
};
const CHARTS = {
  loss: {
    title: 'How far the training is from its aim',
    lead: 'The line should fall and then lie flat: the training learns, and has little left to learn.',
    y: {title: {text: 'distance (lower is better ↓)'}, rangemode: 'tozero'},
    say: y => y.toFixed(2),
  },
  accuracy: {
    title: 'Right answers while training, on a sample of texts',
    lead: 'The line should rise. The model still learns here: decide by the result at the end, not by this line.',
    y: {title: {text: 'right (higher is better ↑)'}, ...SHARES},
    say: y => percent(y, 0),
  },
};

export class Curves {
  #job = null;
  #words = h('div', {});
  #plots = new Map(Object.keys(CHARTS).map(measure => [measure, h('div', {class: 'chart', role: 'img'})]));
  #figures = new Map();
  element;

  constructor() {
    for (const [measure, plot] of this.#plots) {
      const title = h('h3', {}, CHARTS[measure].title);
      const lead = h('p', {class: 'small soft', 'data-role': 'lead'}, CHARTS[measure].lead);
      this.#figures.set(measure, h('figure', {class: 'curve', 'data-role': `curve-${measure}`}, title, lead, plot));
    }
    const charts = h('div', {class: 'curves', 'data-role': 'curves'}, ...this.#figures.values(), this.#words);
    this.element = h(
      'details',
      {hidden: true, ontoggle: () => this.#draw()},
      h('summary', {'data-key': 'chart'}, 'How the training went'),
      charts,
    );
  }

  // Shows the curves of a job; they grow while it runs.
  show(job) {
    this.#job = job;
    const lines = linesOf(job);
    this.element.hidden = lines.length === 0;
    if (!lines.length) return;
    fill(
      this.#words,
      job.result.metrics && lines.some(({measure}) => measure === 'accuracy') && resultOf(job.result, job.measured_on),
      job.curve_words && h('p', {class: 'small soft', 'data-role': 'curve-words'}, job.curve_words),
    );
    for (const [measure, figure] of this.#figures) {
      const drawn = lines.filter(line => line.measure === measure);
      figure.hidden = drawn.length === 0;
      if (drawn.length) this.#plots.get(measure).setAttribute('aria-label', inWords(measure, drawn));
    }
    this.#draw();
  }

  #draw() {
    if (!this.element.open || !this.#job) return;
    const lines = linesOf(this.#job);
    for (const [measure, plot] of this.#plots) {
      const drawn = lines.filter(line => line.measure === measure);
      const traces = tracesOf(drawn);
      if (drawn.length) drawChart(plot, traces, {x: STEPS, y: CHARTS[measure].y}).catch(complain);
    }
  }
}

// Lines are named "loss while tuning" or "accuracy while calibrating 2 of 5"; parts of a stage share a look.
const linesOf = job =>
  Object.entries(job.curve)
    .filter(([, points]) => points.length)
    .map(([name, points]) => {
      const [measure, words] = name.split(' while ');
      return {measure, stage: words.split(' ')[0], points: measure === 'loss' ? smooth(points) : points};
    });

function tracesOf(lines) {
  const stages = [...new Set(lines.map(line => line.stage))];
  return lines.map(({measure, stage, points}, at) => ({
    place: stages.indexOf(stage),
    type: 'scatter',
    mode: measure === 'loss' ? 'lines' : 'lines+markers',
    name: STAGES[stage] ?? capital(stage),
    legendgroup: stage,
    showlegend: lines.findIndex(line => line.stage === stage) === at,
    x: points.map(([x]) => x),
    y: points.map(([, y]) => (measure === 'loss' ? y : 100 * y)),
  }));
}

// The curve is of a sample and of a model that still changes, so the result stands beside it.
const resultOf = ({metrics}, measured) =>
  h(
    'p',
    {'data-role': 'curve-result'},
    'The right intent first, even where the text is then refused: ',
    h('b', {class: 'tabular'}, figuresOf({...metrics, answered_right: null})),
    measured && ` ${plainBasis(measured)}`,
  );

// The loss of single batches jumps; the mean of the last few shows where it goes.
function smooth(points) {
  let mean = points[0]?.[1] ?? 0;
  return points.map(([x, y]) => {
    mean += SMOOTHING * (y - mean);
    return [x, mean];
  });
}

// The first and the last point of the last part of each stage.
function inWords(measure, lines) {
  const {title, say} = CHARTS[measure];
  const stages = [...new Set(lines.map(line => line.stage))].map(name => {
    const parts = lines.filter(line => line.stage === name);
    const {points} = parts.at(-1);
    const [first, now] = [points[0], points.at(-1)].map(([, y]) => say(y));
    const last = parts.length > 1 ? `, the last of ${plural(parts.length, 'part')}` : '';
    return `${STAGES[name] ?? name}: from ${first} to ${now}${last}`;
  });
  return `${title}. ${stages.join('; ')}`;
}
