// The dialog before a version is downloaded: what goes into the file and what does not, its size, and who can read it.
import {inStudio} from '../shared/address.js';
import {fill, h} from '../shared/elements.js';
import {saveFile} from '../shared/evidence.js';
import {guarded, toast} from '../shared/messages.js';
import {megabytes, plural} from '../shared/words.js';

const LEAST = 1_000_000; // bytes that are told of a smaller file
const ANSWERS = 'One file that answers by itself. Developers run it without the studio.';
const ENCODER = 'One file for developers: a start for other trainings. It answers nothing by itself.';
const BARE = 'Without them it answers the same, and cannot show the examples behind an answer.';
const CAME_BARE = 'This version came without the texts of its examples: it cannot show those behind an answer.';
const LEFT = 'Not in it: unlabelled texts, conversations, and the names of those who labelled.';

// `bytes` are those of the file, estimated from its parts.
// A version that came without texts has none to give: there is nothing to choose then.
export function handOverView({base, project, status}, version, bytes) {
  const {number, kind, champion, examples, texts_left_out: isTextless} = version;
  const answers = kind === 'intents';
  const name = `${project}-v${number}${answers ? '' : '-encoder'}.zip`;
  const whole = `${base}/models/${number}/${answers ? 'bundle' : 'encoder'}`;
  let path = whole;
  const contents = h('ul', {class: 'told', 'data-role': 'contents'});
  const download = h(
    'a',
    {
      class: 'button primary',
      download: true,
      'data-key': 'download',
      onclick: event => {
        event.preventDefault();
        save();
      },
    },
    'Download',
  );
  const about = megabytes(Math.max(LEAST, bytes), 0);
  const told = h('span', {class: 'soft small grow', role: 'status'}, `${name}, about ${about}`);
  // A large file takes a while: the dialog says that it is being made, and a message when it is there.
  const save = guarded(async () => {
    if (download.hasAttribute('aria-disabled')) return;
    download.setAttribute('aria-disabled', 'true');
    told.textContent = `${name} is being made …`;
    try {
      const size = await saveFile(path, name);
      toast(`${name} is saved, ${megabytes(Math.max(LEAST, size))}.`, '', 'good');
      download.closest('dialog')?.close();
    } finally {
      download.removeAttribute('aria-disabled');
      told.textContent = name;
    }
  });
  const bare = h('input', {type: 'checkbox', onchange: () => draw()});
  const draw = () => {
    path = bare.checked ? `${whole}?without_texts=true` : whole;
    download.href = inStudio(`/api${path}`);
    fill(
      contents,
      contentsOf(examples, isTextless || bare.checked).map(words => h('li', {}, words)),
      h('li', {'data-role': 'labels-since'}, labelsSince(champion ? status.hot : null)),
    );
  };
  draw();
  return [
    h('p', {}, answers ? ANSWERS : ENCODER),
    answers && contents,
    answers && !isTextless && h('label', {class: 'check'}, bare, 'Leave out the texts of the examples'),
    answers && h('p', {class: 'soft small', 'data-role': 'price'}, isTextless ? CAME_BARE : BARE),
    h('div', {class: 'row ending'}, told, download),
  ];
}

function contentsOf(examples, isBare) {
  const its = examples ? `its ${plural(examples, 'example')}` : 'its examples';
  const how = isBare ? `${its} as hashes, without their texts` : `${its} as texts`;
  const readers = isBare
    ? 'Nobody reads a text in it; whoever guesses one can tell whether it is an example.'
    : 'Whoever has the file can read these texts: give it only to those who may.';
  const parts = `the names of your intents, how strictly it refuses what fits none, and ${how}`;
  return [`In it: the model, ${parts}.`, readers, LEFT];
}

// Labels join the live answers at once, and a version only with the next training.
function labelsSince(count) {
  if (count === null) return 'Labels given since its training are not in it.';
  if (!count) return 'All labels given up to now are in it: none came after its training.';
  const is = count === 1 ? 'is' : 'are';
  return `${plural(count, 'change')} since its training ${is} not in it. A version trained after them has them.`;
}
