// Drop a file, see how it will be read and what it would do, then import all of it or nothing.
import {call, fill, guarded, h, number, plural, toast} from './studio.js';

export function importSheet(context, imported) {
  const {base} = context;
  const place = h('div');
  const picker = h('input', {
    type: 'file',
    class: 'hidden-text',
    'aria-label': 'File to import',
    accept: '.csv,.tsv,.txt,.jsonl,.ndjson,.json',
    onchange: event => send(event.target.files[0]),
  });
  const drop = h(
    'div',
    {class: 'drop'},
    h('p', {}, 'Drop a CSV, TSV, JSONL or text file here'),
    h('button', {type: 'button', onclick: () => picker.click()}, 'Choose a file'),
    picker,
  );
  for (const name of ['dragenter', 'dragover'])
    drop.addEventListener(name, event => {
      event.preventDefault();
      drop.classList.add('over');
    });
  for (const name of ['dragleave', 'drop'])
    drop.addEventListener(name, event => {
      event.preventDefault();
      drop.classList.remove('over');
    });
  drop.addEventListener('drop', event => send(event.dataTransfer.files[0]));

  const send = guarded(async file => {
    if (!file) return;
    const form = new FormData();
    form.append('file', file, file.name);
    drop.setAttribute('aria-busy', 'true');
    try {
      show(await call(base + '/uploads', {method: 'POST', body: form}));
    } finally {
      drop.removeAttribute('aria-busy');
      picker.value = '';
    }
  });

  function show(incoming, chosen = {}) {
    const {preview} = incoming;
    const columns = (name, none, value) =>
      h(
        'select',
        {name, onchange: () => again()},
        none && h('option', {value: ''}, none),
        preview.columns.map(column => h('option', {value: column, selected: column === value}, column)),
      );
    const mapped = preview.format !== 'text' && preview.format !== 'jsonl';
    const split = h(
      'select',
      {name: 'split', onchange: () => again()},
      [
        ['', 'train if labelled, else pool'],
        ['train', 'train'],
        ['test', 'test'],
        ['pool', 'pool'],
      ].map(([value, name]) => h('option', {value, selected: (chosen.split ?? '') === value}, name)),
    );
    const header = h('input', {
      type: 'checkbox',
      name: 'header',
      checked: preview.header,
      onchange: () => {
        const {split: into} = read();
        again({split: into, header: header.checked});
      },
    });
    const form = h(
      'form',
      {class: 'stack', onsubmit: event => event.preventDefault()},
      mapped &&
        h(
          'div',
          {class: 'row'},
          h(
            'label',
            {class: 'field'},
            'Text is in',
            columns(
              'text_column',
              preview.text_column ? null : 'choose',
              chosen.text_column ?? preview.text_column,
            ),
          ),
          h(
            'label',
            {class: 'field'},
            'Intent is in',
            columns('intent_column', 'no column', chosen.intent_column ?? preview.intent_column),
          ),
          context.status.task === 'multi-label' &&
            h(
              'label',
              {class: 'field'},
              'Intents parted by',
              h('input', {
                type: 'text',
                name: 'separator',
                value: chosen.separator ?? '|',
                size: 3,
                onchange: () => again(),
              }),
            ),
        ),
      mapped && h('label', {class: 'row'}, header, 'The first row names the columns'),
      h('label', {class: 'field'}, 'Rows without a split go to', split),
    );
    function read() {
      const given = Object.fromEntries(new FormData(form));
      return {
        text_column: given.text_column || null,
        intent_column: given.intent_column || null,
        separator: given.separator || null,
        split: given.split || null,
        header: mapped ? header.checked : null,
      };
    }
    // Another reading of the first row renames the columns, so those that were chosen are not kept.
    async function again(mapping = read()) {
      try {
        show(await call(`${base}/uploads/${incoming.key}/look`, {method: 'POST', body: mapping}), mapping);
      } catch (error) {
        toast(error.message, error.hint, 'bad');
      }
    }
    const report = incoming.report;
    const nothing = report && !report.added && !report.labelled;
    fill(
      place,
      h(
        'div',
        {class: 'stack', 'data-role': 'preview', style: {'margin-top': '12px'}},
        h('h3', {}, incoming.name),
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
                preview.columns.map(column => h('th', {}, column)),
              ),
            ),
            h(
              'tbody',
              {},
              preview.rows.slice(0, 5).map(row =>
                h(
                  'tr',
                  {},
                  row.map(cell => h('td', {}, cell)),
                ),
              ),
            ),
          ),
        ),
        form,
        incoming.problem
          ? h('div', {class: 'note bad'}, incoming.problem, h('div', {class: 'small'}, incoming.hint))
          : h(
              'div',
              {class: 'note'},
              summary(report, 'would be'),
              report.examples.length > 0 &&
                h(
                  'ul',
                  {class: 'small', style: {'padding-left': '18px', margin: '6px 0 0'}},
                  report.examples.slice(0, 5).map(example => h('li', {}, example)),
                ),
            ),
        h(
          'div',
          {class: 'row'},
          h(
            'button',
            {
              class: 'primary',
              disabled: !report || nothing,
              onclick: guarded(async () => {
                const done = await call(`${base}/uploads/${incoming.key}/import`, {
                  method: 'POST',
                  body: read(),
                });
                fill(
                  place,
                  h(
                    'div',
                    {class: 'note good', style: {'margin-top': '12px'}, role: 'status'},
                    summary(done, ''),
                  ),
                );
                await imported();
              }),
            },
            nothing ? 'Nothing new to import' : 'Import',
          ),
          h(
            'button',
            {
              onclick: guarded(async () => {
                fill(place);
                await call(`${base}/uploads/${incoming.key}`, {method: 'DELETE'});
              }),
            },
            'Cancel',
          ),
        ),
      ),
    );
  }
  return h('section', {class: 'sheet', 'aria-label': 'Import'}, h('h2', {}, 'Import'), drop, place);
}

function summary(report, be) {
  const said = [
    [report.added, `${be} added`],
    [report.labelled, `${be} labelled`],
    [report.already_there, 'there already'],
    [report.conflicting, 'with another label; yours is kept'],
    [report.empty, 'without text, left out'],
    [report.too_long, 'too long, left out'],
  ]
    .filter(([n]) => n)
    .map(([n, words]) => `${number(n)} ${words}`.replace('  ', ' '));
  const intents = report.new_intents.length
    ? `; ${plural(report.new_intents.length, 'new intent')}: ${report.new_intents.slice(0, 8).join(', ')}${report.new_intents.length > 8 ? ' …' : ''}`
    : '';
  return (said.join(', ') || 'Nothing new in this file') + intents + '.';
}
