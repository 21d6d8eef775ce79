// What pointer, wheel and keys mean on the map: hover, click, lasso, move, and zoom with wheel or two fingers.
import {h, svg} from '../shared/elements.js';

const STILL = 5; // pixels that a click may move
const NOTCH = 400; // pixels of the wheel that enlarge e times
const LINE = 32; // pixels for a line of the wheel
const WAYS = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
const STEP = 1.4; // times larger with each press

export const HELP =
  'Arrow keys go to the nearest text in that direction. Enter opens it. Plus and minus zoom, 0 shows the whole map.';

export class Gestures {
  tool = 'lasso'; // or `move`
  element;
  #on;
  #hears;
  #trace = svg('polygon', {points: ''});
  #down = new Map(); // pressed pointers by id, with the pixels where they are
  #outline = null; // of the lasso that is being drawn
  #travelled = 0;
  #frame = 0;

  // Callbacks in `hears`, all in pixels of the map: `pointed(left, top)`, or none outside; `clicked(left, top)`;
  // `outlined(outline)`, and before it `drawing(true)`, after it `drawing(false)`; `panned(right, down)`;
  // `zoomed(factor, left, top)`.
  constructor(element, hears) {
    this.#on = element;
    this.#hears = hears;
    const sheet = svg('svg', {class: 'lasso', 'aria-hidden': 'true'});
    sheet.append(this.#trace);
    this.element = h('div', {class: 'lasso'}, sheet);
    const on = (name, hear) => element.addEventListener(name, hear);
    on('pointerdown', event => this.#press(event));
    on('pointermove', event => this.#move(event));
    on('pointerup', event => this.#release(event));
    on('pointercancel', event => this.#giveUp(event));
    on('pointerleave', () => this.#hears.pointed());
    element.addEventListener('wheel', event => this.#turn(event), {passive: false});
  }

  #at(event) {
    const box = this.#on.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #press(event) {
    if (event.button !== 0 && event.button !== 1) return;
    try {
      this.#on.setPointerCapture(event.pointerId);
    } catch {
      return; // the pointer is gone already
    }
    const at = this.#at(event);
    this.#down.set(event.pointerId, at);
    this.#travelled = this.#down.size === 1 ? 0 : Infinity;
    const draws = this.tool === 'lasso' && event.button === 0 && !event.shiftKey && this.#down.size === 1;
    this.#outline = draws ? [at] : null;
    this.#draw();
  }

  #move(event) {
    const at = this.#at(event);
    const before = this.#down.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== 'touch') this.#hears.pointed(...at);
      return;
    }
    const [right, down] = [at[0] - before[0], at[1] - before[1]];
    this.#travelled += Math.hypot(right, down);
    if (this.#down.size === 2) this.#pinch(event.pointerId, at);
    else if (this.#outline) this.#trail(at);
    else if (this.#travelled > STILL) this.#hears.panned(right, down);
    this.#down.set(event.pointerId, at);
    this.#draw();
  }

  #trail(at) {
    this.#outline.push(at);
    if (this.#travelled > STILL) this.#hears.drawing(true);
  }

  #pinch(moved, at) {
    const before = this.#down.get(moved);
    const [, other] = [...this.#down].find(([id]) => id !== moved);
    const between = point => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
    const middle = [0, 1].map(axis => (at[axis] + other[axis]) / 2);
    this.#hears.panned((at[0] - before[0]) / 2, (at[1] - before[1]) / 2);
    this.#hears.zoomed(between(at) / between(before), ...middle);
  }

  #release(event) {
    if (!this.#down.delete(event.pointerId)) return;
    const outline = this.#outline;
    this.#outline = null;
    this.#draw();
    if (this.#travelled <= STILL) this.#hears.clicked(...this.#at(event));
    else if (outline) this.#hears.outlined(outline);
    this.#hears.drawing(false);
  }

  #giveUp(event) {
    this.#down.delete(event.pointerId);
    this.stop();
  }

  // Drops a lasso that is being drawn; whether there was one.
  stop() {
    const was = this.#outline !== null;
    this.#outline = null;
    this.#travelled = Infinity;
    this.#draw();
    this.#hears.drawing(false);
    return was;
  }

  #draw() {
    this.#frame ||= requestAnimationFrame(() => this.#outlineNow());
  }

  #outlineNow() {
    this.#frame = 0;
    this.#trace.setAttribute('points', (this.#outline ?? []).map(point => point.join(',')).join(' '));
  }

  #turn(event) {
    event.preventDefault();
    const way = event.deltaMode === 0 ? event.deltaY : LINE * event.deltaY;
    this.#hears.zoomed(Math.exp(-way / NOTCH), ...this.#at(event));
  }
}

// Callbacks in `acts`: `go(right, up)`, `open()`, `zoom(factor)`, `home()`, and `leave()`, which says whether there
// was anything to leave.
export function listenToKeys(element, acts) {
  element.addEventListener('keydown', event => {
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
    const {key} = event;
    if (WAYS[key]) acts.go(...WAYS[key]);
    else if (key === 'Enter') acts.open();
    else if (key === '+' || key === '=') acts.zoom(STEP);
    else if (key === '-') acts.zoom(1 / STEP);
    else if (key === '0') acts.home();
    else if (key !== 'Escape' || !acts.leave()) return;
    event.preventDefault();
    event.stopPropagation();
  });
}
