// Charts by Plotly. The library is large, so it is loaded only when something is drawn.
import {h} from './elements.js';

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

export function loadPlotly() {
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
      src: '/api/plotly.js',
      onload: () => ready(window.Plotly),
      onerror: () => failed(new Error('The drawing library could not be loaded.')),
    });
    document.head.append(script);
  });
}

// The look of the line or point of a place in the legend: colour is not the only sign.
export function look(element, place) {
  const colour = getComputedStyle(element).getPropertyValue(COLOURS[place % COLOURS.length]);
  return {
    line: {color: colour, width: 2, dash: DASHES[place % DASHES.length]},
    marker: {color: colour, size: 8, symbol: SYMBOLS[place % SYMBOLS.length]},
  };
}

// Draws traces; each axis has a title that names its better end.
export async function drawChart(element, traces, {x, y, ...more}) {
  const plotly = await loadPlotly();
  if (!element.isConnected) return;
  const style = getComputedStyle(element);
  const line = style.getPropertyValue('--line');
  const axis = of => ({gridcolor: line, linecolor: line, zeroline: false, automargin: true, ...of});
  const layout = {
    margin: {l: 10, r: 16, t: 8, b: 10},
    paper_bgcolor: 'transparent',
    plot_bgcolor: 'transparent',
    font: {color: style.color, family: style.fontFamily, size: 12},
    hovermode: 'closest',
    legend: {orientation: 'h', y: 1.16, x: 0},
    xaxis: axis(x),
    yaxis: axis(y),
    ...more,
  };
  await plotly.react(element, traces, layout, CONFIG);
  element.dataset.ready = 'true';
}
