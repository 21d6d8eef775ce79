// What an act on the Try page did: the answer before and now, and how many other answers changed.
import {h} from '../shared/elements.js';
import {busyButton} from '../shared/evidence.js';
import {icon} from '../shared/icons.js';
import {radiusLine, turnsOf} from '../shared/radius.js';

const WAITS = 'It counts after the next training.'; // until then the answer stays

// `before` and `now` are answers by intent names; `blast` is null where changes cannot be counted. `undo` takes the act
// back.
export function effectView({words, before, blast, note, undo}, now, intents) {
  const isSame = String(before) === String(now);
  const waits = isSame && blast?.told === 'later';
  const answers = [
    h('span', {class: 'soft small'}, isSame ? 'The answer stays' : 'Answer before'),
    intents.named(before),
    !isSame && [h('span', {class: 'soft small'}, 'now'), intents.named(now)],
  ];
  return h(
    'div',
    {class: 'note', 'data-role': 'effect'},
    h('div', {class: 'row'}, h('div', {class: 'grow', dir: 'auto'}, words), undoButton(undo)),
    waits ? h('div', {}, WAITS) : h('div', {class: 'row tight'}, answers),
    blast && !waits && h('div', {class: 'small'}, radiusLine(blast)),
    blast?.turns.length > 0 &&
      h(
        'details',
        {'data-key': 'changed answers'},
        h('summary', {class: 'small'}, 'Show them'),
        turnsOf(blast),
      ),
    note && h('div', {class: 'small soft'}, note),
  );
}

const undoButton = undo =>
  busyButton([icon('undo-2'), 'Undo'], undo, {class: 'small', 'data-key': 'undo'});
