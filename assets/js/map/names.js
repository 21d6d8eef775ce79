// Names beside the middles of the islands, of intents first and then of groups without a label: the largest first, each
// where none overlaps it, more as the map is enlarged. A name that is highlighted is shown, whatever others there are.
import {fill, h} from '../shared/elements.js';

const GAP = 6; // pixels between two names; the grounds of both take four of them
const BESIDE = 11; // pixels from a place to the name beside it
const SIDES = [[0, -1], [0, 1], [1, 0], [-1, 0]]; // above, below, to the right, to the left

export class Names {
  element = h('div', {class: 'names', 'aria-hidden': 'true'});
  #names = []; // element, place and size of each, largest island first
  #scale = 0;
  #stands = new Map(); // those that have room at this scale, with the side of their place

  constructor() {
    document.fonts?.ready.then(() => this.#measure()); // a font that comes late has other widths
  }

  // `islands`: name, kind, at and before, in the order in which they get room.
  show(islands) {
    // Unseen until they have places: at first all lay in a pile.
    const node = ({name, kind}) => h('span', {class: kind, style: {opacity: 0}}, lines(name));
    this.#names = islands.map(island => ({...island, node: node(island)}));
    fill(this.element, this.#names.map(({node}) => node));
    this.#measure();
  }

  #measure() {
    for (const name of this.#names) {
      name.width = name.node.offsetWidth + GAP;
      name.height = name.node.offsetHeight + GAP;
    }
    this.#scale = 0;
  }

  // `isShown(island)`: whether the points of an island are; `isFirst(island)`: whether it is highlighted, which gives
  // it room first; `side`: whose places count, `at` or `before`; `spots()`: a place in view of each intent that has
  // one, for those whose middle is not in view.
  place(camera, {isShown, isFirst = () => false, side, spots = () => new Map()}) {
    const names = this.#names
      .filter(name => name[side] && isShown(name))
      .toSorted((one, other) => isFirst(other) - isFirst(one));
    const key = [camera.scale, side, names.map(({name}) => name).join('\n')].join(' ');
    if (key !== this.#scale) this.#stands = withRoom(names, name => name[side].map(value => value * camera.scale));
    this.#scale = key;
    const boxes = new Map();
    const others = names.filter(name => {
      const box = this.#stands.has(name) && beside(name, camera.toPage(...name[side]), this.#stands.get(name));
      if (box && isInside(box, camera)) boxes.set(name, box);
      return !boxes.has(name);
    });
    if (others.length) this.#squeeze(others, boxes, {camera, isFirst, side, spots});
    for (const name of this.#names) draw(name, boxes.get(name));
  }

  // Names that the edge of the map would cut, or whose middle is out of view, take what room is left; one that is
  // highlighted takes that of others.
  #squeeze(others, boxes, {camera, isFirst, side, spots}) {
    let found = null;
    for (const name of others) {
      found ??= camera.sees(...name[side]) ? null : spots();
      const place = camera.sees(...name[side]) ? name[side] : found.get(name.name);
      if (!place) continue;
      const ways = SIDES.map(way => within(beside(name, camera.toPage(...place), way), camera));
      const free = counts => one =>
        [...boxes].every(([other, box]) => !counts(other) || isClear(one, box));
      const box = ways.find(free(() => true)) ?? (isFirst(name) && ways.find(free(isFirst)));
      if (!box) continue;
      for (const [other, taken] of boxes) if (!isClear(box, taken)) boxes.delete(other);
      boxes.set(name, box);
    }
  }
}

// By the scale alone, so that no name goes while the map is moved. The vertical axis of the map points up.
function withRoom(names, placeOf) {
  const boxes = new Map();
  const sides = new Map();
  for (const name of names) {
    const [left, up] = placeOf(name);
    const way = SIDES.find(one => {
      const box = beside(name, [left, -up], one);
      return [...boxes.values()].every(other => isClear(box, other));
    });
    if (!way) continue;
    boxes.set(name, beside(name, [left, -up], way));
    sides.set(name, way);
  }
  return sides;
}

// The middle and size of a name that stands beside a place, in pixels.
const beside = ({width, height}, [left, top], [right, down]) => ({
  left: left + right * (BESIDE + width / 2),
  top: top + down * (BESIDE + height / 2),
  width,
  height,
});

const isClear = (one, other) =>
  Math.abs(other.left - one.left) >= (other.width + one.width) / 2 ||
  Math.abs(other.top - one.top) >= (other.height + one.height) / 2;

const within = (box, {width, height}) => ({
  ...box,
  left: Math.min(Math.max(box.left, box.width / 2), width - box.width / 2),
  top: Math.min(Math.max(box.top, box.height / 2), height - box.height / 2),
});

function isInside(box, camera) {
  const {left, top} = within(box, camera);
  return left === box.left && top === box.top;
}

function draw({node}, box) {
  node.style.opacity = box ? 1 : 0;
  node.dataset.shown = Boolean(box);
  if (!box) return;
  const [left, top] = [box.left - box.width / 2, box.top - box.height / 2];
  node.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}

// A long name may break after an underscore, a hyphen or a space.
const lines = name =>
  name.split(/(?<=[_\- ])/).flatMap((part, at) => (at ? [h('wbr'), part] : [part]));
