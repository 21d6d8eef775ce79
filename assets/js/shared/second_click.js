// The second click of a double click meets what the first one has brought under the pointer, and must not act on it.
// A phone calls two quick taps a double one wherever they are: they are so only in the same place.
const SAME_PLACE = 24; // pixels: a finger comes down beside where it was

export class SecondClick {
  #last = [-Infinity, -Infinity];
  #before = [-Infinity, -Infinity];

  constructor() {
    const note = ({clientX, clientY}) => {
      this.#before = this.#last;
      this.#last = [clientX, clientY];
    };
    document.addEventListener('click', note, true);
  }

  is({detail, clientX, clientY}) {
    const [x, y] = this.#before;
    return detail > 1 && Math.hypot(clientX - x, clientY - y) < SAME_PLACE;
  }
}
