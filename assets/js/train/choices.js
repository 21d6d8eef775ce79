// The trainings to choose from: Quick and Best, more ways folded, and what cannot be used here with its reason.
import {fill, h} from '../shared/elements.js';
import {capital} from '../shared/words.js';

const FIRST = 'best';
const FEATURED = ['quick', 'best'];

export class Choices {
  element = h('div', {role: 'radiogroup', 'aria-label': 'How to train'});
  #choose;
  #all = []; // what the server says of each recipe
  #name = null; // the chosen recipe
  #isPicked = false; // whether a person chose it
  #lost = null; // a version that is not better than the live one: `recipe`, and what is said of it in `words`

  // Calls `chosen` when another recipe is chosen.
  constructor(chosen) {
    this.#choose = name => {
      this.#isPicked = true;
      this.choose(name);
      chosen();
    };
  }

  // What the project has may have changed since.
  show(choices) {
    this.#all = choices;
    if (!this.chosen || this.chosen.why_not) this.#name = this.#of(FIRST)[0].recipe;
    this.#draw();
  }

  get chosen() {
    return this.#all.find(({recipe}) => recipe === this.#name);
  }

  // Without a name: Best.
  choose(name = this.#of(FIRST)[0].recipe) {
    this.#name = name;
    this.#draw();
  }

  // Chooses the way of this role, such as `quick`, if it can be used.
  wish(role) {
    const wished = role && this.#of(role).find(({recipe}) => this.#isUsable(recipe));
    if (wished) this.#choose(wished.recipe);
  }

  // Proposes `recipe`, by which the live version was made, instead of `lost`, by which the last one was not better.
  prefer(recipe, lost) {
    if (!this.#isPicked && this.#name === lost && this.#isUsable(recipe)) this.choose(recipe);
  }

  // Says beside the way of a version that it is not better than the one that is live; null: of none.
  tellLost(lost) {
    this.#lost = lost;
    this.#draw();
  }

  #isUsable(recipe) {
    return this.#all.some(one => one.recipe === recipe && !one.why_not);
  }

  // What the page calls a recipe; null for one that it does not know.
  nameOf(recipe) {
    return this.#all.find(choice => choice.recipe === recipe)?.name ?? null;
  }

  #of(...roles) {
    return roles.flatMap(role => this.#all.filter(choice => choice.role === role));
  }

  #draw() {
    const [more, unusable] = [this.#of('more'), this.#of('unusable')];
    const featured = this.#of(...FEATURED).map(choice => this.#card(choice));
    const isMore = more.some(({recipe}) => recipe === this.#name);
    fill(
      this.element,
      h('div', {class: 'cards two'}, featured),
      h(
        'details',
        {class: 'more-ways', 'data-key': 'more ways', open: isMore},
        h('summary', {'data-key': 'more ways summary'}, 'More ways'),
        more.length > 0 &&
          h(
            'div',
            {class: 'cards'},
            more.map(choice => this.#card(choice)),
          ),
        unusable.length > 0 && notYet(unusable),
      ),
    );
  }

  #card(choice) {
    const {recipe, name, title, summary, learns_from: data, time, why_not: why} = choice;
    const is = recipe === this.#name && !why; // what cannot be used is not chosen
    return h(
      'button',
      {
        class: 'choice',
        role: 'radio',
        'aria-checked': String(is),
        'data-key': `choice ${recipe}`,
        disabled: Boolean(why),
        title: `Method: ${title}`,
        onclick: () => this.#choose(recipe),
      },
      h('strong', {}, name),
      h('span', {}, summary),
      why && h('span', {class: 'why small'}, why),
      recipe === this.#lost?.recipe && h('span', {class: 'warn small', 'data-role': 'lost'}, this.#lost.words),
      data && h('span', {class: 'small'}, h('span', {class: 'soft'}, 'Learns from '), data),
      time && h('span', {class: 'small', 'data-role': 'time'}, capital(time)),
    );
  }
}

// In sight: other pages send here for one of these, and each says what it waits for.
const notYet = unusable =>
  h(
    'section',
    {'aria-label': 'Not possible here yet'},
    h('h3', {}, 'Not possible here yet'),
    h(
      'ul',
      {'data-role': 'not-here'},
      unusable.map(({name, why_not: why}) => h('li', {}, h('b', {}, name), `: ${why}`)),
    ),
  );
