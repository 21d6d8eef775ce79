// The questions of an import's preview. Each has an answer already; Import is offered once all were in sight.
const SEEN = 0.9; // share of a question that is in sight

export class Questions {
  #lists = []; // of the preview that is shown
  #seen = new Set(); // their keys, over all previews of one file
  #watcher = null;
  #hears;

  get all() {
    return this.#lists;
  }

  // Those that were not in sight yet.
  get open() {
    return this.#lists.filter(list => !this.#seen.has(list.dataset.key));
  }

  // What lies under the bar of acts or the title's line is not in sight. Calls `hears` now, and when a question came
  // into sight.
  watch(lists, acts, hears) {
    this.leave();
    this.#lists = [...lists];
    this.#hears = hears;
    hears();
    if (!this.open.length) return;
    const style = getComputedStyle(acts);
    const below = acts.offsetHeight + Number.parseFloat(style.bottom);
    const above = Number.parseFloat(style.getPropertyValue('--top'));
    const rootMargin = `-${above}px 0px -${below}px 0px`;
    this.#watcher = new IntersectionObserver(found => this.#note(found), {rootMargin, threshold: SEEN});
    for (const list of this.open) this.#watcher.observe(placeOf(list));
  }

  leave() {
    this.#watcher?.disconnect();
    this.#lists = [];
  }

  // Brings the first one that is open into sight, and others with it.
  lead() {
    const [first] = this.open;
    placeOf(first).scrollIntoView({block: 'start'});
    first.focus({preventScroll: true});
  }

  #note(found) {
    const inSight = found.filter(one => one.intersectionRatio >= SEEN).map(({target}) => target);
    const seen = this.open.filter(list => inSight.includes(placeOf(list)));
    for (const list of seen) this.#seen.add(list.dataset.key);
    if (seen.length) this.#hears();
  }
}

// A list with its words.
const placeOf = list => list.closest('.field, .row');
