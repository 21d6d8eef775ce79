// Which part of the map is in view: turns places of the map into pixels, and back.

const MARGIN = 28; // pixels around the whole map
const CLOSEST = 400; // times the whole map
const FARTHEST = 0.6;
const LARGEST = 12; // times the whole map, to which some points are brought
const FAR_OFF = 0.12; // share of some points at each side that may lie out of view
const STEP_IN = 60; // pixels from the edge to which a point is brought
const TURNS_FROM = 1.25; // times larger, from which a map is turned

export class Camera {
  width = 1; // pixels
  height = 1;
  scale = 1; // pixels for one unit of the map
  #x = 0.5; // middle of the view
  #y = 0.5;
  #whole = {x: 0.5, y: 0.5, width: 1, height: 1};

  // How many times larger than the whole map.
  get zoom() {
    return this.scale / this.#fitted;
  }

  get #fitted() {
    return this.#fittedTo(this.#whole.width, this.#whole.height);
  }

  #fittedTo(width, height) {
    const [across, down] = [this.width - 2 * MARGIN, this.height - 2 * MARGIN];
    return Math.max(20, Math.min(across / width, down / height));
  }

  // Keeps what is in the middle there, as large as it was beside the whole map.
  resize(width, height) {
    const {zoom} = this;
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.scale = zoom * this.#fitted;
  }

  // Whether a map fills a high frame much better when it is turned by a quarter. In a wide one it stays, so that the
  // maps of all versions lie alike.
  fitsTurned(xy) {
    const {width, height} = boxOf(xy);
    return this.height > this.width && this.#fittedTo(height, width) > TURNS_FROM * this.#fittedTo(width, height);
  }

  // Shows all points, given as x and y alternating.
  fit(xy) {
    this.#whole = boxOf(xy);
    this.home();
  }

  // Shows the points of `places` but the few that lie far off, as large as they fit. Of the view, `covered` pixels
  // at the bottom are not seen.
  show(xy, places, covered) {
    const low = [0, 1].map(axis => quantile(places.map(place => xy[2 * place + axis]), FAR_OFF));
    const high = [0, 1].map(axis => quantile(places.map(place => xy[2 * place + axis]), 1 - FAR_OFF));
    const {x, y, width, height} = boxOf([...low, ...high]);
    const seen = 1 - Math.min(0.8, covered / this.height);
    this.scale = Math.min(this.#fittedTo(width, height / seen), LARGEST * this.#fitted);
    this.#x = x;
    this.#y = y - (this.height * (1 - seen)) / 2 / this.scale;
  }

  home() {
    this.#x = this.#whole.x;
    this.#y = this.#whole.y;
    this.scale = this.#fitted;
  }

  // The vertical axis of the map points up, that of the page down.
  toPage(x, y) {
    return [
      this.width / 2 + (x - this.#x) * this.scale,
      this.height / 2 - (y - this.#y) * this.scale,
    ];
  }

  toMap(left, top) {
    return [
      this.#x + (left - this.width / 2) / this.scale,
      this.#y - (top - this.height / 2) / this.scale,
    ];
  }

  sees(x, y) {
    const [left, top] = this.toPage(x, y);
    return left >= 0 && left <= this.width && top >= 0 && top <= this.height;
  }

  // Of each label the place in view that is nearest to the middle, by its name; `places` are those that are drawn.
  nearestInView(xy, places, {codes, names}) {
    const found = new Map();
    for (const place of places) {
      const [x, y] = [xy[2 * place], xy[2 * place + 1]];
      const far = (x - this.#x) ** 2 + (y - this.#y) ** 2;
      if (!this.sees(x, y) || found.get(codes[place])?.far <= far) continue;
      found.set(codes[place], {far, at: [x, y]});
    }
    return new Map([...found].map(([code, {at}]) => [names[code], at]));
  }

  // What is under these pixels stays there.
  zoomAt(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toMap(left, top);
    const most = CLOSEST * this.#fitted;
    this.scale = Math.min(most, Math.max(FARTHEST * this.#fitted, this.scale * factor));
    this.#x = x - (left - this.width / 2) / this.scale;
    this.#y = y + (top - this.height / 2) / this.scale;
  }

  panBy(right, down) {
    this.#x -= right / this.scale;
    this.#y += down / this.scale;
  }

  // Moves as little as brings a place well into view.
  bring(x, y) {
    const [left, top] = this.toPage(x, y);
    const short = (at, size) => {
      const edge = Math.min(STEP_IN, size / 3);
      return at < edge ? edge - at : at > size - edge ? size - edge - at : 0;
    };
    this.panBy(short(left, this.width), short(top, this.height));
  }

  // The map's coordinates to those of WebGL: factors, then shifts.
  get projection() {
    const [across, up] = [(2 * this.scale) / this.width, (2 * this.scale) / this.height];
    return [across, up, -this.#x * across, -this.#y * up];
  }
}

// The middle and size of the points, given as x and y alternating.
function boxOf(xy) {
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  for (let at = 0; at < xy.length; at += 1) {
    low[at % 2] = Math.min(low[at % 2], xy[at]);
    high[at % 2] = Math.max(high[at % 2], xy[at]);
  }
  if (!xy.length) [low[0], low[1], high[0], high[1]] = [0, 0, 1, 1];
  const [width, height] = [0, 1].map(axis => Math.max(1e-3, high[axis] - low[axis]));
  return {x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, width, height};
}

// How many times as long as broad a map is, whichever way it lies.
export function lengthOf(xy) {
  const {width, height} = boxOf(xy);
  return Math.max(width, height) / Math.min(width, height);
}

function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.round(share * (sorted.length - 1))];
}
