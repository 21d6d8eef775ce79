// What the project was and is: data versions, model versions, who answered when; compare, roll back, hand over.
import {
  ago,
  ask,
  call,
  fill,
  frame,
  guarded,
  h,
  number,
  percent,
  plural,
  query,
  setQuery,
  toast,
} from './studio.js';
import {comparisonOf, table} from './comparison.js';

export const mount = view =>
  frame(
    view,
    'versions',
    'Versions',
    'Every training froze the data it learned from. Compare any two, go back, and hand a model over as one file.',
    page,
  );

async function page(context) {
  const {project, main, base} = context;
  const models = h('section', {class: 'sheet', 'aria-label': 'Model versions'}),
    data = h('section', {class: 'sheet', 'aria-label': 'Data versions'});
  const detail = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Comparison', tabindex: -1});
  const picker = h('input', {
    type: 'file',
    accept: '.zip',
    class: 'hidden-text',
    'aria-label': 'Bundle to import',
    onchange: guarded(takeIn),
  });
  main.append(models, detail, data);

  const act = (path, method, said) =>
    guarded(async () => {
      await call(base + path, {method});
      toast(said, '', 'good');
      await load();
    });
  function show(...content) {
    detail.hidden = false;
    fill(detail, ...content);
    detail.scrollIntoView({block: 'nearest'});
    detail.focus({preventScroll: true});
  }

  async function load() {
    const [found] = await Promise.all([call(base + '/versions'), context.refresh()]);
    drawModels(found.models, found.states);
    drawData(found.data);
  }

  function drawModels(all, states) {
    const champion = all.find(model => model.champion);
    fill(
      models,
      h(
        'div',
        {class: 'row'},
        h('h2', {style: {margin: 0}}, 'Model versions'),
        h('span', {class: 'push'}),
        champion &&
          all.length > 1 &&
          h(
            'button',
            {onclick: act('/rollback', 'POST', 'The champion before it answers again.')},
            'Roll back',
          ),
        h('button', {onclick: () => picker.click()}, 'Import a bundle'),
        picker,
      ),
      all.length
        ? h(
            'div',
            {class: 'scroll'},
            h(
              'table',
              {'data-role': 'models'},
              h(
                'thead',
                {},
                h(
                  'tr',
                  {},
                  ['Version', 'Recipe', 'Learned from', 'Accuracy', 'Made', ''].map(name =>
                    h('th', {}, name),
                  ),
                ),
              ),
              h(
                'tbody',
                {},
                all.toReversed().map(model =>
                  h(
                    'tr',
                    {},
                    h(
                      'td',
                      {},
                      h('b', {}, `v${model.number}`),
                      ' ',
                      h('span', {class: 'badge ' + (model.champion ? 'good' : '')}, states[model.number]),
                    ),
                    h('td', {}, model.recipe || h('span', {class: 'soft'}, 'imported')),
                    h('td', {class: 'soft'}, model.dataset_version),
                    h(
                      'td',
                      {class: 'tabular', title: model.metrics.judged_on ?? ''},
                      percent(model.metrics.accuracy),
                    ),
                    h('td', {class: 'soft'}, ago(model.created_at)),
                    h(
                      'td',
                      {},
                      h(
                        'div',
                        {class: 'row'},
                        !model.champion &&
                          h(
                            'button',
                            {
                              onclick: act(
                                `/models/${model.number}/promote`,
                                'POST',
                                `Version ${model.number} answers now.`,
                              ),
                            },
                            'Promote',
                          ),
                        champion &&
                          !model.champion &&
                          h(
                            'button',
                            {onclick: guarded(() => compare(model.number, champion.number))},
                            'Compare',
                          ),
                        h('button', {onclick: guarded(() => lineage(model.number))}, 'Lineage'),
                        h(
                          'a',
                          {
                            class: 'button',
                            href: `/api${base}/models/${model.number}/bundle`,
                            download: true,
                          },
                          'Bundle',
                        ),
                        !model.champion &&
                          h(
                            'button',
                            {class: 'danger', onclick: guarded(() => remove(model.number))},
                            'Delete',
                          ),
                      ),
                    ),
                  ),
                ),
              ),
            ),
          )
        : h('p', {class: 'soft'}, 'None yet: train one, or import a bundle.'),
    );
  }

  async function compare(candidate, champion) {
    setQuery({candidate, champion});
    show(h('p', {class: 'soft'}, 'Comparing …'));
    const found = await call(`${base}/compare?candidate=${candidate}&champion=${champion}`);
    show(h('h2', {}, `Version ${candidate} against version ${champion}`), comparisonOf(found));
  }
  async function lineage(one) {
    const found = await call(`${base}/models/${one}/lineage`);
    show(
      h('h2', {}, `Where version ${one} comes from`),
      table(
        ['', ''],
        Object.entries(found)
          .filter(([, value]) => value !== null && value !== '' && !(Array.isArray(value) && !value.length))
          .map(([name, value]) => [
            name.replaceAll('_', ' '),
            typeof value === 'object'
              ? h('code', {class: 'mono small'}, JSON.stringify(value, null, 1))
              : h('span', {class: String(value).length > 50 ? 'mono small' : ''}, String(value)),
          ]),
      ),
    );
  }
  async function remove(one) {
    const plan = await call(`${base}/models/${one}/deletion`);
    if (plan.forbidden) {
      toast(plan.reasons_against[0], plan.reasons_against.slice(1).join(' '), 'bad');
      return;
    }
    const against =
      plan.reasons_against.length > 0 && h('div', {class: 'note warn'}, plan.reasons_against.join(' '));
    if (
      !(await ask(
        `Delete version ${one}?`,
        [
          against,
          h(
            'p',
            {},
            `It frees ${(plan.bytes_freed / 1048576).toFixed(1)} MiB in ${plural(plan.blobs, 'file')}. It cannot be undone.`,
          ),
        ],
        'Delete',
        'danger',
      ))
    )
      return;
    await call(`${base}/models/${one}?even_so=true`, {method: 'DELETE'});
    toast(`Version ${one} is deleted.`, '', 'good');
    await load();
  }
  async function takeIn(event) {
    const file = event.target.files[0];
    if (!file) return;
    const form = new FormData();
    form.append('file', file, file.name);
    const made = await call(`${base}/bundles`, {method: 'POST', body: form});
    picker.value = '';
    toast(`Imported as ${made.model}.`, 'It was verified; promote it to let it answer.', 'good');
    await load();
  }

  function drawData(all) {
    const from = h(
      'select',
      {'aria-label': 'Older data version'},
      h('option', {value: 0}, 'the beginning'),
      all.map(one =>
        h(
          'option',
          {value: one.number, selected: one.number === Number(query().get('older') ?? all.at(-1)?.number)},
          `data version ${one.number}`,
        ),
      ),
    );
    const to = h(
      'select',
      {'aria-label': 'Newer data version'},
      all
        .toReversed()
        .map(one =>
          h(
            'option',
            {value: one.number, selected: one.number === Number(query().get('newer'))},
            `data version ${one.number}`,
          ),
        ),
      h('option', {value: 0, selected: !query().get('newer')}, 'now'),
    );
    fill(
      data,
      h(
        'div',
        {class: 'row'},
        h('h2', {style: {margin: 0}}, 'Data versions'),
        h('span', {class: 'push'}),
        from,
        ' to ',
        to,
        h('button', {onclick: guarded(() => diff(Number(from.value), Number(to.value)))}, 'What changed'),
      ),
      all.length
        ? h(
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
                  ['Version', 'Rows', 'Since the one before', 'Frozen', ''].map(name => h('th', {}, name)),
                ),
              ),
              h(
                'tbody',
                {},
                all.toReversed().map(one =>
                  h(
                    'tr',
                    {},
                    h('td', {}, h('b', {}, number(one.number))),
                    h('td', {class: 'tabular'}, number(one.n_rows)),
                    h('td', {}, one.changes, h('div', {class: 'soft small'}, one.message)),
                    h('td', {class: 'soft', title: `SHA-256 ${one.sha256}`}, ago(one.created_at)),
                    h(
                      'td',
                      {},
                      h(
                        'a',
                        {
                          class: 'button',
                          href: `/api${base}/export?kind=csv&version=${one.number}`,
                          download: true,
                        },
                        'CSV',
                      ),
                    ),
                  ),
                ),
              ),
            ),
          )
        : h('p', {class: 'soft'}, 'The first training freezes the first one.'),
    );
  }
  async function diff(older, newer) {
    setQuery({older, newer: newer || ''});
    show(h('p', {class: 'soft'}, 'Comparing …'));
    const found = await call(`${base}/diff?older=${older}&newer=${newer}`);
    const said = value =>
      value === null ? '–' : Array.isArray(value) ? value.join(', ') || 'out of scope' : String(value);
    const shown = found.utterances.slice(0, 500);
    show(
      h(
        'h2',
        {},
        `From ${older ? `data version ${older}` : 'the beginning'} to ${newer ? `data version ${newer}` : 'now'}`,
      ),
      h('p', {'data-role': 'diff-words'}, found.words.join(', ')),
      found.intents.length > 0 &&
        table(
          ['Intent', '', 'Before', 'After'],
          found.intents.map(change => [change.name, change.kind, said(change.before), said(change.after)]),
        ),
      shown.length > 0 &&
        table(
          ['What', 'Text', 'Before', 'After'],
          shown.map(change => [change.kind, change.text, said(change.before), said(change.after)]),
        ),
      found.utterances.length > shown.length &&
        h('p', {class: 'soft'}, `and ${number(found.utterances.length - shown.length)} more rows`),
    );
  }
  await load();
  if (query().get('candidate'))
    await compare(Number(query().get('candidate')), Number(query().get('champion')));
}
