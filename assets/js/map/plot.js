// All calls to Plotly: points, highlights, and pointer events.
import {h} from '../shared/elements.js';

const POINTS = 0; // index of the trace
const MARKS = 1;
const MANY = 8000; // points that are drawn smaller
const MOST_MOVING = 10000; // more points jump
const MOVE = 700; // milliseconds
const SHOWN = 0.85; // opacity
const FAINT = 0.17; // opacity of points outside the selection
const HIDDEN = 0.04;
const BOX = [-0.03, 1.03];
const GREY = '#888';
const CONFIG = {
  responsive: true,
  displaylogo: false,
  scrollZoom: true,
  showSendToCloud: false,
  plotlyServerURL: '',
  plotGlPixelRatio: 1,
  modeBarButtonsToRemove: ['toImage', 'autoScale2d'],
};

export class Plot {
  element = h('div', {
    class: 'map',
    role: 'img',
    'aria-label': 'Map of the utterances; the list beside it shows what is selected',
  });
  #hears;
  #plotly;
  #xy; // coordinates drawn now
  #target; // coordinates at the end of the movement
  #frame = 0;
  #marked = []; // indices of highlighted points
  #colours;
  #hidden = new Set(); // codes
  #picked = new Set(); // indices of selected points; if empty, all have full opacity

  // Callbacks in `hears`: `lassoed` with points, or none when the selection is dropped; `clicked` and `hovered`
  // with one point. Points are given by index.
  constructor(hears) {
    this.#hears = hears;
  }

