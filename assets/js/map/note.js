// The line under the map: number of points, missing points, and the text under the pointer.
import {fill, h, progressBar} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {duration, number, plural} from '../shared/words.js';

export class Note {
  element = h('div', {class: 'row small soft', role: 'status', 'data-role': 'map-note'});
  #compute;

  // `compute` starts the layout of the missing points.
  constructor(compute) {
    this.#compute = guarded(compute);
  }

  say(words) {
    this.element.textContent = words;
  }

  describe(points, sideName) {
    const {ids, missing, compared} = points;
    fill(
      this.element,
      h('span', {}, plural(ids.length, 'point')),
      compared && comparisonOf(compared, sideName),
      missing > 0 && [
        h('span', {class: 'warn'}, `${plural(missing, 'utterance')} not on this map`),
        h('button', {class: 'plain', onclick: this.#compute}, 'Compute them'),
      ],
    );
  }

  // An expensive layout is computed only on request. Any other failure can be tried `again`.
  offer(error, {name, onDemand, again}) {
    const expected = error.status === 404 && onDemand;
    const words = expected
      ? `${name} has not been computed for this version.`
      : `${error.message} ${error.hint ?? ''}`;
    fill(
      this.element,
      h('span', {class: expected ? '' : 'bad'}, words),
      onDemand && h('button', {onclick: this.#compute}, `Compute ${name}`),
      !expected && h('button', {'data-key': 'again', onclick: again}, 'Try again'),
    );
  }

  // Which points have moved under compression, and how their coordinates were computed.
  tellDrift({marked, proposed, total, words}, strength) {
    const who = `${number(marked + proposed)} of ${plural(total, 'point')} have values (${number(proposed)} proposed)`;
    const how = strength ? ` and have moved by ${strength.toFixed(1)} towards their templates. ${words}` : '';
    fill(this.element, h('span', {'data-role': 'drift'}, `${who}${how || '.'}`));
  }

  offerTemplates(missing, encode) {
    fill(
      this.element,
      h('span', {}, `${plural(missing, 'template')} must be encoded first.`),
      h('button', {onclick: guarded(encode)}, 'Encode them'),
    );
  }

  follow(job) {
    const left = job && duration(job.eta_seconds);
    fill(
      this.element,
      h('span', {}, `computing: ${job?.stage ?? 'waiting'} `, left),
      progressBar(job?.progress ?? 0),
    );
  }

  read(row, chips) {
    fill(this.element, h('span', {style: {color: 'var(--ink)', 'font-size': '15px'}}, row.text), chips);
  }
}

function comparisonOf({silhouettes}, sideName) {
  const [before, after] = silhouettes.map(value => value?.toFixed(3) ?? '–');
  return [
    h('span', {'data-role': 'side'}, `places ${sideName}`),
    h('span', {'data-role': 'silhouettes'}, `silhouette by intent: ${before} before, ${after} after`),
  ];
}
