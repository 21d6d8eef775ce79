// Names on the islands: the largest first, each where none overlaps it; more of them as the map is enlarged.
import {fill, h} from '../shared/elements.js';

const GAP = 3; // pixels between two names

export class Names {
  element = h('div', {class: 'names', 'aria-hidden': 'true'});
  #names = []; // element, place and size of each, largest island first
  #scale = 0;
  #stands = new Set(); // those that have room at this scale

  constructor() {
    document.fonts?.ready.then(() => this.#measure()); // a font that comes late has other widths
  }

  // `islands`: name, at and before, in the order in which they get room.
  show(islands) {
    this.#names = islands.map(island => ({...island, node: h('span', {}, lines(island.name))}));
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

  // `isShown(name)`: whether the points of an island are; `side`: whose places count, `at` or `before`.
  place(camera, {isShown, side}) {
    const key = [camera.scale, side, this.#names.map(({name}) => +isShown(name)).join('')].join(' ');
    if (key !== this.#scale) this.#stands = this.#withRoom(camera.scale, isShown, side);
    this.#scale = key;
    for (const name of this.#names) {
      const [left, top] = camera.toPage(...name[side]);
      const {style} = name.node;
      const [across, down] = [name.width / 2, name.height / 2];
      const fits = left >= across && left <= camera.width - across && top >= down && top <= camera.height - down;
      const stands = fits && this.#stands.has(name);
      style.transform = `translate(${Math.round(left - across)}px, ${Math.round(top - down)}px)`;
      style.opacity = stands ? 1 : 0;
      name.node.dataset.shown = stands;
    }
  }

  // The choice depends on the scale alone, so that no name comes or goes while the map is moved.
  #withRoom(scale, isShown, side) {
    const taken = [];
    const hasRoom = name => {
      if (!name[side] || !isShown(name.name)) return false;
      const [left, top] = name[side].map(value => value * scale);
      const isClear = other =>
        Math.abs(other.left - left) >= (other.width + name.width) / 2 ||
        Math.abs(other.top - top) >= (other.height + name.height) / 2;
      if (!taken.every(isClear)) return false;
      taken.push({left, top, width: name.width, height: name.height});
      return true;
    };
    return new Set(this.#names.filter(hasRoom));
  }
}

// A long name may break after an underscore, a hyphen or a space.
const lines = name =>
  name.split(/(?<=[_\- ])/).flatMap((part, at) => (at ? [h('wbr'), part] : [part]));
