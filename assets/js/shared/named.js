// Words that name intents in quotation marks: each name leads to the texts of its intent.
import {address} from './address.js';
import {breaking, h} from './elements.js';

// `intents` are those that the words are about, as far as they are known; `rest` draws what else stands there.
export function named(words, intents, project, rest = part => part) {
  const byName = new Map(intents.filter(Boolean).map(one => [one.name, one]));
  return words.split(/(“[^”]*”[,?]?)/).map(part => {
    const [, name, sign] = /^“([^”]*)”([,?]?)$/.exec(part) ?? [];
    const intent = byName.get(name);
    if (!intent) return rest(part);
    const href = address('data', project, {intent: intent.id});
    return h('span', {class: 'whole-name'}, h('a', {href}, breaking(`“${name}”`)), sign);
  });
}
