// A small map of the examples: drawn once for a model, and on it where the typed text lands.
import {call, chip, fill, h, plural} from './studio.js';
import {draw} from './curve.js';

const MARGIN = 14,
  GREY = '#8b929d',
  REACH = 12;

export function landingMap(base, byName) {
  const canvas = h('canvas', {role: 'img', 'data-role': 'landing-map'});
  const marks = draw('svg', {'aria-hidden': 'true'});
  const words = h('figcaption', {'data-role': 'landing-words'});
  const element = h(
    'figure',
    {class: 'landing', 'data-role': 'landing', hidden: true},
    h('h2', {}, 'Where it lands'),
    h('div', {class: 'plot'}, canvas, marks),
    words,
  );
  const S = {map: null, loading: null, shown: null, fit: null};
  const colour = code => byName.get(S.map.intents[code])?.color ?? GREY;

  async function load() {
    S.loading ??= call(base + '/examples').finally(() => {
      S.loading = null;
    });
    S.map = await S.loading;
    S.low = [0, 1].map(axis => Math.min(...S.map.points.map(point => point[axis])));
    S.high = [0, 1].map(axis => Math.max(...S.map.points.map(point => point[axis])));
  }

  // One scale for both axes; a text beyond all examples is shown at the edge.
  function measure() {
    const {width, height} = canvas.getBoundingClientRect();
    const spans = S.high.map((high, axis) => Math.max(1e-6, high - S.low[axis]));
    const unit = Math.min((width - 2 * MARGIN) / spans[0], (height - 2 * MARGIN) / spans[1]);
    const clamp = (value, most) => Math.max(MARGIN / 2, Math.min(most - MARGIN / 2, value));
    S.size = [width, height];
    S.fit = ([x, y]) => [
      clamp(width / 2 + unit * (x - S.low[0] - spans[0] / 2), width),
      clamp(height / 2 - unit * (y - S.low[1] - spans[1] / 2), height),
    ];
  }

  function drawPoints() {
    if (!S.map || element.hidden) return;
    measure();
    const [width, height] = S.size,
      ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext('2d');
    pen.scale(ratio, ratio);
    pen.globalAlpha = S.map.points.length > 600 ? 0.55 : 0.8;
    const radius = S.map.points.length > 600 ? 2 : 3;
    S.map.points.forEach((point, at) => {
      const [x, y] = S.fit(point);
      pen.fillStyle = colour(S.map.codes[at]);
      pen.beginPath();
      pen.arc(x, y, radius, 0, 7);
      pen.fill();
    });
    marks.setAttribute('viewBox', `0 0 ${width} ${height}`);
    drawMarks();
  }

  function drawMarks() {
    if (!S.shown || !S.fit) {
      marks.replaceChildren();
      return;
    }
    const here = S.fit(S.shown.place),
      near = S.shown.neighbours.map(S.fit);
    const old = marks.querySelector('.here');
    const dot = old ?? draw('circle', {class: 'here', r: 7});
    const rings = near.map(([x, y]) => draw('circle', {class: 'near', r: 5, cx: x, cy: y}));
    const lines = near.map(([x, y]) => draw('line', {x1: here[0], y1: here[1], x2: x, y2: y}));
    for (const node of marks.querySelectorAll(':not(.here)')) node.remove();
    marks.prepend(...lines, ...rings);
    if (!old) marks.append(dot); // moved, not made anew, so that it glides
    dot.style.transform = `translate(${here[0]}px, ${here[1]}px)`;
  }

  async function show(answer) {
    S.shown = answer.landing;
    element.hidden = !S.shown;
    if (!S.shown) return;
    const fresh = S.map?.model !== answer.prediction.model_version;
    if (fresh) await load();
    canvas.setAttribute(
      'aria-label',
      `Map of ${S.map.points.length < S.map.total ? `${S.map.points.length} of ` : ''}${plural(S.map.total, 'example')} by intent. ${S.shown.words}`,
    );
    fill(words, S.shown.words);
    if (fresh || !S.fit) drawPoints();
    else drawMarks();
  }

  function intentAt(event) {
    if (!S.fit) return '';
    const box = canvas.getBoundingClientRect(),
      x = event.clientX - box.left,
      y = event.clientY - box.top;
    let best = REACH ** 2,
      found = '';
    S.map.points.forEach((point, at) => {
      const [px, py] = S.fit(point),
        distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < best) {
        best = distance;
        found = S.map.intents[S.map.codes[at]];
      }
    });
    return found;
  }
  canvas.addEventListener('pointermove', event => {
    const name = intentAt(event);
    if (name) fill(words, chip(byName.get(name), name));
    else if (S.shown) fill(words, S.shown.words);
  });
  canvas.addEventListener('pointerleave', () => {
    if (S.shown) fill(words, S.shown.words);
  });
  new ResizeObserver(drawPoints).observe(canvas);

  return {
    element,
    show,
    hide: () => {
      element.hidden = true;
    },
    renew: async () => {
      if (S.map) {
        await load();
        drawPoints();
      }
    },
  };
}
