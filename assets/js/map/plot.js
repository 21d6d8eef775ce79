// The map itself: points, names on the islands, and what pointer and keyboard do on it. Points are given by index.
import {h} from '../shared/elements.js';
import {Camera, lengthOf} from './camera.js';
import {Gestures, HELP, listenToKeys} from './gestures.js';
import {Grid, insideOf} from './grid.js';
import {Names} from './names.js';
import {painterOn} from './painter.js';
import {sceneOf} from './scene.js';
import {Tooltip} from './tooltip.js';

const MOVE = 700; // milliseconds
const REACH = 9; // pixels from the pointer to a point
const TOUCH_REACH = 20;
const GROWTH = 0.3; // points grow by this power of the zoom
const LARGEST = 2.2; // times
const MOST_DENSE = 2; // pixels of the screen for one of the page
const TOOLS = [
  ['lasso', 'Lasso', 'Draw around points to select them; hold Shift to move the map'],
  ['move', 'Move', 'Drag to move the map'],
];
const coarse = () => matchMedia('(pointer: coarse)').matches;

export class Plot {
  element;
  tools;
  #hears;
  #canvas = h('canvas', {'aria-hidden': 'true'});
  #ring = h('div', {class: 'cursor', hidden: true});
  #spoken = h('div', {class: 'hidden-text', role: 'status', 'aria-live': 'polite', 'data-role': 'spoken'});
  #map;
  #painter;
  #camera = new Camera();
  #names = new Names();
  #tip = new Tooltip();
  #gestures;
  #view = {colours: null, hidden: new Set(), picked: [], marked: [], found: [], glanced: new Set()};
  #draws = false; // whether a lasso is being drawn
  #xy = new Float32Array(); // coordinates drawn now
  #target; // coordinates at the end of the movement
  #isTurned = false; // by a quarter: a wide map in the high frame of a phone filled a third of it
  #side = 'at';
  #seen = new Uint32Array(); // points that are drawn, lowest first
  #grid = null; // made when it is needed
  #at = null; // the point that the keyboard is on
  #pointed = null; // the point that is told of, and where
  #frame = 0;
  #moving = 0;

