// The embedding map: points are fetched as binary once, colours again when labels change; lasso to label.
import {Choices} from './map/choices.js';
import {Legend} from './map/legend.js';
import {Note} from './map/note.js';
import {apart, tinted} from './map/pair.js';
import {Plot} from './map/plot.js';
import {Points} from './map/points.js';
import {Search} from './map/search.js';
import {Selection} from './map/selection.js';
import {Teller} from './map/tooltip.js';
import {h} from './shared/elements.js';
import {emptyPage, firstAct} from './shared/first_act.js';
import {Intents} from './shared/intents.js';
import {guarded, toast} from './shared/messages.js';
import {call, post} from './shared/rest.js';
import {Strength} from './shared/strength.js';
import {frame} from './studio.js';

const COMPARED = 'Not while two maps are compared.';
const COMPRESS = 'Shows where texts would lie if the model ignored their values; for looking only.';

export const mount = view => frame(view, 'map', 'Map', null, context => new MapPage(context).start());

class MapPage {
  #context;
  #choices = new Choices(name => this.#onChoice(name));
  #intents;
  #points; // on the map now
  #wanted; // requested and not drawn yet
  #side = 'after';
  #awaitsLayout = false;
  #begun = 0; // when the server had taken the newest layout; what was asked for before does not know it
  #clearer = ''; // champion or version for which UMAP was asked by itself
  #plot;
  #legend;
  #note;
  #selection;
  #search;
  #teller;
  #strength = new Strength(guarded(strength => this.#compress(strength)));
  #compression;
  #reason = h('span', {class: 'soft', 'data-role': 'no-compression'});
  #swap;
  #tints = null; // colours by name of the two intents that the legend shows alone because they are mixed up

