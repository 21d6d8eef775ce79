// What the map shows: layout, versions and colours. On a narrow screen all stand behind a button.
import {query, setQuery} from '../shared/address.js';
import {Drawer} from '../shared/drawer.js';
import {fill, h, optionsOf, select} from '../shared/elements.js';
import {COLOURINGS, LAYOUTS} from './points.js';

const METHODS = Object.entries(LAYOUTS).map(([method, {name}]) => [method, name]);
const CAPTIONS = {method: 'Layout', model: 'Version', other: 'Compare with', by: 'Colour by'};

export class Choices {
  element = h('div', {class: 'row push map-choices', role: 'group', 'aria-label': 'What the map shows'});
  values; // of method, model, other and by
  versions = []; // values and names of the available maps
  #selects;
  #said = h('span', {class: 'cut'});
  #drawer;

  // `changed` is called with the name of what was chosen.
  constructor(changed) {
    const given = query();
    this.values = {
      method: given.get('method') ?? 'auto',
      model: given.get('model') ?? '',
      other: given.get('other') ?? '',
      by: given.get('by') ?? 'intent',
    };
    const choice = (name, options) =>
      select({onchange: ({target}) => this.#choose(name, target.value, changed)}, options, this.values[name]);
    this.#selects = {
      method: choice('method', METHODS),
      model: choice('model', []),
      other: choice('other', []),
      by: choice('by', COLOURINGS),
    };
    const first = () => this.#selects.method;
    this.#drawer = new Drawer(this.element, {name: 'What the map shows', content: this.#said, first});
    const labels = Object.entries(this.#selects).map(([name, one]) => captioned(CAPTIONS[name], one));
    this.element.append(...labels, this.#drawer.closer);
    this.#say();
  }

  get opener() {
    return this.#drawer.opener;
  }

  // How a sentence calls the map of the chosen layout.
  get layout() {
    return LAYOUTS[this.values.method]?.called ?? this.values.method;
  }

  // `numbers` are those of the versions.
  offer(numbers) {
    const known = numbers.map(number => [number, `version ${number}`]);
    this.versions = [['', 'live version'], ['0', 'before any training'], ...known];
    fill(this.#selects.model, optionsOf(this.versions, this.values.model));
    fill(this.#selects.other, optionsOf([['', 'nothing'], ...this.versions.slice(1)], this.values.other));
    this.#say();
  }

  // Goes to another way of colouring; those who change it by hand are told of it by `changed`.
  colourBy(by) {
    this.values.by = by;
    this.#selects.by.value = by;
    setQuery({by});
    this.#say();
  }

  #choose(name, value, changed) {
    this.values[name] = value;
    setQuery({[name]: value});
    this.#say();
    changed(name);
  }

  // Only what was chosen: a phone has no room for all, and the button is to say what it does.
  #say() {
    const {method, model, other, by} = this.values;
    const parts = [
      `by ${nameIn(COLOURINGS, by)}`,
      model && nameIn(this.versions, model),
      other && `beside ${nameIn(this.versions, other)}`,
      method !== 'auto' && this.layout,
    ];
    this.#said.textContent = `Change view: ${parts.filter(Boolean).join(', ')}`;
  }
}

const nameIn = (options, value) => options.find(([one]) => one === value)?.[1] ?? value;

const captioned = (caption, control) =>
  h('label', {class: 'row tight'}, h('span', {class: 'soft small'}, caption), control);