  // The library is large, so it is loaded only when a map is opened.
  load() {
    this.#plotly ??= fetchPlotly().catch(error => {
      this.#plotly = null;
      throw error;
    });
    return this.#plotly;
  }

  // `boxed`: coordinates lie in the unit box, which stays in view.
  async draw(xy, colours, {boxed, hidden, picked}) {
    const plotly = await this.load();
    this.stop();
    this.#xy = xy;
    this.#colours = colours;
    this.#hidden = hidden;
    this.#picked = new Set(picked);
    this.#marked = [];
    const style = getComputedStyle(this.element);
    const traces = [this.#points(), marks(style.color)];
    await plotly.newPlot(this.element, traces, layout(style, boxed), CONFIG);
    this.#listen();
    this.element.dataset.ready = 'true';
  }

  #points() {
    const [x, y] = split(this.#xy);
    const {legend, codes} = this.#colours;
    const marker = {
      size: x.length > MANY ? 4 : 7,
      color: codes,
      colorscale: scale(legend),
      cmin: 0,
      cmax: Math.max(1, legend.length - 1),
      opacity: this.#opacity(),
      symbol: this.#symbols(),
    };
    return {type: 'scattergl', mode: 'markers', hoverinfo: 'none', x, y, marker};
  }

  #listen() {
    const first = event => event.points.find(point => point.curveNumber === POINTS)?.pointIndex;
    const when = (hear, place) => place !== undefined && hear(place);
    this.element.on('plotly_selected', event => (event?.lassoPoints || event?.range) && this.#lassoed(event));
    this.element.on('plotly_deselect', () => this.#hears.lassoed([]));
    this.element.on('plotly_click', event => when(this.#hears.clicked, first(event)));
    this.element.on('plotly_hover', event => when(this.#hears.hovered, first(event)));
  }

  // The outline is removed after the selection, because it would block clicks on points under it. Plotly then
  // reports a selection without points and outline, which is ignored.
  #lassoed(event) {
    const points = event.points.filter(point => point.curveNumber === POINTS);
    const isSeen = place => !this.#hidden.has(this.#colours.codes[place]);
    const places = points.map(point => point.pointIndex).filter(isSeen);
    window.Plotly.update(this.element, {selectedpoints: [null]}, {selections: []}, [POINTS]);
    this.#hears.lassoed(places);
  }

  recolour(colours, hidden) {
    this.#colours = colours;
    this.#hidden = hidden;
    const {legend, codes} = colours;
    return this.#restyle(POINTS, {
      'marker.color': [codes],
      'marker.colorscale': [scale(legend)],
      'marker.cmax': [Math.max(1, legend.length - 1)],
      'marker.opacity': [this.#opacity()],
      'marker.symbol': [this.#symbols()],
    });
  }

  hide(codes) {
    this.#hidden = codes;
    this.#restyle(POINTS, {'marker.opacity': [this.#opacity()]});
  }

  // Plotly cannot highlight points while some are hidden, because opacities differ.
  highlight(places) {
    this.#picked = new Set(places);
    this.#restyle(POINTS, {'marker.opacity': [this.#opacity()]});
  }

  mark(places) {
    this.#marked = places;
    const [x, y] = this.#markedAt();
    this.#restyle(MARKS, {x: [x], y: [y]});
  }

  // Animates the points unless there are too many. A call during an animation starts from the current positions.
  moveTo(xy) {
    this.stop();
    this.#target = xy;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (still || xy.length / 2 > MOST_MOVING) this.#place(xy);
    else this.#glide(this.#xy, xy);
  }

  // The axes stay fixed, so movement is visible.
  hold() {
    return window.Plotly.relayout(this.element, {'xaxis.autorange': false, 'yaxis.autorange': false});
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.#target = null;
    delete this.element.dataset.moving;
  }

  #glide(from, to) {
    const began = performance.now();
    const step = async now => {
      const share = Math.min(1, Math.max(0, (now - began) / MOVE));
      const eased = share * share * (3 - 2 * share);
      await this.#place(share === 1 ? to : from.map((value, at) => value + eased * (to[at] - value)));
      if (share < 1 && to === this.#target) this.#frame = requestAnimationFrame(step);
    };
    this.element.dataset.moving = 'true';
    this.#frame = requestAnimationFrame(step);
  }

  #place(xy) {
    this.#xy = xy;
    if (xy === this.#target) delete this.element.dataset.moving;
    const [x, y] = split(xy);
    const [markedX, markedY] = this.#markedAt();
    return window.Plotly.restyle(this.element, {x: [x, markedX], y: [y, markedY]}, [POINTS, MARKS]);
  }

  #restyle(trace, values) {
    return window.Plotly.restyle(this.element, values, [trace]);
  }

  #markedAt() {
    return [0, 1].map(axis => this.#marked.map(place => this.#xy[2 * place + axis]));
  }

  #opacity() {
    const [hidden, picked] = [this.#hidden, this.#picked];
    if (!hidden.size && !picked.size) return SHOWN;
    const opacity = place => (!picked.size || picked.has(place) ? SHOWN : FAINT);
    return Array.from(this.#colours.codes, (code, place) => (hidden.has(code) ? HIDDEN : opacity(place)));
  }

  // The shape shows whether a point is labelled.
  #symbols() {
    return this.#colours.labelled?.map(is => (is ? 'circle' : 'diamond')) ?? 'circle';
  }
}

function fetchPlotly() {
  return new Promise((ready, failed) => {
    const script = h('script', {
      src: '/api/plotly.js',
      onload: () => ready(window.Plotly),
      onerror: () => failed(new Error('The drawing library could not be loaded.')),
    });
    document.head.append(script);
  });
}

const marks = ink => ({
  type: 'scattergl',
  mode: 'markers',
  hoverinfo: 'skip',
  x: [],
  y: [],
  marker: {size: 13, symbol: 'circle-open', color: ink, line: {width: 2.5}},
  unselected: {marker: {opacity: 1}},
});

// The axes of the unit box stay fixed while points move.
const layout = (style, boxed) => ({
  dragmode: 'lasso',
  uirevision: 'keep',
  showlegend: false,
  margin: {l: 0, r: 0, t: 0, b: 0},
  paper_bgcolor: 'transparent',
  plot_bgcolor: 'transparent',
  hovermode: 'closest',
  font: {color: style.color},
  modebar: {
    color: style.getPropertyValue('--soft'),
    activecolor: style.getPropertyValue('--accent'),
    bgcolor: 'transparent',
  },
  xaxis: {visible: false, ...(boxed ? {range: BOX} : {})},
  yaxis: {visible: false, scaleanchor: 'x', ...(boxed ? {range: BOX} : {})},
});

function split(xy) {
  const n = xy.length / 2;
  const [x, y] = [new Float32Array(n), new Float32Array(n)];
  for (let place = 0; place < n; place += 1) {
    x[place] = xy[2 * place];
    y[place] = xy[2 * place + 1];
  }
  return [x, y];
}

function scale(legend) {
  if (legend.length >= 2) return legend.map(({colour}, place) => [place / (legend.length - 1), colour]);
  const colour = legend[0]?.colour ?? GREY;
  return [
    [0, colour],
    [1, colour],
  ];
}
