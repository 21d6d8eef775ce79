// One banner above every page once the server has found the database damaged: what is lost, and what to do.
import {address} from './address.js';
import {fill, h} from './elements.js';
import {call} from './rest.js';

const FIRST_PAUSE = 5000; // milliseconds; the server checks its database some seconds after it has started
const PAUSE = 30000;
const TEXTS = 'texts, labels and intents';

// The place of the banner, which is empty while nothing is known to be damaged. `project` gives the one that is open.
export function damageBanner(project) {
  const place = h('div', {role: 'alert', 'data-role': 'damage'});
  const look = async pause => {
    const found = document.hidden ? null : await call('/database').catch(() => null); // the header shows the error
    if (found?.state === 'damaged') fill(place, bannerOf(found, project()));
    // Which parts are lost is found some seconds after the damage itself.
    if (found?.state !== 'damaged' || !found.lost.length) setTimeout(look, pause, PAUSE);
  };
  look(FIRST_PAUSE);
  return place;
}

function bannerOf({lost, readable, backup}, project) {
  const isHere = project && readable.includes(TEXTS);
  return h(
    'div',
    {class: 'note bad'},
    h('p', {}, h('b', {}, 'The database of this studio is damaged. '), partsWords(lost, readable)),
    h('p', {}, backup ? backupWords(backup) : 'No backup of this studio is known here.'),
    h(
      'p',
      {},
      'Stop labelling, and change nothing. Leave this tab open: decisions that are not saved stay in this browser. ',
      isHere && [h('a', {href: address('data', project)}, 'Download the texts and labels on Data'), ', then tell '],
      isHere ? '' : 'Tell ',
      'whoever runs this studio that its folder has to be copied aside',
      backup ? ', and the newest backup restored in another one.' : '.',
    ),
  );
}

const partsWords = (lost, readable) =>
  lost.length
    ? `These parts cannot be read whole: ${lost.join('; ')}. Still readable: ${readable.join('; ')}.`
    : 'Which parts can still be read is being looked at.';

const backupWords = ({file, at}) => [`The newest backup, of ${at.slice(0, 10)}, is `, h('code', {}, file), '.'];
