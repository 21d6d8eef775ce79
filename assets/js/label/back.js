// The way back to the page that chose texts to label first.
import {address, query} from '../shared/address.js';
import {h} from '../shared/elements.js';

const NAMES = new Map([['review', 'Review']]);

// A link to the page that the address names in `from`, with the `kind` of findings that it showed; null without one.
export function wayBack(project) {
  const [from, kind] = ['from', 'kind'].map(name => query().get(name));
  const name = NAMES.get(from);
  if (!name) return null;
  return h('a', {href: address(from, project, kind ? {kind} : {}), 'data-key': 'back'}, `Back to ${name}`);
}
