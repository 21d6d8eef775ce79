// How much of what people wrote is answered, by source and week, with the interval of each share.
import {fill, h} from '../shared/elements.js';
import {drawChart, SHARES} from '../shared/plotly.js';
import {number, percent, plural} from '../shared/words.js';

const MOST = 4; // lines that are drawn, each with its own look
export const DAY = 86_400_000; // milliseconds
const APART = 0.6; // days between the points of one week, so that their bars do not lie on each other
const ROOM = 3; // days beside the first and the last week

export class AnsweredChart {
  #reading = h('p', {'data-role': 'answered-words'});
  #plot = h('div', {class: 'chart', role: 'img', 'data-role': 'answered-chart'});
  element = h('div', {}, this.#reading, this.#plot);

  async draw({lines, weeks, apart}) {
    const one = lines.length === 1;
    const all = one ? [] : [{source: 'all sources', weeks}];
    const drawn = [...all, ...lines].slice(0, MOST);
    const hidden = lines.length - (drawn.length - all.length);
    const cut = floorOf(drawn) > 0 ? ' The axis does not begin at 0.' : '';
    fill(this.#reading, readingOf(apart, weeks, hidden), cut);
    this.#plot.setAttribute('aria-label', `Share answered. ${drawn.map(inWords).join('. ')}`);
    const days = weeks.map(({name}) => Date.parse(name));
    const range = [days[0] - ROOM * DAY, days.at(-1) + ROOM * DAY].map(asDay);
    await drawChart(this.#plot, drawn.map(traceOf), {
      x: {
        type: 'date',
        tickvals: days.map(asDay),
        ticktext: days.map(weekOf),
        range,
        title: {text: 'week from'},
      },
      y: {title: {text: 'answered (higher is better ↑)'}, ...SHARES, range: [floorOf(drawn), 102]},
      showlegend: drawn.length > 1,
      legend: {orientation: 'h', x: 0, y: 1, yanchor: 'bottom'}, // two lines of it fit above on a phone
      margin: {l: 10, r: 16, t: 56, b: 10},
    });
  }
}

const asDay = stamp => new Date(stamp).toISOString();
export const weekOf = stamp =>
  new Date(stamp).toLocaleDateString('en-GB', {day: 'numeric', month: 'short', timeZone: 'UTC'});
const inWords = ({source, weeks}) =>
  `${source}: ${weeks.map(one => `${percent(one.share)} in the week from ${weekOf(Date.parse(one.name))}`).join(', ')}`;

function traceOf({source, weeks}, place) {
  const share = one => 100 * one.share;
  return {
    place,
    name: source,
    type: 'scatter',
    mode: 'lines+markers',
    x: weeks.map(({name}) => asDay(Date.parse(name) + place * APART * DAY)),
    y: weeks.map(share),
    error_y: {
      type: 'data',
      symmetric: false,
      array: weeks.map(one => 100 * one.high - share(one)),
      arrayminus: weeks.map(one => share(one) - 100 * one.low),
      thickness: 1.5,
    },
    text: weeks.map(one => `${source}, week from ${weekOf(Date.parse(one.name))}: ${figures(one)}`),
    hoverinfo: 'text',
  };
}

// In percent: below every bar, and at most 80, so that small differences look small.
const floorOf = drawn =>
  Math.min(
    80,
    ...drawn
      .flatMap(({weeks}) => weeks.map(({low}) => 10 * Math.floor(10 * low - 0.5)))
      .map(value => Math.max(0, value)),
  );

const figures = one =>
  `${percent(one.share)} of ${number(one.n)}, likely between ${percent(one.low)} and ${percent(one.high)}`;

// What the chart shows, and whether the sources truly differ; `apart` says it of several.
function readingOf(apart, weeks, hidden) {
  const bar = 'Each point is a week; its bar shows where the true share likely lies.';
  const more = hidden > 0 ? ` ${plural(hidden, 'more source')} below, with fewer texts.` : '';
  if (apart) return `${apart} ${bar}${more}`;
  return weeks.length < 2 ? bar : `${bar} ${overWeeks(weeks)}`;
}

function overWeeks(weeks) {
  const [first, last] = [weeks[0], weeks.at(-1)];
  if (last.low > first.high) return 'More is answered in the last week than in the first.';
  if (last.high < first.low) return 'Less is answered in the last week than in the first.';
  return 'The difference between the first and the last week may be chance.';
}
