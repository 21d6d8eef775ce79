// A log of what people said: its rows are counted, and stored when the person says so.
import {h} from '../shared/elements.js';
import {ask, guarded, toast} from '../shared/messages.js';
import {call, post, upload} from '../shared/rest.js';
import {number, plural} from '../shared/words.js';

const FEW = 5; // sources that are named
const KINDS = '.csv,.tsv,.txt,.jsonl,.ndjson,.xlsx,.parquet';

// A button; `changed` is called when something was stored.
export function logImport(base, changed) {
  const picker = h('input', {
    type: 'file',
    class: 'hidden-text',
    'aria-label': 'Log to import',
    accept: KINDS,
    onchange: guarded(async ({target}) => {
      const [file] = target.files;
      target.value = ''; // so that the same file can be chosen again
      if (file) await bringIn(base, file, changed);
    }),
  });
  const choose = {'data-key': 'import-log', onclick: () => picker.click()};
  return h('span', {}, h('button', choose, 'Import a log…'), picker);
}

async function bringIn(base, file, changed) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
  const asked = `zone=${encodeURIComponent(zone)}`;
  const {key, name, report} = await upload(`${base}/traffic/logs?${asked}`, file);
  const timed = Object.values(report.sources).reduce((sum, n) => sum + n, 0);
  const fresh = timed - report.repeated;
  const title = `Import “${name}”`;
  const words = fresh ? `Store ${plural(fresh, 'text')}` : 'Nothing to store';
  const given = await ask(title, countsOf(report, timed, zone), words);
  if (!given || !fresh) {
    await call(`${base}/traffic/logs/${key}`, {method: 'DELETE'});
    return;
  }
  const done = await post(`${base}/traffic/logs/${key}?${asked}`);
  const full = done.left_out ? ` ${number(done.left_out)} are left out: their day has a full sample.` : '';
  toast(
    `${plural(done.kept, 'text')} stored.${full}`,
    'History takes back those that are new to the project.',
  );
  await changed();
}

function countsOf(report, timed, zone) {
  const {first, last, repeated, added, untimed, examples, textless, sources, masked} = report;
  const named = Object.entries(sources);
  const more = named.length > FEW ? `, and ${plural(named.length - FEW, 'more')}` : '';
  const told = named.slice(0, FEW).map(([name, n]) => `${name} ${number(n)}`);
  const hidden = Object.values(masked ?? {}).reduce((sum, n) => sum + n, 0);
  const lines = [
    timed > 0 && `${plural(timed, 'text')} with a time, said from ${first} to ${last}.`,
    timed > 0 && `By source: ${told.join(', ')}${more}.`,
    timed > 0 && `Times without a zone are taken as those of ${zone}.`,
    repeated > 0 && `${number(repeated)} of them are stored already.`,
    added > 0 && `${plural(added, 'text')} ${added === 1 ? 'is' : 'are'} new to the project, to be labelled.`,
    hidden > 0 && `${plural(hidden, 'piece')} of personal data will be masked.`,
    untimed > 0 &&
      `${plural(untimed, 'row')} without a time that can be read: left out (${examples.map(quoted).join(', ')}).`,
    textless > 0 && `${plural(textless, 'row')} without a text, or with one that is too long: left out.`,
  ];
  return h(
    'ul',
    {class: 'listed', 'data-role': 'log-counts'},
    lines.filter(Boolean).map(words => h('li', {}, words)),
  );
}

const quoted = time => (time ? `“${time}”` : 'empty');
