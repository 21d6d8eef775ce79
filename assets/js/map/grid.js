// Finds the points that are seen: near the pointer, within an outline, and in a direction.

const IN_A_CELL = 4; // points, on average
const MOST_CELLS = 256; // across
const SIDEWAYS = 2.5; // how much farther a point beside the direction seems

export class Grid {
  #xy;
  #places; // in the order in which they are drawn
  #cells; // the first place of each cell in `#inCells`, and one past the last
  #inCells;
  #across;

  // `places`: the points that are seen, by index, lowest first.
  constructor(xy, places) {
    this.#xy = xy;
    this.#places = places;
    this.#across = Math.min(MOST_CELLS, Math.ceil(Math.sqrt(places.length / IN_A_CELL)) || 1);
    this.#cells = new Uint32Array(this.#across ** 2 + 1);
    this.#inCells = new Uint32Array(places.length);
    for (const place of places) this.#cells[this.#cellOf(place) + 1] += 1;
    for (let cell = 1; cell < this.#cells.length; cell += 1) this.#cells[cell] += this.#cells[cell - 1];
    const next = this.#cells.slice();
    for (const place of places) this.#inCells[next[this.#cellOf(place)]++] = place;
  }

  #line(value) {
    return Math.min(this.#across - 1, Math.max(0, Math.floor(value * this.#across)));
  }

  #cellOf(place) {
    return this.#line(this.#xy[2 * place + 1]) * this.#across + this.#line(this.#xy[2 * place]);
  }

  // The nearest point not farther than `reach`, of equally near ones the topmost; or null.
  nearest(x, y, reach) {
    let [best, least] = [null, reach ** 2];
    for (let row = this.#line(y - reach); row <= this.#line(y + reach); row += 1) {
      const [from, to] = [this.#line(x - reach), this.#line(x + reach)].map(column => row * this.#across + column);
      for (let at = this.#cells[from]; at < this.#cells[to + 1]; at += 1) {
        const place = this.#inCells[at];
        const far = (this.#xy[2 * place] - x) ** 2 + (this.#xy[2 * place + 1] - y) ** 2;
        if (far <= least) [best, least] = [place, far];
      }
    }
    return best;
  }

  // The points for which `isInside(x, y)`, by rising index.
  within(isInside) {
    const found = this.#places.filter(place => isInside(this.#xy[2 * place], this.#xy[2 * place + 1]));
    return Array.from(found).sort((a, b) => a - b);
  }

  // The nearest point on one side of another: at most 45° off the direction (right, up), near ones in it first.
  towards(from, right, up) {
    const [x, y] = [this.#xy[2 * from], this.#xy[2 * from + 1]];
    let [best, least] = [null, Infinity];
    for (const place of this.#places) {
      const [over, above] = [this.#xy[2 * place] - x, this.#xy[2 * place + 1] - y];
      const along = over * right + above * up;
      const aside = Math.abs(over * up - above * right);
      const far = along + SIDEWAYS * aside;
      if (along > 0 && aside <= along && far < least) [best, least] = [place, far];
    }
    return best;
  }
}

// Whether a point is within an outline, a list of x and y; by the number of edges to its right.
export function insideOf(outline) {
  return (x, y) => {
    let inside = false;
    let [lastX, lastY] = outline[outline.length - 1];
    for (const [nextX, nextY] of outline) {
      const crosses = nextY > y !== lastY > y;
      if (crosses && x < ((lastX - nextX) * (y - nextY)) / (lastY - nextY) + nextX) inside = !inside;
      [lastX, lastY] = [nextX, nextY];
    }
    return inside;
  };
}
