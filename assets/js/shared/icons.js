// Icons of Lucide, from one file. An icon always stands beside a word, or in a control that has a name.
import {svg} from './elements.js';

const FILE = new URL('../../icons/lucide.svg', import.meta.url).pathname;

export function icon(name) {
  const node = svg('svg', {class: 'icon', 'aria-hidden': 'true'});
  node.append(svg('use', {href: `${FILE}#${name}`}));
  return node;
}
