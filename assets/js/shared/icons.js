// Icons of Lucide, from one file. An icon always stands beside a word, or in a control that has a name.
import {svg} from './elements.js';

export function icon(name) {
  const node = svg('svg', {class: 'icon', 'aria-hidden': 'true'});
  node.append(svg('use', {href: `/studio/icons/lucide.svg#${name}`}));
  return node;
}