  constructor(context) {
    this.#context = context;
    this.#intents = new Intents(context.base, context.status.task);
    this.#plot = new Plot({
      lassoed: guarded(places => this.#pick(places.map(place => this.#points.ids[place]))),
      clicked: guarded(place => this.#showNeighbours(this.#points.ids[place])),
      pointed: guarded(place => this.#teller.point(this.#points, place)),
      left: () => this.#dropSelection(),
      concealed: n => this.#selection.tellConcealed(n),
    });
    this.#legend = new Legend(this.#intents.nothing, {
      hidden: codes => this.#plot.hide(codes),
      glanced: codes => this.#plot.glance(codes),
    });
    this.#teller = new Teller(context.base, this.#intents, (...told) => this.#plot.tell(...told));
    this.#note = new Note(
      () => this.#compute(),
      () => this.#makeClearer(true),
    );
    this.#search = new Search(context.base, {
      marked: ids => this.#points && this.#plot.find(this.#placesOf(ids)), // else when the points are drawn
      told: words => (words ? this.#note.say(words) : this.#points && this.#describe()),
    });
    this.#selection = new Selection(context, this.#intents, {
      edited: () => this.#edited(),
      picked: () => this.#highlightPicked(),
      marked: ids => this.#mark(ids),
      paired: pair => this.#showAlone(pair),
      opened: id => this.#showNeighbours(id),
      cleared: () => this.#clear(),
    });
    this.#makeControls();
  }

  #makeControls() {
    const about = {class: 'row tight small', title: COMPRESS, hidden: true};
    this.#compression = h('label', about, 'Ignore names and dates', this.#strength.element, this.#reason);
    this.#swap = h('button', {hidden: true, 'data-role': 'swap', onclick: () => this.#flip()});
    this.#nameSwap();
  }

  async start() {
    const {base} = this.#context;
    // The points take longest, so they are requested first.
    const begun = this.#fetch();
    begun.catch(() => {}); // the error is shown when they are drawn
    const [states] = await Promise.all([call(`${base}/models`), this.#intents.load()]);
    if (this.#intents.counts.total === 0) {
      const act = firstAct(this.#context.project, this.#intents.counts);
      this.#context.main.append(emptyPage('No texts yet', 'Every text that you import becomes a point here.', act));
      return;
    }
    this.#choices.offer(Object.keys(states));
    this.#layOut();
    this.#showSide();
    this.#context.onStatus((status, before) => this.#onStatus(status, before));
    await this.#show(begun);
  }

  #layOut() {
    this.#context.heading.append(this.#choices.element);
    const controls = h(
      'div',
      {class: 'row'},
      this.#choices.opener,
      this.#legend.opener,
      this.#search.element,
      this.#compression,
      this.#swap,
      this.#plot.tools,
    );
    const sheet = {class: 'sheet', 'aria-label': 'Map'};
    this.#plot.element.append(this.#note.offered);
    this.#context.main.append(
      h(
        'div',
        {class: 'columns map-page'},
        h('section', sheet, controls, this.#plot.element, this.#note.element),
        h('aside', {class: 'map-side'}, this.#legend.element, this.#selection.element),
      ),
    );
  }

  #onChoice(name) {
    if (name !== 'by' || !this.#wanted) this.#load(); // one that failed may succeed with other colours
    if (name === 'by') guarded(() => this.#recolour())();
  }

  // If another map was requested in the meantime, that one is shown.
  async #fetch() {
    const points = new Points(this.#context.base, this.#choices.values);
    this.#wanted = points;
    await points.load(this.#context.status.champion);
    return points;
  }

  #load() {
    return this.#show(this.#fetch());
  }

  async #show(begun) {
    const wanted = this.#wanted;
    this.#note.say('Loading the map …');
    this.#note.withdrawOffer();
    this.#swap.hidden = true;
    this.#plot.stop();
    try {
      const points = await begun;
      const [{by, colours}, islands] = await Promise.all([this.#coloursOf(points), points.islands()]);
      if (wanted !== this.#wanted) return;
      this.#points = points;
      this.#side = 'after';
      this.#nameSwap();
      this.#legend.show(by, colours.legend, islands);
      if (points.compared || !this.#selection.picked.length) this.#showSide();
      this.#strength.value = 0;
      this.#allowCompression(); // it may take a line, so the map has its size only then
      this.#plot.draw(points.places.after, colours, {
        islands,
        hidden: this.#legend.hidden,
        picked: this.#placesOf(this.#selection.picked),
      });
      this.#describe();
      if (this.#search.isUsed) guarded(() => this.#search.look())();
      this.#prepareRest(points).catch(() => {}); // the map is of use without it, too
      guarded(() => this.#makeClearer())();
    } catch (error) {
      if (wanted !== this.#wanted) return;
      this.#wanted = null;
      this.#offerLayout(error);
    }
  }

  // One after the other: at the same time the comparison would keep the other colours waiting for seconds.
  async #prepareRest(points) {
    await points.fetchOtherColours();
    if (points === this.#points && !points.compared) await this.#selection.compare();
  }

  // Colours by the newest choice, also if it was made while earlier colours were loading.
  async #coloursOf(points) {
    const {by} = this.#choices.values;
    const [found] = await Promise.allSettled([points.colours(by)]);
    if (by !== this.#choices.values.by) return this.#coloursOf(points);
    if (found.reason) throw found.reason;
    return {by, colours: by === 'intent' ? tinted(found.value, this.#tints) : found.value};
  }

  #describe() {
    const {compared} = this.#points;
    const version = compared && this.#choices.versions.find(([value]) => value === String(compared[this.#side]));
    if (this.#isSketch && this.#awaitsLayout) this.#note.follow(this.#context.status.job, true);
    else this.#note.describe(this.#points, `${this.#side}: ${version?.[1] ?? ''}`, this.#isSketch);
    this.#swap.hidden = !compared;
  }

  #showSide() {
    const compared = this.#points?.compared;
    if (compared) this.#selection.showMoved(compared);
    else this.#selection.showNothing();
  }

  #offerLayout(error) {
    const {layout: name, values} = this.#choices;
    this.#note.offer(error, {name, onDemand: values.method !== 'pca', again: () => this.#load()});
  }

  #allowCompression() {
    const {marked} = this.#context.status;
    const compared = Boolean(this.#points?.compared);
    this.#strength.allow(marked && !compared);
    this.#reason.textContent = compared ? COMPARED : '';
    this.#compression.hidden = !marked; // without marked values there is nothing to compress
  }

  async #compress(strength) {
    const points = this.#points;
    const drift = await points.drift();
    if (points !== this.#points || strength !== this.#strength.value) return;
    if (drift.missing) {
      this.#strength.value = 0;
      this.#note.offerTemplates(drift.missing, () => this.#compute(true));
      return;
    }
    const places = await points.compressed(strength);
    if (points !== this.#points || strength !== this.#strength.value) return;
    this.#plot.moveTo(places);
    this.#note.tellDrift(drift, strength);
  }

  async #compute(templates = false) {
    const {method: chosen, model, other} = this.#choices.values;
    const method = templates ? 'pca' : chosen === 'auto' ? 'umap' : chosen;
    const versions = templates ? [this.#points.model] : other ? [other, model] : [model];
    for (const one of versions)
      await post(`${this.#context.base}/map/layout`, {method, model: one === '' ? null : Number(one), templates});
    this.#begun = performance.now();
    await this.#context.refresh();
    this.#awaitsLayout = true;
    this.#note.follow(this.#context.status.job, false);
  }

  get #isSketch() {
    const points = this.#points;
    return this.#choices.values.method === 'auto' && points?.method === 'pca' && !points.compared;
  }

  // UMAP takes seconds to minutes, so it is asked for by itself once for each trained version, and the map does
  // not wait for it.
  async #makeClearer(anew = false) {
    const {model} = this.#points;
    if (!this.#isSketch || !model || (this.#clearer === model && !anew)) return;
    this.#clearer = model;
    this.#note.failure = '';
    this.#awaitsLayout = true;
    this.#begun = Infinity;
    this.#note.follow(null, true);
    try {
      await post(`${this.#context.base}/map/layout`, {method: 'umap', model});
      this.#begun = performance.now();
      await this.#context.refresh();
    } catch (error) {
      this.#awaitsLayout = false; // it is not installed, say; the note tells that this is a sketch
      this.#note.failure = error.message;
      this.#describe();
    }
  }

  // Never by itself: a hand may be selecting, and an eye would lose its place.
  async #offerClearer() {
    const shown = this.#points;
    const found = new Points(this.#context.base, {...this.#choices.values, model: shown.model});
    await found.load(this.#context.status.champion);
    if (shown !== this.#points) return; // another map was chosen meanwhile
    if (this.#isSketch && found.method !== this.#points.method) this.#note.offerClearer(() => this.#load());
    else this.#describe();
  }

  #onStatus(status, before) {
    if (this.#awaitsLayout && status.asked >= this.#begun) {
      this.#awaitsLayout = Boolean(status.job);
      if (status.job) this.#note.follow(status.job, this.#isSketch);
      else if (this.#isSketch) guarded(() => this.#offerClearer())();
      else this.#load();
    }
    if (!before) return;
    if (before.champion !== status.champion && !this.#choices.values.model)
      this.#note.offerLive(before.champion, status.champion, () => this.#load());
    if (before.revision !== status.revision) guarded(() => this.#recolourAfresh())();
  }

  async #recolourAfresh() {
    for (const points of [this.#points, this.#wanted]) points?.forget();
    this.#allowCompression();
    await this.#intents.load().catch(() => {}); // one may be new; else those of before stay
    await Promise.all([this.#recolour(), this.#selection.renew(), this.#teller.renew(this.#points)]);
  }

  async #recolour() {
    const points = this.#points;
    if (!points) return; // they will be drawn in the right colours
    const colouring = this.#coloursOf(points).catch(error => this.#stayWith(this.#legend.by, error));
    const [found, islands] = await Promise.all([colouring, points.islands()]);
    if (!found || points !== this.#points) return;
    this.#legend.show(found.by, found.colours.legend, islands);
    this.#plot.recolour(found.colours, {islands, hidden: this.#legend.hidden});
  }

  // Keeps the colours shown, and their name, when others could not be loaded: 409 says that the texts are others now.
  #stayWith(by, error) {
    this.#choices.colourBy(by);
    if (error.status !== 409) throw error;
    this.#note.offerOthers(() => this.#load());
  }

  // The colours follow from the status; panel and tooltip say at once what is saved.
  async #edited() {
    await Promise.all([this.#selection.renew(), this.#teller.renew(this.#points), this.#context.refresh()]);
  }

  async #pick(ids) {
    if (!ids.length) {
      toast('The lasso caught no point.', 'Draw it around points that are shown.');
      this.#dropSelection();
      return;
    }
    const shown = this.#selection.showPicked(ids);
    this.#highlightPicked();
    await shown;
  }

  // Two intents, as large as they fit, in colours of intents that are far apart; returns these by name.
  #showAlone(names) {
    const tints = apart(names.map(name => this.#intents.byName.get(name)));
    this.#tints = tints;
    guarded(async () => {
      this.#choices.colourBy('intent');
      await this.#recolour();
      if (tints !== this.#tints || this.#legend.by !== 'intent') return; // its colours could not be loaded
      this.#legend.showAlone(names);
      this.#plot.enlarge(this.#selection.element);
    })();
    return tints;
  }

  #clear() {
    if (this.#tints) {
      this.#tints = null;
      this.#legend.showAll();
      this.#plot.showWhole();
      guarded(() => this.#recolour())();
    }
    this.#showSide();
    this.#highlightPicked();
    this.#mark([]);
  }

  // After a click beside all points, or Escape; whether anything was selected.
  #dropSelection() {
    const was = this.#selection.isUsed;
    if (was) this.#clear();
    return was;
  }

  #highlightPicked() {
    this.#plot.highlight(this.#placesOf(this.#selection.picked));
  }

  #placesOf(ids) {
    const wanted = new Set(ids);
    return [...this.#points.ids.keys()].filter(place => wanted.has(this.#points.ids[place]));
  }

  async #showNeighbours(id) {
    await this.#selection.showNeighbours(id);
    this.#highlightPicked();
  }

  #mark(ids) {
    if (this.#points) this.#plot.mark(this.#placesOf(ids));
  }

  #nameSwap() {
    this.#swap.setAttribute('aria-pressed', String(this.#side === 'before'));
    this.#swap.textContent = this.#side === 'after' ? 'Show before' : 'Show after';
  }

  #flip() {
    this.#side = this.#side === 'after' ? 'before' : 'after';
    this.#nameSwap();
    this.#describe();
    this.#plot.moveTo(this.#points.places[this.#side], this.#side === 'before' ? 'before' : 'at');
  }
}
