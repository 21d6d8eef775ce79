// A small line drawing of what a training reports, one line for each stage.
import {h} from './studio.js';

const SVG = 'http://www.w3.org/2000/svg';
const COLOURS = ['var(--accent)', 'var(--warn)', 'var(--good)'];

function draw(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.textContent = text;
  return node;
}

export function curveOf(curve) {
  const lines = Object.entries(curve).map(([name, points]) => [name, smooth(points)]);
  const width = 600, height = 150;
  const most = Math.max(...lines.flatMap(([, points]) => points.map(([, y]) => y)), 1e-9);
  const svg = draw('svg', {class: 'curve', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': lines.map(([name, points]) => `${name}: from ${points[0][1].toFixed(2)} to ${points.at(-1)[1].toFixed(2)}`).join('; ')});
  svg.append(draw('path', {d: `M0 ${height - 1}H${width}`, stroke: 'var(--line-strong)'}));
  lines.forEach(([, points], place) => {
    const last = Math.max(points.at(-1)[0], 1);
    const path = points.map(([x, y], at) => `${at ? 'L' : 'M'}${(width * x / last).toFixed(1)} ${(height - 4 - (height - 12) * y / most).toFixed(1)}`).join('');
    svg.append(draw('path', {d: path, stroke: COLOURS[place % COLOURS.length]}));
  });
  return h('figure', {style: {margin: '12px 0'}}, svg, h('figcaption', {class: 'row small soft'}, lines.map(([name, points], place) => h('span', {class: 'chip', style: {'--dot': COLOURS[place % COLOURS.length]}}, `${name} ${points.at(-1)[1].toFixed(3)}`))));
}

// The loss of single batches jumps; the mean of the last few shows where it goes.
function smooth(points) {
  let mean = points[0]?.[1] ?? 0;
  return points.map(([x, y]) => { mean += 0.25 * (y - mean); return [x, mean]; });
}
