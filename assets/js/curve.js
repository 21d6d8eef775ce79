// Two small drawings of what a training reports: its loss, and how many unseen texts it answers rightly.
import {h, percent, plural} from './studio.js';

const SVG = 'http://www.w3.org/2000/svg';
const COLOURS = ['var(--accent)', 'var(--warn)'];
const WIDTH = 600,
  HEIGHT = 150,
  EDGE = 6;

export function draw(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

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
  const losses = lines
    .filter(line => line.measure === 'loss')
    .map(line => ({...line, points: smooth(line.points)}));
  const shares = lines.filter(line => line.measure === 'accuracy');
  return h(
    'div',
    {class: 'curves', 'data-role': 'curves'},
    losses.length > 0 &&
      drawing('Loss', losses, last, {
        low: 0,
        high: Math.max(1e-9, ...heights(losses)),
        say: y => y.toFixed(2),
      }),
    shares.length > 0 &&
      drawing('Accuracy on texts not seen', shares, last, {
        low: floorOf(shares),
        high: 1,
        say: y => percent(y, 0),
        dots: true,
      }),
    job.curve_words && h('p', {class: 'small soft', 'data-role': 'curve-words'}, job.curve_words),
  );
}

const heights = lines => lines.flatMap(line => line.points.map(([, y]) => y));
// Differences show where the scale begins near the lowest point.
const floorOf = lines => Math.max(0, Math.floor(10 * Math.min(...heights(lines)) - 0.5) / 10);

function drawing(title, lines, last, {low, high, say, dots}) {
  const stages = [...new Set(lines.map(line => line.stage))];
  const words = stages.map(stage => {
    const own = lines.filter(line => line.stage === stage);
    const [first, now] = [own.at(-1).points[0][1], own.at(-1).points.at(-1)[1]];
    return {
      stage,
      now,
      said: `${stage}: from ${say(first)} to ${say(now)}${own.length > 1 ? `, the last of ${plural(own.length, 'part')}` : ''}`,
    };
  });
  const svg = draw('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `${title}. ${words.map(one => one.said).join('; ')}`,
  });
  const place = ([x, y]) =>
    `${(EDGE + ((WIDTH - 2 * EDGE) * x) / last).toFixed(1)} ${(HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (y - low)) / (high - low)).toFixed(1)}`;
  for (const line of lines) {
    const stroke = COLOURS[stages.indexOf(line.stage) % COLOURS.length];
    svg.append(draw('path', {d: 'M' + line.points.map(place).join('L'), stroke}));
    if (dots)
      svg.append(
        draw('path', {class: 'dots', d: line.points.map(point => `M${place(point)}h0`).join(''), stroke}),
      );
  }
  return h(
    'figure',
    {class: 'curve', 'data-role': `curve-${lines[0].measure}`},
    h('h3', {}, title),
    h(
      'div',
      {class: 'scale small soft tabular', 'aria-hidden': 'true'},
      h('span', {}, say(high)),
      h('span', {}, say(low)),
    ),
    svg,
    h(
      'figcaption',
      {class: 'row small soft'},
      words.map((one, at) =>
        h(
          'span',
          {class: 'chip', style: {'--dot': COLOURS[at % COLOURS.length]}},
          one.stage,
          h('b', {class: 'tabular'}, say(one.now)),
        ),
      ),
    ),
  );
}

// The loss of single batches jumps; the mean of the last few shows where it goes.
function smooth(points) {
  let mean = points[0]?.[1] ?? 0;
  return points.map(([x, y]) => {
    mean += 0.25 * (y - mean);
    return [x, mean];
  });
}