  // Callbacks in `hears`: `lassoed` with points; `clicked` and `pointed` with one point, `left` with none; `concealed`
  // with the number of selected points that are not drawn.
  constructor(hears) {
    this.#hears = hears;
    this.#map = h('div', {
      class: 'map',
      tabindex: 0,
      role: 'application',
      'aria-label': `Map of the texts. ${HELP}`,
      onfocus: () => this.#map.matches(':focus-visible') && this.#drawCursor(),
      onblur: () => this.#leave(),
    });
    this.#gestures = new Gestures(this.#map, {
      pointed: (left, top) => this.#point(left, top),
      clicked: (left, top) => this.#click(left, top),
      outlined: outline => this.#enclose(outline),
      drawing: isOn => this.#draw(isOn),
      panned: (right, down) => this.#look(() => this.#camera.panBy(right, down)),
      zoomed: (factor, left, top) => this.#look(() => this.#camera.zoomAt(factor, left, top)),
    });
    listenToKeys(this.#map, {
      go: (right, up) => this.#go(right, up),
      open: () => this.#at !== null && this.#hears.clicked(this.#at),
      zoom: factor => this.#look(() => this.#camera.zoomAt(factor)),
      home: () => this.#look(() => this.#camera.home()),
      leave: () => this.#gestures.stop() || this.#leave() || this.#hears.left(),
    });
    this.#map.append(this.#canvas, this.#names.element, this.#gestures.element, this.#ring, this.#tip.element);
    this.#map.probe = () => this.#probe();
    this.tools = this.#makeTools();
    this.element = h('div', {class: 'map-frame'}, this.#map, this.#spoken);
    new ResizeObserver(() => this.#resize()).observe(this.#map);
  }

  #makeTools() {
    const choose = name => {
      this.#gestures.tool = name;
      for (const [key, button] of buttons) button.setAttribute('aria-pressed', String(key === name));
    };
    const button = ([name, words, title]) => [name, h('button', {title, onclick: () => choose(name)}, words)];
    const buttons = new Map(TOOLS.map(button));
    choose(coarse() ? 'move' : 'lasso');
    const turn = (words, label, act) =>
      h('button', {'aria-label': label, title: label, onclick: () => this.#look(act)}, words);
    return h(
      'div',
      {class: 'row tight push map-tools', role: 'toolbar', 'aria-label': 'Tools of the map'},
      ...buttons.values(),
      turn('+', 'Larger', () => this.#camera.zoomAt(1.5)),
      turn('−', 'Smaller', () => this.#camera.zoomAt(1 / 1.5)),
      turn('Whole map', 'Show the whole map', () => this.#camera.home()),
    );
  }

  // `picked`: the selected points; `islands`: names and their places.
  draw(xy, colours, {islands, hidden, picked}) {
    this.stop();
    this.#painter ??= painterOn(this.#canvas);
    this.element.style.setProperty('--long', lengthOf(xy).toFixed(2)); // a phone's frame is as high as its map needs
    this.#camera.resize(this.#map.clientWidth, this.#map.clientHeight);
    this.#isTurned = this.#camera.fitsTurned(xy);
    this.#xy = this.#turned(xy);
    this.#side = 'at';
    Object.assign(this.#view, {colours, hidden, picked, marked: [], found: [], glanced: new Set()});
    this.#leave();
    this.#at = null;
    this.#camera.fit(this.#xy);
    this.#showNames(islands);
    this.#resize();
    this.#stage();
    this.#map.dataset.ready = 'true';
  }

  recolour(colours, {islands, hidden}) {
    Object.assign(this.#view, {colours, hidden, glanced: new Set()});
    this.#showNames(islands);
    this.#stage();
  }

  // Places as x and y alternating; which way a map lies means nothing.
  #turned(xy) {
    return this.#isTurned ? xy.map((value, at) => (at % 2 ? -xy[at - 1] : xy[at + 1])) : xy;
  }

  #showNames(islands) {
    const turned = place => place && this.#turned(place);
    this.#names.show(islands.map(one => ({...one, at: turned(one.at), before: turned(one.before)})));
  }

  hide(codes) {
    Object.assign(this.#view, {hidden: codes, glanced: new Set()});
    this.#leave();
    this.#stage();
  }

  // Selected points stand out, and marked or found ones as well, with a ring; all others are dimmed.
  highlight(places) {
    this.#view.picked = places;
    this.#stage();
  }

  // Brings what is shown into view as large as it fits, above a panel that may lie over the map.
  enlarge(panel) {
    if (!this.#seen.length) return;
    const [map, over] = [this.#map, panel].map(one => one.getBoundingClientRect());
    const covered = over.left < map.right ? Math.max(0, map.bottom - over.top) : 0;
    this.#look(() => this.#camera.show(this.#xy, [...this.#seen], Math.min(covered, map.height)));
  }

  showWhole() {
    this.#look(() => this.#camera.home());
  }

  mark(places) {
    this.#view.marked = places;
    this.#stage();
  }

  // Points that a search has found.
  find(places) {
    this.#view.found = places;
    this.#stage();
  }

  // A new lasso takes the place of what was selected, so that dims nothing while it is drawn.
  #draw(isOn) {
    if (isOn === this.#draws) return;
    this.#draws = isOn;
    if (this.#view.picked.length || this.#view.marked.length) this.#stage();
  }

  get #rings() {
    return [...new Set([...this.#view.marked, ...this.#view.found])];
  }

  get #lit() {
    const {picked, found} = this.#view;
    return new Set(this.#draws ? found : [...picked, ...this.#rings]);
  }

  // Names of the intents that selected, marked and found points have.
  get #litNames() {
    const {codes, names} = this.#view.colours.labels;
    return new Set([...this.#lit].map(place => names[codes[place]]));
  }

  glance(codes) {
    this.#view.glanced = codes;
    this.#stage();
  }

  #stage() {
    if (!this.#view.colours) return;
    const ink = getComputedStyle(this.#map).color;
    const scene = sceneOf({...this.#view, marked: this.#rings, lit: this.#lit, ink});
    this.#seen = scene.places.subarray(0, scene.seen);
    this.#grid = null;
    this.#painter.load(scene, this.#xy);
    const {picked, hidden, colours} = this.#view;
    this.#hears.concealed(picked.filter(place => hidden.has(colours.codes[place])).length);
    this.#ask();
  }

  #resize() {
    const {clientWidth: width, clientHeight: height} = this.#map;
    const density = Math.min(MOST_DENSE, devicePixelRatio || 1);
    this.#camera.resize(width, height);
    this.#canvas.width = Math.round(width * density);
    this.#canvas.height = Math.round(height * density);
    if (this.#view.colours) this.#paint();
  }

  #ask() {
    if (!this.#view.colours) return; // wheel and keys come before the points
    this.#frame ||= requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const grown = Math.min(LARGEST, Math.max(1, this.#camera.zoom) ** GROWTH);
    this.#painter.draw(this.#camera, (grown * this.#canvas.width) / this.#camera.width);
    const spots = () => this.#camera.nearestInView(this.#xy, this.#seen, this.#view.colours.labels);
    const lit = this.#litNames;
    const isFirst = ({name}) => lit.has(name);
    this.#names.place(this.#camera, {isShown: island => this.#isShown(island), isFirst, side: this.#side, spots});
    this.#drawCursor();
  }

  // A name goes with the points of its entry in the legend, if it has one; one that is glanced at stands alone.
  #isShown({name, kind}) {
    const {colours, hidden, glanced} = this.#view;
    const isOf = entry => (kind === 'group' ? entry.kind === 'unlabelled' : entry.name === name);
    const code = colours.legend.findIndex(isOf);
    return code < 0 || (glanced.size ? glanced.has(code) : !hidden.has(code));
  }

  #look(change) {
    change();
    this.#hideTip();
    this.#ask();
  }

  // Only what is drawn and in view can be pointed at, clicked or enclosed.
  get #near() {
    this.#grid ??= new Grid(this.#xy, this.#seen);
    return this.#grid;
  }

  #nearest(left, top, reach) {
    const [x, y] = this.#camera.toMap(left, top);
    const place = this.#near.nearest(x, y, reach / this.#camera.scale);
    return place !== null && this.#inView(place) ? place : null;
  }

  #inView(place) {
    return this.#camera.sees(this.#xy[2 * place], this.#xy[2 * place + 1]);
  }

  #point(left, top) {
    const place = left === undefined ? null : this.#nearest(left, top, REACH);
    if (place === null) {
      this.#hideTip();
      return;
    }
    const isNew = this.#pointed?.place !== place;
    this.#pointed = {place, left, top};
    if (isNew) this.#hears.pointed(place);
  }

  #hideTip() {
    this.#pointed = null;
    this.#tip.hide();
  }

  // Tells of a point while it is pointed at; `words` are read aloud if the keyboard is on it.
  tell(place, content, words) {
    if (this.#pointed?.place === place) this.#tip.show(content, this.#pointed.left, this.#pointed.top);
    if (this.#at === place && words) this.#spoken.textContent = words;
  }

  #click(left, top) {
    const place = this.#nearest(left, top, coarse() ? TOUCH_REACH : REACH);
    if (place === null) this.#hears.left();
    else this.#hears.clicked(place);
  }

  #enclose(outline) {
    const isInside = insideOf(outline.map(point => this.#camera.toMap(...point)));
    const sees = (x, y) => this.#camera.sees(x, y) && isInside(x, y);
    const lit = this.#lit; // what is dimmed is not taken
    const places = this.#near.within(sees).filter(place => !lit.size || lit.has(place));
    this.#draws = false;
    // First those without a label, which an act on the selection is about.
    const kinds = this.#view.colours?.kinds ?? [];
    const isBare = place => kinds[place] === 'unlabelled';
    this.#hears.lassoed(places.toSorted((one, other) => isBare(other) - isBare(one)));
  }

  #go(right, up) {
    const middle = [this.#camera.width / 2, this.#camera.height / 2];
    const next =
      this.#at === null || !this.#seen.includes(this.#at)
        ? this.#near.nearest(...this.#camera.toMap(...middle), 2)
        : this.#near.towards(this.#at, right, up);
    if (next === null) return;
    this.#at = next;
    this.#look(() => this.#camera.bring(this.#xy[2 * next], this.#xy[2 * next + 1]));
    this.#drawCursor();
    this.#hears.pointed(next);
  }

  // The ring around the point that the keyboard is on, which tells of it.
  #drawCursor() {
    const shows = this.#at !== null && document.activeElement === this.#map;
    this.#ring.hidden = !shows;
    if (!shows) return;
    const [left, top] = this.#camera.toPage(this.#xy[2 * this.#at], this.#xy[2 * this.#at + 1]);
    this.#ring.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    this.#pointed = {place: this.#at, left, top};
  }

  // Drops the point that the keyboard is on; whether there was one.
  #leave() {
    const was = !this.#ring.hidden;
    this.#ring.hidden = true;
    this.#at = null;
    this.#spoken.textContent = '';
    this.#hideTip();
    return was;
  }

  // Moves the points; `side` says whose places the names have, `at` or `before`.
  moveTo(xy, side = 'at') {
    this.stop();
    this.#side = side;
    this.#target = this.#turned(xy);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) this.#place(this.#target);
    else this.#glide(this.#xy, this.#target);
  }

  stop() {
    cancelAnimationFrame(this.#moving);
    delete this.#map.dataset.moving;
  }

  #glide(from, to) {
    const began = performance.now();
    const step = now => {
      const share = Math.min(1, Math.max(0, (now - began) / MOVE));
      const eased = share * share * (3 - 2 * share);
      this.#place(share === 1 ? to : from.map((value, at) => value + eased * (to[at] - value)));
      if (share < 1) this.#moving = requestAnimationFrame(step);
    };
    this.#map.dataset.moving = 'true';
    this.#moving = requestAnimationFrame(step);
  }

  #place(xy) {
    this.#xy = xy;
    this.#grid = null;
    if (xy === this.#target) delete this.#map.dataset.moving;
    this.#painter.move(xy);
    this.#ask();
  }

  // Where the points are on the page, which of them are drawn, and which of those are dimmed; for tests.
  #probe() {
    const box = this.#map.getBoundingClientRect();
    const at = place => this.#camera.toPage(this.#xy[2 * place], this.#xy[2 * place + 1]);
    const {glanced, colours} = this.#view;
    const lit = this.#lit;
    const stands = place => lit.has(place) || glanced.has(colours.codes[place]);
    const bright = this.#seen.filter(place => (!lit.size && !glanced.size) || stands(place));
    const places = Array.from({length: this.#xy.length / 2}, (_, place) => at(place));
    return {
      box: {x: box.x, y: box.y, width: this.#camera.width, height: this.#camera.height},
      points: places.map(([left, top]) => [box.x + left, box.y + top]),
      seen: Array.from(this.#seen),
      bright: Array.from(bright),
      marked: this.#rings,
      zoom: this.#camera.zoom,
    };
  }
}
