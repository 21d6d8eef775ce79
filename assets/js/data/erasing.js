// Texts that a person asks to have removed: what would go is counted and shown first, then it is gone for good.
import {h, said} from '../shared/elements.js';
import {ask, toast} from '../shared/messages.js';
import {post} from '../shared/rest.js';
import {plural} from '../shared/words.js';

const SHOWN = 5; // texts in the question

// Whether the texts were erased.
export async function erase(base, texts) {
  const found = await post(`${base}/erase`, {texts});
  const what = plural(texts.length, 'text');
  const agreed = await ask(`Erase ${what} for good`, question(texts, found), `Erase ${what}`, 'danger');
  if (!agreed) return false;
  const {left} = await post(`${base}/erase`, {texts, now: true});
  const rest = left.length ? `Not reached: ${left.join('; ')}.` : '';
  toast(`Erased: ${what}.`, rest, 'good');
  return true;
}

function question(texts, found) {
  const more = texts.length - SHOWN;
  const sure = h('input', {type: 'checkbox', name: 'sure', required: true});
  return [
    h(
      'p',
      {},
      'For a person who asks that what they said is removed. Delete keeps a text in the history, so that it ',
      'can be brought back; an erased text is gone from there, too.',
    ),
    h('div', {class: 'below', 'data-role': 'erased'}, texts.slice(0, SHOWN).map(said)),
    more > 0 && h('p', {class: 'soft small'}, `and ${plural(more, 'other text')}`),
    h(
      'ul',
      {class: 'told', 'data-role': 'erasure'},
      told(found).map(line => h('li', {}, line)),
    ),
    h('label', {class: 'check below'}, sure, 'I know that nothing brings these texts back'),
  ];
}

function told({utterances, synthetic, models, receipts, copies, uploads, stopped, left}) {
  const made = synthetic ? `, ${synthetic} of them generated` : '';
  const waiting = uploads.map(path => path.split(/[\\/]/).pop());
  const numbers = models.map(name => name.split('@').pop()).join(', ');
  return [
    `${plural(utterances, 'text')} with these words, now or before a correction${made}`,
    models.length > 0 &&
      `${models.length === 1 ? 'Version' : 'Versions'} ${numbers}: “[erased]” will stand for the text; answers stay`,
    receipts > 0 && `${plural(receipts, 'receipt quotes', 'receipts quote')} a text: “[erased]” will stand there`,
    copies.length > 0 && `${plural(copies.length, 'old copy', 'old copies')} of the studio’s data will be deleted`,
    waiting.length > 0 && `Files that wait for their import will be deleted: ${waiting.join(', ')}`,
    stopped.length > 0 && 'A training that was cancelled has read a text: it cannot be resumed any more',
    ...left.map(place => `Not reached: ${place}`),
  ].filter(Boolean);
}
