// Browse, search, import, edit: the filter lives in the address, pages come from the server.
import {
  address,
  ago,
  ask,
  call,
  chip,
  fill,
  frame,
  guarded,
  h,
  labelChips,
  number,
  percent,
  plural,
  query,
  setQuery,
  toast,
} from './studio.js';
import {importSheet} from './importing.js';

const SIZE = 50;
const STATES = [
  ['', 'any state'],
  ['unlabelled', 'unlabelled'],
  ['labelled', 'labelled'],
  ['out-of-scope', 'out of scope'],
  ['skipped', 'skipped'],
  ['flagged', 'flagged'],
];
const ORDERS = [
  ['newest', 'newest first'],
  ['oldest', 'oldest first'],
  ['changed', 'last changed first'],
  ['text', 'by text'],
];

export const mount = view => frame(view, 'data', 'Data', null, page);

async function page(context) {
  const {project, main, base, heading} = context;
  const given = query();
  const F = {
    text: given.get('text') ?? '',
    intent: given.get('intent') ?? '',
    split: given.get('split') ?? '',
    state: given.get('state') ?? '',
    differs: given.get('differs') === 'true',
    order: given.get('order') ?? 'newest',
    page: Number(given.get('page') ?? 0),
  };
  const S = {
    rows: [],
    total: 0,
    picked: new Set(),
    all: false,
    intents: [],
    byId: new Map(),
    counts: null,
    serial: 0,
  };

  const search = h('input', {
    type: 'search',
    placeholder: 'Search',
    maxlength: 1000,
    'aria-label': 'Search in utterances',
    value: F.text,
    style: {'min-width': '200px', flex: '1'},
    oninput: event => later(() => change({text: event.target.value})),
  });
  const selects = {
    intent: h('select', {'aria-label': 'Intent', onchange: event => change({intent: event.target.value})}),
    split: choice(
      'Split',
      [
        ['', 'any split'],
        ['train', 'train'],
        ['test', 'test'],
        ['pool', 'pool'],
      ],
      'split',
    ),
    state: choice('State of the label', STATES, 'state'),
    order: choice('Order', ORDERS, 'order'),
  };
  const differs = h('input', {
    type: 'checkbox',
    checked: F.differs,
    onchange: event => change({differs: event.target.checked}),
  });
  const total = h('span', {class: 'soft small tabular', role: 'status', 'data-role': 'total'});
  const body = h('tbody');
  const everything = h('input', {
    type: 'checkbox',
    'aria-label': 'Pick all of this page',
    onchange: event => {
      S.all = false;
      S.picked = new Set(event.target.checked ? S.rows.map(row => row.id) : []);
      drawRows();
    },
  });
  const table = h(
    'table',
    {class: 'wraps', 'data-role': 'utterances'},
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', {}, everything),
        h('th', {}, 'Utterance'),
        h('th', {}, 'Label'),
        h('th', {}, 'Split'),
        h('th', {}, ''),
      ),
    ),
    body,
  );
  const pager = h('div', {class: 'row', style: {'margin-top': '10px'}});
  const bulk = h('div', {class: 'bulk row', hidden: true});
  const intents = h('div', {class: 'intents'});
  const undoButton = h('button', {onclick: () => step('undo')}, 'Undo'),
    redoButton = h('button', {onclick: () => step('redo')}, 'Redo');

  heading.append(
    h(
      'div',
      {class: 'row push'},
      undoButton,
      redoButton,
      h('a', {class: 'button', href: `/api${base}/export?kind=csv`, download: true}, 'Export CSV'),
      h('a', {class: 'button', href: `/api${base}/export?kind=jsonl`, download: true}, 'JSONL'),
    ),
  );
  main.append(
    h(
      'div',
      {class: 'columns'},
      h(
        'section',
        {class: 'sheet', 'aria-label': 'Utterances'},
        h(
          'div',
          {class: 'row'},
          search,
          selects.intent,
          selects.split,
          selects.state,
          selects.order,
          h(
            'label',
            {
              class: 'check',
              title:
                'Labelled utterances that the model would label otherwise, judged without their own vote',
            },
            differs,
            'model disagrees',
          ),
        ),
        h('div', {class: 'row', style: {margin: '8px 0'}}, total),
        table,
        pager,
        bulk,
      ),
      h(
        'aside',
        {class: 'stack'},
        importSheet(context, reload),
        h(
          'section',
          {class: 'sheet', 'aria-label': 'Intents'},
          h(
            'div',
            {class: 'row'},
            h('h2', {style: {margin: 0}}, 'Intents'),
            h('button', {class: 'push', onclick: guarded(newIntent)}, 'New'),
          ),
          intents,
        ),
      ),
    ),
  );

  function choice(label, options, field) {
    return h(
      'select',
      {'aria-label': label, onchange: event => change({[field]: event.target.value})},
      options.map(([value, name]) => h('option', {value, selected: F[field] === value}, name)),
    );
  }
  let waiting = 0;
  function later(action) {
    clearTimeout(waiting);
    waiting = setTimeout(action, 60);
  }

  async function change(values) {
    Object.assign(F, {page: 0}, values);
    S.picked.clear();
    S.all = false;
    setQuery({...F, page: F.page || '', order: F.order === 'newest' ? '' : F.order});
    await load();
  }
  const filter = () => ({
    text: F.text,
    intent: F.intent || null,
    split: F.split || null,
    state: F.state || null,
    differs: F.differs,
  });

  async function load() {
    const serial = (S.serial += 1);
    const asked = new URLSearchParams({order: F.order, page: F.page, size: SIZE});
    for (const [name, value] of Object.entries(filter())) if (value) asked.set(name, value);
    try {
      const found = await call(`${base}/utterances?${asked}`);
      if (serial !== S.serial) return; // a later search has been asked meanwhile
      Object.assign(S, {rows: found.rows, total: found.total});
      drawRows();
    } catch (error) {
      total.textContent = error.message;
    }
  }
  async function loadIntents() {
    const {counts, intents: all} = await call(base + '/overview');
    Object.assign(S, {intents: all, counts, byId: new Map(all.map(intent => [intent.id, intent]))});
    drawIntents();
  }
  async function reload() {
    await Promise.all([loadIntents(), load(), context.refresh()]);
  }

  function drawRows() {
    const pages = Math.max(1, Math.ceil(S.total / SIZE));
    total.textContent = `${plural(S.total, 'utterance')}${pages > 1 ? `, page ${number(F.page + 1)} of ${number(pages)}` : ''}`;
    everything.checked = S.rows.length > 0 && S.rows.every(row => S.picked.has(row.id));
    fill(
      body,
      ...S.rows.map(row =>
        h(
          'tr',
          {'data-id': row.id},
          h(
            'td',
            {},
            h('input', {
              type: 'checkbox',
              'aria-label': `Pick “${row.text.slice(0, 60)}”`,
              checked: S.picked.has(row.id),
              onchange: event => {
                event.target.checked ? S.picked.add(row.id) : S.picked.delete(row.id);
                S.all = false;
                drawBulk();
              },
            }),
          ),
          h(
            'td',
            {class: 'text-cell'},
            h(
              'button',
              {class: 'editable', title: 'Edit the text', onclick: guarded(() => editText(row))},
              row.text,
            ),
            row.flagged && h('span', {class: 'badge warn'}, row.flagged),
          ),
          h('td', {}, labelChips(row.labels, S.byId)),
          h('td', {class: 'soft'}, row.split),
          h(
            'td',
            {},
            h(
              'button',
              {
                class: 'plain',
                'aria-label': 'Delete this utterance',
                title: 'Delete',
                onclick: guarded(() => remove(row)),
              },
              '×',
            ),
          ),
        ),
      ),
    );
    if (!S.rows.length)
      fill(
        body,
        h(
          'tr',
          {},
          h(
            'td',
            {colspan: 5},
            S.counts && !S.counts.total
              ? h(
                  'div',
                  {class: 'empty'},
                  h('h2', {}, 'No utterances yet'),
                  'Drop a CSV, TSV, JSONL or text file on the right.',
                )
              : h(
                  'div',
                  {class: 'empty'},
                  'Nothing fits this filter. ',
                  h('button', {onclick: clear}, 'Clear the filter'),
                ),
          ),
        ),
      );
    fill(
      pager,
      ...(pages > 1
        ? [
            h('button', {disabled: F.page === 0, onclick: () => turn(-1)}, 'Previous'),
            h('button', {disabled: F.page + 1 >= pages, onclick: () => turn(1)}, 'Next'),
          ]
        : []),
    );
    drawBulk();
  }
  function turn(by) {
    F.page += by;
    S.picked.clear();
    setQuery({page: F.page || ''});
    load();
    table.scrollIntoView({block: 'start'});
  }
  function clear() {
    search.value = '';
    differs.checked = false;
    for (const name of ['intent', 'split', 'state']) selects[name].value = '';
    change({text: '', intent: '', split: '', state: '', differs: false});
  }

  function drawBulk() {
    const count = S.all ? S.total : S.picked.size;
    bulk.hidden = count === 0;
    if (!count) return;
    const what = h(
      'select',
      {'aria-label': 'What to do'},
      [
        ['label', 'Label as …'],
        ['out-of-scope', 'Mark out of scope'],
        ['unlabel', 'Take the label away'],
        ['move:train', 'Move to train'],
        ['move:test', 'Move to test'],
        ['move:pool', 'Move to pool'],
        ['flag', 'Flag'],
        ['unflag', 'Take the flag away'],
        ['delete', 'Delete'],
      ].map(([value, name]) => h('option', {value}, name)),
    );
    const which = h(
      'select',
      {'aria-label': 'Intent to label with'},
      S.intents
        .filter(intent => !intent.archived)
        .map(intent => h('option', {value: intent.id}, intent.name)),
    );
    what.addEventListener('change', () => {
      which.hidden = what.value !== 'label';
    });
    fill(
      bulk,
      h('b', {'data-role': 'picked'}, `${plural(count, 'utterance')} picked`),
      !S.all &&
        S.total > S.picked.size &&
        h(
          'button',
          {
            class: 'plain',
            onclick: () => {
              S.all = true;
              drawBulk();
            },
          },
          `Pick all ${number(S.total)} of this filter`,
        ),
      h('span', {class: 'push'}),
      what,
      which,
      h(
        'button',
        {
          class: 'primary',
          onclick: guarded(async () => {
            const [kind, value] = what.value.split(':');
            const said = what.selectedOptions[0].textContent.replace(
              ' as …',
              ` as ${which.selectedOptions[0]?.textContent}`,
            );
            if (
              !(await ask(
                `${said}: ${plural(count, 'utterance')}?`,
                h('p', {class: 'soft'}, 'It is one action, and Undo takes it back as one.'),
                said,
                kind === 'delete' ? 'danger' : 'primary',
              ))
            )
              return;
            const asked = S.all ? filter() : {ids: [...S.picked]};
            const done = await call(base + '/edits', {
              method: 'POST',
              body: {
                filter: asked,
                kind,
                value: kind === 'label' ? which.value : (value ?? ''),
                expected: count,
              },
            });
            toast(
              `${plural(done.changed, 'utterance')}: ${said.toLowerCase()}.`,
              'Undo takes it back.',
              'good',
            );
            S.picked.clear();
            S.all = false;
            await reload();
          }),
        },
        'Apply',
      ),
    );
  }

  async function editText(row) {
    const field = h('textarea', {name: 'text', rows: 4, maxlength: 10000, 'aria-label': 'Text'}, row.text);
    const given = await ask('Edit the text', field, 'Save');
    if (!given || given.text === row.text) return;
    await call(base + '/edits', {
      method: 'POST',
      body: {filter: {ids: [row.id]}, kind: 'text', value: given.text, expected: 1},
    });
    await reload();
  }
  async function remove(row) {
    await call(base + '/edits', {
      method: 'POST',
      body: {filter: {ids: [row.id]}, kind: 'delete', expected: 1},
    });
    toast(`Deleted “${row.text.slice(0, 60)}”.`, 'Undo brings it back.');
    await reload();
  }
  async function step(which) {
    try {
      const done = await call(`${base}/${which}`, {method: 'POST'});
      const batch = done.undone ?? done.redone;
      toast(
        batch
          ? `${which === 'undo' ? 'Taken back' : 'Done again'}: ${batch.verb}, ${ago(batch.at)}.`
          : `There is nothing to ${which}.`,
      );
      await reload();
    } catch (error) {
      toast(error.message, error.hint, 'bad');
    }
  }

  function drawIntents() {
    const named = [
      ['', 'any intent'],
      ...S.intents.map(intent => [intent.id, intent.name + (intent.archived ? ' (archived)' : '')]),
    ];
    fill(
      selects.intent,
      ...named.map(([value, name]) => h('option', {value, selected: F.intent === value}, name)),
    );
    fill(
      intents,
      ...S.intents.map(intent =>
        h(
          'button',
          {
            onclick: guarded(() => editIntent(intent)),
            title: intent.description || 'Rename, describe, colour, merge',
          },
          h('kbd', {}, intent.number),
          chip(intent),
          intent.archived && h('span', {class: 'badge'}, 'archived'),
          h('span', {class: 'count tabular'}, number(intent.utterances)),
        ),
      ),
    );
    if (!S.intents.length)
      fill(
        intents,
        h('p', {class: 'soft'}, 'They come with a labelled file, or are created while labelling.'),
      );
  }
  async function newIntent() {
    const given = await ask(
      'New intent',
      [
        h(
          'label',
          {class: 'field'},
          'Name',
          h('input', {type: 'text', name: 'name', required: true, maxlength: 200}),
        ),
        h(
          'label',
          {class: 'field', style: {'margin-top': '8px'}},
          'What belongs to it',
          h('textarea', {name: 'description', rows: 3}),
        ),
      ],
      'Create',
    );
    if (!given) return;
    await call(base + '/intents', {method: 'POST', body: {name: given.name, description: given.description}});
    await reload();
  }
  async function editIntent(intent) {
    const others = S.intents.filter(one => one.id !== intent.id && !one.archived);
    const given = await ask(
      `Intent ${intent.name}`,
      [
        h(
          'label',
          {class: 'field'},
          'Name',
          h('input', {type: 'text', name: 'name', value: intent.name, required: true, maxlength: 200}),
        ),
        h(
          'label',
          {class: 'field', style: {'margin-top': '8px'}},
          'What belongs to it, and what does not',
          h('textarea', {name: 'description', rows: 4}, intent.description),
        ),
        h(
          'div',
          {class: 'row', style: {'margin-top': '8px'}},
          h(
            'label',
            {class: 'field'},
            'Colour',
            h('input', {
              type: 'color',
              name: 'color',
              value: /^#/.test(intent.color) ? intent.color : '#888888',
            }),
          ),
          h(
            'label',
            {class: 'check'},
            h('input', {type: 'checkbox', name: 'archived', checked: intent.archived}),
            'archived',
          ),
          h(
            'label',
            {class: 'field'},
            'Merge into',
            h(
              'select',
              {name: 'target'},
              h('option', {value: ''}, 'no other'),
              others.map(one => h('option', {value: one.name}, one.name)),
            ),
          ),
        ),
        h(
          'p',
          {class: 'soft small', style: {'margin-top': '8px'}},
          `${plural(intent.utterances, 'utterance')} carry it. Renaming touches no label; merging moves all of them to the other intent.`,
        ),
      ],
      'Save',
    );
    if (!given) return;
    if (given.target)
      await call(base + '/merge', {method: 'POST', body: {source: intent.name, target: given.target}});
    else {
      const values = {name: given.name, description: given.description, archived: 'archived' in given};
      if (/^#/.test(intent.color) ? given.color !== intent.color : given.color !== '#888888')
        values.color = given.color;
      await call(`${base}/intents/${intent.id}`, {method: 'PATCH', body: values});
    }
    await reload();
  }

  document.addEventListener('keydown', event => {
    const typing = event.target.matches?.('input:not([type=checkbox]),textarea,select');
    if (typing || document.querySelector('dialog[open]')) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z') {
      event.preventDefault();
      step(event.shiftKey ? 'redo' : 'undo');
    }
    if (event.key === '/') {
      event.preventDefault();
      search.focus();
    }
  });
  context.onStatus((status, before) => {
    if (
      before &&
      before.revision !== status.revision &&
      !document.querySelector('dialog[open]') &&
      !S.picked.size
    ) {
      load();
      loadIntents();
    }
  });
  await loadIntents();
  await load();
}
