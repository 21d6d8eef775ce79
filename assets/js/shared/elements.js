// Makes elements. A user's text always becomes a text node, never markup.
import {ago, unturned} from './words.js';

const PROPERTIES = new Set(['value', 'checked', 'disabled', 'selected', 'indeterminate']);
const READ = new Set(['title', 'aria-label']); // attributes that people read
const absent = one => one === null || one === undefined || one === false;

// Attributes and children that are null or false are left out.
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (!absent(value)) set(node, name, value);
  if (isTyped(tag, attributes.type)) node.dir ||= 'auto';
  node.append(...shown(children, node));
  return node;
}

// The parts that are to be seen; words that are typed into a field stay as they are.
function shown(parts, node) {
  const isField = node.tagName === 'TEXTAREA';
  const kept = parts.flat(Infinity).filter(part => !absent(part));
  return isField ? kept : kept.map(part => (typeof part === 'string' ? unturned(part) : part));
}

// Fields for words; their direction is that of what is typed.
const isTyped = (tag, type) =>
  tag === 'textarea' || (tag === 'input' && (type === 'text' || type === 'search'));

function set(node, name, value) {
  if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
  else if (name === 'style') for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
  else if (PROPERTIES.has(name)) node[name] = value;
  else if (READ.has(name)) node.setAttribute(name, unturned(String(value)));
  else node.setAttribute(name, value === true ? '' : value);
}

// A title in which the names in quotation marks begin a line where they do not fit, and break behind an underscore.
export const titled = words =>
  words
    .split(/(“[^”]*”[,?]?)/)
    .map((part, place) => (place % 2 ? h('span', {class: 'whole-name'}, breaking(part)) : part));

// A name that may break behind an underscore, and not inside a word.
export const breaking = name => name.split(/(?<=_)/).flatMap((part, place) => (place ? [h('wbr'), part] : part));

const AGING = 60_000; // milliseconds

// How long ago something was; the words follow the clock while the page is open.
export const since = stamp => h('time', {datetime: stamp, 'data-role': 'since'}, ago(stamp));

export function keepTimesTrue() {
  setInterval(() => {
    for (const node of document.querySelectorAll('[data-role=since]')) node.textContent = ago(node.dateTime);
  }, AGING);
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// Replaces the content of a node. Parts with a `data-key` keep the keyboard focus, and stay opened or closed
// as the user left them. An element that is in the node already stays there: a list of choices that is open stays open.
export function fill(node, ...content) {
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  const places = focused?.dataset.key ? placesOf(node, focused) : null;
  const details = new Map(keyed(node, 'details').map(one => [one.dataset.key, one.open]));
  place(
    node,
    shown(content, node).filter(part => part !== ''),
  );
  for (const one of keyed(node, 'details')) one.open = details.get(one.dataset.key) ?? one.open;
  if (focused) refocus(node, focused, places);
}

// Elements that stay are not moved: to be taken out, if only for a moment, closes what is open in them.
function place(node, parts) {
  const staying = new Set(parts.filter(part => part.parentNode === node));
  if (!staying.size) {
    node.replaceChildren(...parts);
    return;
  }
  for (const child of [...node.childNodes]) if (!staying.has(child)) child.remove();
  let next = node.firstChild;
  for (const part of parts) {
    if (part === next) next = next.nextSibling;
    else node.insertBefore(part instanceof Node ? part : document.createTextNode(part), next);
  }
}

const keyed = (node, tag = '') => [...node.querySelectorAll(`${tag}[data-key]`)];

// The word that begins a key: one control of each row has it.
const kindOf = control => control.dataset.key.split(' ')[0];

// Of a control among all, and among those of its kind.
function placesOf(node, control) {
  const all = keyed(node);
  return {all: all.indexOf(control), alike: all.filter(one => kindOf(one) === kindOf(control)).indexOf(control)};
}

// If the focused control is gone or disabled, that of its kind in the next row gets the focus, or else the control in
// its place: rows may have more or fewer controls than before.
function refocus(node, focused, places) {
  if (node.contains(focused)) focused.focus({preventScroll: true});
  if (!places || document.activeElement === focused) return;
  const now = keyed(node).filter(one => !one.disabled); // a disabled one takes no focus
  const same = now.find(one => one.dataset.key === focused.dataset.key);
  const alike = now.filter(one => kindOf(one) === kindOf(focused));
  const next = alike[Math.min(places.alike, alike.length - 1)] ?? now[Math.min(places.all, now.length - 1)];
  (same ?? next)?.focus({preventScroll: true});
  const {selectionStart: start, selectionEnd: end} = focused;
  if (same && typeof start === 'number') same.setSelectionRange(start, end); // else what is typed on goes to the front
}

export const field = (words, control, attributes = {}) =>
  h('label', {class: 'field', ...attributes}, words, control);

// A user's text on a line of its own, in the direction of its script.
export const said = text => h('div', {dir: 'auto'}, text);

// Options are pairs of a value and its words.
export const select = (attributes, options, chosen) => h('select', attributes, optionsOf(options, chosen));
export const optionsOf = (options, chosen) =>
  options.map(([value, name]) => h('option', {value, selected: value === chosen, dir: 'auto'}, name));

// Gives a list of choices other options, if they differ: drawn anew it would close under the hand that has it open.
export function offer(list, options, chosen) {
  const now = [...list.options];
  const isSame = ([value, name], at) => now[at].value === String(value) && now[at].text === plain(name);
  const isKnown = now.length === options.length && options.every(isSame);
  if (!isKnown) fill(list, optionsOf(options, chosen));
  else list.selectedIndex = Math.max(0, options.findIndex(([value]) => String(value) === String(chosen)));
}

// As the browser gives the text of an option: spaces stand alone.
const plain = words => unturned(String(words)).replace(/\s+/g, ' ').trim();

// A cell is its content, or a `td` element if it needs attributes.
export const table = (head, rows, attributes = {}) =>
  h(
    'div',
    {class: 'scroll'},
    h(
      'table',
      attributes,
      h('thead', {}, line('th', head)),
      h(
        'tbody',
        {},
        rows.map(cells => line('td', cells, head)),
      ),
    ),
  );

// A cell knows the words of its column, for tables that are stacked on a phone.
const line = (tag, cells, head = []) =>
  h(
    'tr',
    {},
    cells.map((content, at) => {
      const cell = content?.matches?.('td,th') ? content : h(tag, {}, content);
      if (tag === 'td') cell.dir ||= 'auto';
      if (head[at]) cell.dataset.column = head[at].textContent ?? head[at];
      return cell;
    }),
  );

export const progressBar = (share, attributes = {}) =>
  h('div', {class: 'bar', ...attributes}, h('i', {style: {width: `${100 * share}%`}}));
