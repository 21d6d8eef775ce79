// Charts by Plotly. The library is large, so it is loaded only when something is drawn.
import {inStudio} from './address.js';
import {h} from './elements.js';
import {complain} from './messages.js';

const CONFIG = {
  responsive: true,
  displayModeBar: false,
  showSendToCloud: false,
  plotlyServerURL: '',
};
const COLOURS = ['--accent', '--warn', '--good', '--bad'];
const DASHES = ['solid', 'dash', 'dot', 'dashdot'];
const SYMBOLS = ['circle', 'diamond', 'square', 'triangle-up'];

let coming = null;

function loadPlotly() {
  coming ??= fetched().catch(error => {
    coming = null;
    throw error;
  });
  return coming;
}

function fetched() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  return new Promise((ready, failed) => {
    const script = h('script', {
      src: inStudio('/api/plotly.js'),
      onload: () => ready(window.Plotly),
      onerror: () => failed(new Error('The drawing library could not be loaded.')),
    });
    document.head.append(script);
  });
}

// An axis of shares: the values are percents.
export const SHARES = {ticksuffix: ' %', hoverformat: '.1f'};

let watching = null;
const drawn = new Map(); // what stands in each element, to draw it again in the colours of day or night

// The look of the line or point of a place in the legend: colour is not the only sign.
function look(element, place) {
  const colour = getComputedStyle(element).getPropertyValue(COLOURS[place % COLOURS.length]);
  return {
    line: {color: colour, width: 2, dash: DASHES[place % DASHES.length]},
    marker: {color: colour, size: 8, symbol: SYMBOLS[place % SYMBOLS.length]},
  };
}

// Draws traces, each with the `place` of its look; each axis has a title that names its better end.
export async function drawChart(element, traces, axes) {
  const plotly = await loadPlotly();
  if (!element.isConnected) return;
  watching ??= watchScheme();
  drawn.set(element, {traces, axes});
  await plotly.react(
    element,
    traces.map(trace => looking(element, trace)),
    layoutOf(element, axes),
    CONFIG,
  );
  element.dataset.ready = 'true';
}

function looking(element, {place, line, marker, ...trace}) {
  const {line: usualLine, marker: usualMarker} = look(element, place);
  return {...trace, line: {...usualLine, ...line}, marker: {...usualMarker, ...marker}};
}

function layoutOf(element, {x, y, ...more}) {
  const style = getComputedStyle(element);
  const line = style.getPropertyValue('--line');
  const axis = of => ({gridcolor: line, linecolor: line, zeroline: false, automargin: true, ...of});
  return {
    margin: {l: 10, r: 16, t: 8, b: 10},
    paper_bgcolor: 'transparent',
    plot_bgcolor: 'transparent',
    font: {color: style.color, family: style.fontFamily, size: 12},
    hovermode: 'closest',
    legend: {orientation: 'h', y: 1.16, x: 0},
    xaxis: axis(x),
    yaxis: axis({...y, title: {standoff: 12, ...y.title}}), // without it the title touches the ticks
    ...more,
  };
}

// Plotly keeps colours as they were when it drew: ink of the day is black on the night's ground.
function watchScheme() {
  let was = isDark();
  const watch = new MutationObserver(() => {
    if (isDark() === was) return;
    was = isDark();
    for (const [element, {traces, axes}] of drawn) {
      if (element.isConnected) drawChart(element, traces, axes).catch(complain);
      else drawn.delete(element);
    }
  });
  watch.observe(document.body, {attributeFilter: ['class']});
  return watch;
}

const isDark = () => document.body.classList.contains('dark');
