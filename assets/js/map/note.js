// The line under the map: which layout it is, number of points, missing points, and what runs; on it, what is ready.
import {fill, h, progressBar} from '../shared/elements.js';
import {guarded} from '../shared/messages.js';
import {capital, duration, number, plural, points} from '../shared/words.js';
import {LAYOUTS} from './points.js';

const SKETCH = 'A first sketch.';
const UNTRAINED = 'After the first training, a clearer map is made by itself.';
const FAILED = 'The clearer map could not be made.';
const READY = 'A clearer map is ready.';
const STAYS = 'All points move; labels and colours stay.';
const OTHERS = 'Texts have come or gone since, so the colours of this map are of before.';

export class Note {
  element = h('div', {class: 'row small soft', role: 'status', 'data-role': 'map-note'});
  offered = h('div', {class: 'row map-offer', role: 'status', 'data-role': 'map-offer', hidden: true});
  failure = ''; // why the clearer map was refused
  #compute;
  #clearer;
  #isReady = false; // whether a clearer map was offered

  // `compute` starts the layout of the missing points, `clearer` that of the clearer map.
  constructor(compute, clearer) {
    this.#compute = guarded(compute);
    this.#clearer = guarded(clearer);
  }

  say(words) {
    this.element.textContent = words;
  }

  // `isSketch`: whether a clearer layout is to come.
  describe(points, sideName, isSketch) {
    const {ids, missing, compared, method, model} = points;
    const hasFailed = !this.#isReady && model > 0; // 0: no version is trained
    const toCome = this.#isReady ? READY : model ? `${FAILED} ${this.failure}` : UNTRAINED;
    const {name, says, method: by} = LAYOUTS[method];
    const layout = {'data-role': 'layout', title: `Laid out by ${by}`};
    fill(
      this.element,
      h('span', layout, isSketch ? `${SKETCH} ${toCome}` : `${name}: ${says}.`),
      isSketch && hasFailed && h('button', {class: 'plain', onclick: this.#clearer}, 'Try again'),
      h('span', {}, plural(ids.length, 'point')),
      compared && comparisonOf(compared, sideName),
      missing > 0 && [
        h('span', {class: 'warn'}, `${plural(missing, 'text')} not on this map`),
        h('button', {class: 'plain', onclick: this.#compute}, 'Make the map again'),
      ],
    );
  }

  // An expensive layout is computed only on request. Any other failure can be tried `again`.
  offer(error, {name, onDemand, again}) {
    const expected = error.status === 404 && onDemand;
    const words = expected
      ? `${capital(name)} is not made yet for this version.`
      : `${error.message} ${error.hint ?? ''}`;
    fill(
      this.element,
      h('span', {class: expected ? '' : 'bad'}, words),
      onDemand && h('button', {onclick: this.#compute}, `Make ${name}`),
      !expected && h('button', {'data-key': 'again', onclick: again}, 'Try again'),
    );
  }

  // A clearer layout has been computed.
  offerClearer(show) {
    this.say(`${SKETCH} ${READY}`);
    this.#isReady = true;
    this.#offer(`${READY} ${STAYS}`, 'Show it', show);
  }

  // Another version is live; without one before it there was no map to lose.
  offerLive(before, live, show) {
    if (before === null) show();
    else this.#offer(`Version ${live} is live now and has a map of its own. ${STAYS}`, 'Show it', show);
  }

  // The map has other texts than the project.
  offerOthers(load) {
    this.#offer(OTHERS, 'Load the map again', load);
  }

  // Every point lies elsewhere on another map, so it is shown when it is asked for.
  #offer(words, act, show) {
    this.offered.hidden = false;
    fill(
      this.offered,
      h('span', {}, words),
      h('button', {class: 'primary', 'data-key': 'clearer', onclick: show}, act),
    );
  }

  withdrawOffer() {
    this.#isReady = false;
    this.offered.hidden = true;
  }

  // Which points have moved under compression, and how their coordinates were computed.
  tellDrift({marked, proposed, total, words}, strength) {
    const who = `${number(marked + proposed)} of ${plural(total, 'point')} have values (${number(proposed)} proposed)`;
    const how = strength ? ` and are shown with their values ignored, strength ${strength.toFixed(1)}. ${words}` : '';
    fill(this.element, h('span', {'data-role': 'drift'}, `${who}${how || '.'}`));
  }

  offerTemplates(missing, encode) {
    fill(
      this.element,
      h('span', {}, `${plural(missing, 'pattern')} must be read first.`),
      h('button', {onclick: guarded(encode)}, 'Read them'),
    );
  }

  // `sketch`: whether the map shown until then is only a first one.
  follow(job, sketch) {
    const left = job && duration(job.eta_seconds);
    const stage = job?.kind === 'layout' && job.stage ? job.stage : 'waiting';
    const words = sketch ? `${SKETCH} The clearer map is on its way: ${stage} ` : `Making the map: ${stage} `;
    fill(this.element, h('span', {'data-role': 'layout'}, words, left), progressBar(job?.progress ?? 0));
  }
}

function comparisonOf({silhouettes}, sideName) {
  const about = {'data-role': 'silhouettes', title: 'Silhouette by intent: 100 is far apart, 0 is mixed.'};
  return [
    h('span', {'data-role': 'side'}, `places ${sideName}`),
    silhouettes.every(value => value !== null) && h('span', about, separation(silhouettes)),
  ];
}

function separation(silhouettes) {
  const [before, after] = silhouettes.map(points);
  if (before === after) return `intents are as well separated as before (${after} of 100)`;
  const how = silhouettes[1] > silhouettes[0] ? 'better' : 'less well';
  return `intents are ${how} separated than before (${before} → ${after} of 100)`;
}
