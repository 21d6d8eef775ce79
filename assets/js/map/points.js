// Coordinates and colours of a map. Both are arrays in the order of one list of ids.
import {binary, call, post} from '../shared/rest.js';

// Ways to lay the points out: the name, how a sentence calls the map, what it is for, and the method. `auto` is the
// clearest of the others that is ready.
export const LAYOUTS = {
  auto: {name: 'Automatic', called: 'the clearest map', says: '', method: ''},
  pca: {name: 'Quick map', called: 'the quick map', says: 'a first overview', method: 'PCA'},
  umap: {
    name: 'Clearer map',
    called: 'the clearer map',
    says: 'texts that mean the same lie closer together than on the quick map',
    method: 'UMAP',
  },
  tsne: {
    name: 'Tight groups',
    called: 'the map of tight groups',
    says: 'only what lies in one group belongs together; how far groups are apart means nothing',
    method: 't-SNE',
  },
};
export const COLOURINGS = [
  ['intent', 'intent'],
  ['prediction', 'answer'],
  ['agreement', 'agreement'],
  ['label state', 'state of the label'],
  ['split', 'set'],
  ['time', 'time'],
];
const NEED_MODEL = new Set(['prediction', 'agreement']);

export const utterances = (base, ids) => post(`${base}/utterances/by-ids`, {ids});

export class Points {
  ids = [];
  missing = 0; // utterances without coordinates
  places = {}; // x and y alternating: `after`, and `before` if two maps are compared
  compared = null;
  #base;
  #choice;
  #order = '';
  method = ''; // of the layout that is shown; `auto` stands for one of the others
  model = null; // number of the version
  #colours = new Map();
  #told = new Map(); // those of the colours that have come
  #answers = null; // the request for what the model answers
  #islands = null;
  #drift = null;
  #compressed = new Map(); // coordinates by strength

  // `choice`: the method of the layout, the model's version, and the other one to compare with.
  constructor(base, {method, model, other}) {
    this.#base = base;
    this.#choice = {method, model, other};
  }

  async load(champion) {
    const found = await (this.#choice.other ? this.#comparison(champion) : this.#one());
    this.ids = found.ids;
    this.missing = found.missing;
    this.#order = found.order;
    return this;
  }

  async #one() {
    const found = await call(`${this.#base}/map?${this.#asked()}`);
    this.method = found.method;
    this.model = found.model; // places, names and colours are this version's, also if another one is live meanwhile
    const xy = await binary(`${this.#base}/map/xy?${this.#asked({order: found.order})}`);
    this.places = {after: new Float32Array(xy)};
    return found;
  }

  async #comparison(champion) {
    const {method, model, other} = this.#choice;
    const asked = new URLSearchParams({before: other, after: model || String(champion ?? 0), method});
    const found = await call(`${this.#base}/map/compare?${asked}`);
    this.places = {
      before: Float32Array.from(found.before_xy.flat()),
      after: Float32Array.from(found.after_xy.flat()),
    };
    this.compared = found;
    this.method = found.method;
    this.model = found.after;
    return found;
  }

  // Which points move under compression, and whether a job must embed templates first; once it may have, that is asked
  // anew.
  drift() {
    const found = (this.#drift ??= call(`${this.#base}/map/drift?${this.#asked()}`));
    const drop = () => {
      if (this.#drift === found) this.#drift = null;
    };
    found.then(({missing}) => missing && drop(), drop);
    return found;
  }

  // Coordinates of the points at a strength of compression.
  async compressed(strength) {
    if (!strength) return this.places.after;
    if (!this.#compressed.has(strength)) {
      const asked = this.#asked({order: this.#order, strength});
      this.#compressed.set(strength, new Float32Array(await binary(`${this.#base}/map/xy?${asked}`)));
    }
    return this.#compressed.get(strength);
  }

  #asked(more = {}) {
    const model = this.model ?? (this.#choice.model || null);
    const chosen = model === null ? {} : {model};
    return new URLSearchParams({method: this.method || this.#choice.method, ...chosen, ...more});
  }

  // The legend, the code of each point, its kind: `labelled`, `outside` (of scope) or `unlabelled`, and its label.
  async colours(by) {
    const known = this.#colours;
    const [{legend, codes}, intents] = await Promise.all([this.#codes(by), this.#codes('intent')]);
    if (known !== this.#colours) return this.colours(by); // a label has changed meanwhile
    const kinds = intents.legend.map(({kind}) => kind || 'labelled');
    const labels = {codes: intents.codes, names: intents.legend.map(({name}) => name)};
    return {legend, codes, kinds: Array.from(intents.codes, code => kinds[code]), labels};
  }

  // Names of the intents and where they stand, largest first; a map is also of use without them.
  async islands() {
    const {other} = this.#choice;
    const sides = other ? {other, model: this.compared.after} : {};
    const asked = this.#asked({order: this.#order, ...sides});
    this.#islands ??= call(`${this.#base}/map/islands?${asked}`).then(
      found => found.islands,
      () => [],
    );
    const newest = this.#islands;
    const found = await newest;
    return newest === this.#islands ? found : this.islands(); // a label has changed meanwhile
  }

  // What the legend of a colouring says of a point, if it has come: words and colour.
  entryOf(by, place) {
    const {legend, codes} = this.#told.get(by) ?? {};
    const entry = legend?.[codes[place]];
    return entry ? {words: entry.name, colour: entry.colour} : null;
  }

  // Asks once for the answers, until a label changes; a map is also of use without them.
  async fetchAnswers() {
    this.#answers ??= this.model ? this.#codes('prediction').catch(() => {}) : Promise.resolve();
    await this.#answers;
  }

  // Slow colourings are requested in advance.
  async fetchOtherColours() {
    for (const [by] of COLOURINGS)
      if (this.model || !NEED_MODEL.has(by)) await this.#codes(by).catch(() => {});
  }

  // Called when labels or marked values have changed.
  forget() {
    this.#colours = new Map();
    this.#told = new Map();
    this.#answers = null;
    this.#islands = null;
    this.#compressed.clear();
    this.#drift = null;
  }

  // Each way of colouring is fetched once until a label changes.
  #codes(by) {
    const [known, told] = [this.#colours, this.#told];
    if (!known.has(by)) {
      const found = this.#fetchCodes(by);
      known.set(by, found);
      found.then(
        colours => told.set(by, colours),
        () => known.delete(by),
      );
    }
    return known.get(by);
  }

  // Four bytes for the length of the legend, the legend, then two bytes for each point.
  async #fetchCodes(by) {
    const {after: model, before: other} = this.compared ?? {};
    const sides = this.compared ? {model, other} : {};
    const asked = this.#asked({by, order: this.#order, ...sides});
    const buffer = await binary(`${this.#base}/map/colours?${asked}`);
    const length = new DataView(buffer).getUint32(0, true);
    const {legend} = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    return {legend, codes: new Uint16Array(buffer, 4 + length)};
  }
}
