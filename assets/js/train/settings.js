// One form for each recipe, made from the settings that the server declares.
import {field, h, select} from '../shared/elements.js';
import {call} from '../shared/rest.js';

const leadOf = name => `For “${name}” only. You need to change none: each has a value that usually serves best.`;

export class RecipeSettings {
  element = h('div', {class: 'after'});
  // Shown while something was changed; the page places it beside its first act.
  back = h('button', {hidden: true, onclick: () => this.#reset()}, 'Back to defaults');
  #changed;
  #forms = new Map(); // by recipe: its element and its controls
  #shown = '';

  // Calls `changed` on every change.
  constructor(changed) {
    this.#changed = () => {
      this.#drawBack();
      changed();
    };
    this.element.addEventListener('input', this.#changed);
  }

  async load(base) {
    for (const {recipe, settings} of await call(`${base}/recipes`)) {
      const controls = settings.map(setting => controlOf(recipe, setting));
      const lead = h('p', {class: 'soft small'});
      const form = formOf(recipe, lead, controls);
      this.#forms.set(recipe, {form, lead, controls});
      this.element.append(form);
    }
  }

  // `name` is what the page calls this way to train.
  show(recipe, name) {
    this.#shown = recipe;
    for (const [one, {form, lead}] of this.#forms) {
      form.hidden = one !== recipe;
      if (!form.hidden) lead.textContent = leadOf(name);
    }
    this.#drawBack();
  }

  #drawBack() {
    this.back.hidden = Object.keys(this.of(this.#shown)).length === 0;
  }

  #reset() {
    for (const {setting, input} of this.#forms.get(this.#shown).controls) setUsual(setting, input);
    this.#changed();
  }

  // The settings that the user changed. The others take the project's defaults.
  of(recipe) {
    const {controls} = this.#forms.get(recipe) ?? {controls: []};
    const given = controls.map(({setting, input}) => [setting.name, chosen(setting, input)]);
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  }
}

function formOf(recipe, lead, controls) {
  const of = advanced =>
    h(
      'div',
      {class: 'settings'},
      controls.filter(one => one.setting.advanced === advanced).map(one => one.element),
    );
  return h(
    'details',
    {id: `settings-${recipe}`, class: 'of-training', hidden: true},
    h('summary', {}, 'Settings of the training'),
    lead,
    of(false),
    h('details', {}, h('summary', {}, 'For researchers'), of(true)),
  );
}

function setUsual({kind, default: usual, emptied}, input) {
  if (kind === 'tick') input.checked = usual && !input.disabled;
  else input.value = emptied ? String(usual) : '';
}

function controlOf(recipe, setting) {
  const words = setting.why_not ? `${setting.why_not} ${setting.help}` : setting.help;
  const help = h('p', {class: 'soft small', id: `help-${recipe}-${setting.name}`}, words);
  const attributes = {'aria-describedby': help.id, autocomplete: 'off'};
  const input = MAKERS[setting.kind](setting, attributes);
  const labelled =
    setting.kind === 'tick'
      ? h('label', {class: 'check'}, input, setting.label)
      : field(setting.label, input);
  return {setting, input, element: h('div', {}, labelled, help)};
}

// A default that may be removed is filled in; any other is a placeholder in an empty field.
const MAKERS = {
  choice: ({choices, default: usual}, attributes) =>
    select(
      attributes,
      [['', `${usual} (as usual)`], ...choices.filter(one => one !== usual).map(one => [one, one])],
      '',
    ),
  // What does nothing here yet is not ticked, and cannot be.
  tick: ({default: usual, why_not: why}, attributes) =>
    h('input', {...attributes, type: 'checkbox', checked: usual && !why, disabled: Boolean(why)}),
  number: ({default: usual, emptied}, attributes) =>
    h('input', {
      ...attributes,
      type: 'text',
      inputmode: 'decimal',
      placeholder: usual ?? 'usual',
      value: emptied ? String(usual) : '',
    }),
};

// Undefined for the default. Text that is no number is sent as typed, and the server refuses it by name.
function chosen({kind, default: usual, emptied}, input) {
  if (input.disabled) return undefined;
  if (kind === 'tick') return input.checked === usual ? undefined : input.checked;
  const typed = input.value.trim();
  if (typed === '') return emptied ? null : undefined;
  if (kind === 'choice') return typed;
  const given = Number.isNaN(Number(typed)) ? typed : Number(typed);
  return emptied && given === usual ? undefined : given;
}
