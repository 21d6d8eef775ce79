// A candidate against the champion: in words first, then by intent and text by text.
import {h, number, percent, plural} from './studio.js';

const points = share => `${share >= 0 ? '+' : '−'}${(100 * Math.abs(share)).toFixed(1)} points`;
const said = intents => intents.join(' and ') || 'out of scope';
const verdictOf = answer => {
  const was = answer.expected.includes(answer.before),
    is = answer.expected.includes(answer.after);
  return was === is ? 'other' : is ? 'fixed' : 'broken';
};
const pinVerdict = pin => {
  const was = pin.before.includes(pin.expected),
    is = pin.after.includes(pin.expected);
  return is ? (was ? 'kept' : 'fixed') : was ? 'broken' : 'missed';
};
const KIND = {fixed: 'good', broken: 'bad', kept: 'good', missed: 'warn', other: ''};

export function comparisonOf({comparison: found, gate}) {
  const {difference} = found;
  const changed = found.intents.filter(one => one.before !== one.after);
  return h(
    'div',
    {class: 'stack', style: {'margin-top': '12px'}},
    h(
      'div',
      {class: 'note ' + (gate.promote ? 'good' : 'warn'), 'data-role': 'gate'},
      h('b', {}, gate.promote ? 'It passes the gate. ' : 'It does not pass the gate. '),
      gate.reasons.join(' '),
    ),
    found.before !== null &&
      h(
        'div',
        {class: 'row', style: {gap: '26px'}},
        figure(found.champion, percent(found.before)),
        figure(found.candidate, percent(found.after)),
        difference &&
          figure(
            'difference',
            points(difference.value),
            `95 % between ${points(difference.low)} and ${points(difference.high)}`,
          ),
        figure('judged on', plural(found.n, 'text'), found.basis),
      ),
    h(
      'ul',
      {style: {margin: 0, 'padding-left': '20px'}},
      found.words.map(sentence => h('li', {}, sentence)),
    ),
    found.pins.length > 0 &&
      h(
        'details',
        {open: found.pins.some(pin => pinVerdict(pin) === 'broken')},
        h('summary', {}, plural(found.pins.length, 'pin')),
        table(
          ['Pin', 'Must get', 'Gets now', ''],
          found.pins.map(pin => [pin.text, pin.expected, said(pin.after), badge(pinVerdict(pin))]),
        ),
      ),
    found.answers.length > 0 &&
      h(
        'details',
        {open: found.answers.length <= 12},
        h('summary', {}, `${plural(found.answers.length, 'answer')} changed`),
        table(
          ['Text', 'Label', 'Champion', 'Candidate', ''],
          found.answers
            .slice(0, 300)
            .map(answer => [
              answer.text,
              said(answer.expected),
              answer.before,
              answer.after,
              badge(verdictOf(answer)),
            ]),
        ),
      ),
    changed.length > 0 &&
      h(
        'details',
        {},
        h('summary', {}, `By intent: ${changed.length} of ${found.intents.length} changed`),
        table(
          ['Intent', 'Texts', 'Found before', 'Found now', 'Change'],
          found.intents.map(one => [
            one.intent,
            number(one.support),
            percent(one.before, 0),
            percent(one.after, 0),
            h(
              'span',
              {class: one.after > one.before ? 'good' : one.after < one.before ? 'bad' : 'soft'},
              points(one.after - one.before),
            ),
          ]),
        ),
      ),
  );
}

const figure = (name, value, note) =>
  h(
    'div',
    {},
    h('div', {class: 'soft small'}, name),
    h('div', {class: 'tabular', style: {'font-size': '21px', 'font-weight': 650}}, value),
    note && h('div', {class: 'soft small'}, note),
  );
const badge = verdict =>
  h('span', {class: 'badge ' + KIND[verdict]}, verdict === 'other' ? 'other' : verdict);
export const table = (head, rows) =>
  h(
    'div',
    {class: 'scroll'},
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          head.map(name => h('th', {}, name)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map(row =>
          h(
            'tr',
            {},
            row.map(cell => h('td', {}, cell)),
          ),
        ),
      ),
    ),
  );
