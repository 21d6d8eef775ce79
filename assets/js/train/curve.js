// Two small drawings of what a training reports: its loss, and how many unseen texts it answers rightly.
import {h, svg} from '../shared/elements.js';
import {figuresOf, percent, plural} from '../shared/words.js';

const COLOURS = ['var(--accent)', 'var(--warn)'];
const WIDTH = 600;
const HEIGHT = 150;
const EDGE = 6;
const SMOOTHING = 0.25;

// Lines are named "loss while tuning" or "accuracy while calibrating 2 of 5"; parts of a stage share a colour.
export function curvesOf(job) {
  const lines = Object.entries(job.curve)
    .filter(([, points]) => points.length)
    .map(([name, points]) => {
      const [measure, words] = name.split(' while ');
      return {measure, stage: words.split(' ')[0], points};
    });
  if (!lines.length) return null;
  const last = Math.max(1, ...lines.flatMap(line => line.points.map(([x]) => x)));
  const losses = lines.filter(line => line.measure === 'loss');
  const shares = lines.filter(line => line.measure === 'accuracy');
  return h(
    'div',
    {class: 'curves', 'data-role': 'curves'},
    losses.length > 0 && lossDrawing(losses, last),
    shares.length > 0 && accuracyDrawing(shares, last),
    shares.length > 0 && job.result.metrics && resultOf(job.result),
    job.curve_words && h('p', {class: 'small soft', 'data-role': 'curve-words'}, job.curve_words),
  );
}

// The curve is of a sample and of a model that still changes, so the result stands beside it.
const resultOf = ({metrics}) =>
  h(
    'p',
    {'data-role': 'curve-result'},
    'Result: ',
    h('b', {class: 'tabular'}, figuresOf(metrics)),
    metrics.judged_on && ` (${metrics.judged_on})`,
  );

function lossDrawing(lines, last) {
  const smoothed = lines.map(line => ({...line, points: smooth(line.points)}));
  const high = Math.max(1e-9, ...heights(smoothed));
  return drawing('Loss', smoothed, {last, low: 0, high, say: y => y.toFixed(2)});
}

// Differences show where the scale begins near the lowest point.
function accuracyDrawing(lines, last) {
  const low = Math.max(0, Math.floor(10 * Math.min(...heights(lines)) - 0.5) / 10);
  const scale = {last, low, high: 1, say: y => percent(y, 0), dots: true};
  return drawing('Accuracy while training, on a sample of texts', lines, scale);
}

const heights = lines => lines.flatMap(line => line.points.map(([, y]) => y));

// The loss of single batches jumps; the mean of the last few shows where it goes.
function smooth(points) {
  let mean = points[0]?.[1] ?? 0;
  return points.map(([x, y]) => {
    mean += SMOOTHING * (y - mean);
    return [x, mean];
  });
}

function drawing(title, lines, scale) {
  const names = [...new Set(lines.map(line => line.stage))];
  const colours = new Map(names.map((name, at) => [name, COLOURS[at % COLOURS.length]]));
  const stages = names.map(name => stageOf(name, lines, scale.say));
  return h(
    'figure',
    {class: 'curve', 'data-role': `curve-${lines[0].measure}`},
    h('h3', {}, title),
    h(
      'div',
      {class: 'scale small soft tabular', 'aria-hidden': 'true'},
      h('span', {}, scale.say(scale.high)),
      h('span', {}, scale.say(scale.low)),
    ),
    plotOf(lines, {...scale, colours, label: `${title}. ${stages.map(({said}) => said).join('; ')}`}),
    h(
      'figcaption',
      {class: 'row small soft'},
      stages.map(({name, now}) =>
        h(
          'span',
          {class: 'chip', style: {'--dot': colours.get(name)}},
          name,
          h('b', {class: 'tabular'}, now),
        ),
      ),
    ),
  );
}

// A stage in words: the first and the last point of its last part.
function stageOf(name, lines, say) {
  const parts = lines.filter(line => line.stage === name);
  const {points} = parts.at(-1);
  const [first, now] = [points[0], points.at(-1)].map(([, y]) => say(y));
  const which = parts.length > 1 ? `, the last of ${plural(parts.length, 'part')}` : '';
  return {name, now, said: `${name}: from ${first} to ${now}${which}`};
}

function plotOf(lines, {last, low, high, dots, colours, label}) {
  const x = value => (EDGE + ((WIDTH - 2 * EDGE) * value) / last).toFixed(1);
  const y = value => (HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (value - low)) / (high - low)).toFixed(1);
  const at = point => `${x(point[0])} ${y(point[1])}`;
  const plot = svg('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': label,
  });
  for (const {stage, points} of lines) {
    const stroke = colours.get(stage);
    plot.append(svg('path', {d: `M${points.map(at).join('L')}`, stroke}));
    const each = points.map(point => `M${at(point)}h0`).join('');
    if (dots) plot.append(svg('path', {class: 'dots', d: each, stroke}));
  }
  return plot;
}
