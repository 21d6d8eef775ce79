// The labelling card: one key decides and shows the next; every decision is kept here until it is saved.
import {
  address,
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
import {Outbox} from './outbox.js';
import {intentFinder} from './finder.js';
import {votesOf} from './votes.js';

const ORDERS = [
  ['unsure', 'Most unsure', 'The model is least sure of these; a label teaches it most.'],
  ['torn', 'Torn between two', 'Two intents are nearly as likely.'],
  ['unlike', 'Unlike anything labelled', 'Farthest from every example so far.'],
  ['newest', 'Newest first', 'In the order they came, newest first.'],
  ['random', 'Random', 'A fair sample of what waits.'],
];
const KEYS = [
  ['Enter', 'take the first suggestion'],
  ['1 2 … 17', 'intent by its number'],
  ['/', 'find or create an intent'],
  ['U', 'undo'],
  ['O', 'out of scope'],
  ['S', 'skip'],
  ['F', 'flag for a second look'],
  ['M', 'more like this'],
  ['T', 'into the tray'],
  ['W', 'why this suggestion'],
  ['P', 'pin as a test'],
  ['G', 'guidelines'],
  ['?', 'these keys'],
];
const AHEAD = 40,
  MOST_AHEAD = 60; // as many cards as anybody decides on before more arrive

export const mount = view => frame(view, 'label', 'Label', null, page);

async function page(context) {
  const {project, main, base, heading} = context;
  const client = sessionStorage.getItem('client') ?? crypto.randomUUID();
  sessionStorage.setItem('client', client);
  const S = {
    queue: [],
    decided: [],
    chosen: new Set(),
    digits: '',
    timer: 0,
    fetching: false,
    waiting: 0,
    tray: [],
    order: query().get('order') ?? 'unsure',
    intents: [],
    byId: new Map(),
    multi: context.status.task === 'multi-label',
    filter: null,
    ended: false,
  };
  const outbox = new Outbox(project, base, {changed: drawSaved, refused, saved: () => context.refresh()});

  const finder = intentFinder({
    intents: () => S.intents,
    pick: intent => give(intent),
    create: name => create(name),
    label: 'Find or create an intent',
  });
  const card = h('section', {class: 'sheet card', 'aria-label': 'Utterance to label'});
  // The card's parts stay in place and only their content changes, so that typing is never interrupted.
  const parts = {
    about: h('div', {class: 'row small soft', style: {'min-height': '22px'}}),
    digits: h('span', {class: 'digits push mono'}),
    text: h('p', {class: 'utterance', 'aria-live': 'polite', 'data-role': 'utterance'}),
    options: h('div', {
      class: 'options',
      role: 'group',
      'aria-label': S.multi ? 'Intents; choose one or more' : 'Suggested intents',
    }),
    take: h('button', {class: 'primary', hidden: !S.multi, onclick: () => accept()}),
    actions: h('div', {class: 'row'}),
    work: h('div', {hidden: true}),
    rest: h('div'),
  };
  parts.work.append(
    parts.about,
    parts.text,
    parts.options,
    h('div', {style: {margin: '12px 0'}}, finder.element),
    parts.actions,
  );
  card.append(parts.work, parts.rest);
  const saved = h('span', {class: 'saved', role: 'status', 'data-role': 'saved'});
  const side = {
    why: h('section', {class: 'sheet', hidden: true, 'aria-label': 'Why'}),
    last: h('ol', {class: 'last', 'aria-label': 'Last decisions'}),
    tray: h('section', {class: 'sheet', 'aria-label': 'Tray', hidden: true}),
    guide: h('section', {class: 'sheet', 'aria-label': 'Guidelines'}),
  };
  const order = h(
    'select',
    {'aria-label': 'Order of the queue', onchange: event => reorder(event.target.value)},
    ORDERS.map(([value, name]) => h('option', {value, selected: value === S.order}, name)),
  );
  const orderNote = h('span', {class: 'soft small'});
  const left = h('span', {class: 'soft small tabular', 'data-role': 'left'});
  heading.append(h('div', {class: 'row push'}, saved, left));
  main.append(
    h(
      'div',
      {class: 'columns'},
      h(
        'div',
        {class: 'stack'},
        h('div', {class: 'row'}, order, orderNote),
        card,
        side.why,
        h(
          'section',
          {class: 'sheet'},
          h(
            'div',
            {class: 'row'},
            h('h2', {style: {margin: 0}}, 'Last decisions'),
            h('button', {class: 'push', onclick: undo}, 'Undo ', h('kbd', {}, 'U')),
          ),
          side.last,
        ),
      ),
      h('aside', {class: 'stack'}, side.tray, side.guide, keysSheet()),
    ),
  );

  const keys = {
    Enter: accept,
    '/': () => {
      finder.open();
    },
    u: undo,
    o: () => decide('out-of-scope'),
    s: () => decide('skip'),
    f: () => {
      flag();
    },
    m: () => {
      similarTo([S.queue[0]?.text].filter(Boolean));
    },
    t: () => {
      const item = S.queue.shift();
      if (item) {
        S.tray.push(item);
        draw();
        drawTray();
        if (S.queue.length < AHEAD) refill();
      }
    },
    w: () => {
      why();
    },
    p: () => {
      pin();
    },
    g: () => {
      side.guide.scrollIntoView({block: 'nearest'});
      side.guide.querySelector('summary, button')?.focus();
    },
    '?': () => {
      document.getElementById('keys').open = true;
      document.getElementById('keys').scrollIntoView({block: 'nearest'});
    },
  };
  fill(
    parts.actions,
    parts.take,
    button('Out of scope', 'O', keys.o),
    button('Skip', 'S', keys.s),
    button('Flag', 'F', keys.f),
    button('More like this', 'M', keys.m),
    button('Tray', 'T', keys.t),
    button('Why', 'W', keys.w),
    button('Pin', 'P', keys.p),
  );

  await loadIntents();
  S.queue.push(...(await outbox.restore(S)));
  await refill();
  draw();
  drawSaved();
  drawLast();

  async function loadIntents() {
    const {intents} = await call(base + '/overview');
    S.intents = intents.filter(intent => !intent.archived);
    S.byId = new Map(intents.map(intent => [intent.id, intent]));
    drawGuide();
  }

  async function refill() {
    if (S.fetching) return;
    S.fetching = true;
    const settled = [
      ...S.queue.map(item => item.id),
      ...outbox.pendingIds(),
      ...S.decided.slice(-60).map(done => done.item.id),
    ];
    try {
      const found = await call(
        `${base}/queue?${new URLSearchParams({client, order: S.order, n: MOST_AHEAD - Math.min(AHEAD, S.queue.length), without: settled.slice(-150).join(',')})}`,
      );
      const have = new Set(settled);
      S.queue.push(...found.items.filter(item => !have.has(item.id)));
      S.waiting = found.waiting;
      S.ended = found.items.length === 0;
      S.model = found.model;
      draw();
      fillSuggestions();
    } catch (error) {
      if (!S.queue.length) toast(error.message, error.hint ?? '', 'bad');
    } finally {
      S.fetching = false;
    }
  }

  async function fillSuggestions() {
    const bare = S.queue.filter(item => item.suggestions === null).map(item => item.id);
    if (!bare.length || (S.model === 'none' && context.status.champion === null)) return;
    const known = new Map(
      (await call(`${base}/suggestions?ids=${bare.join(',')}`).catch(() => [])).map(item => [item.id, item]),
    );
    for (const item of S.queue)
      if (known.has(item.id))
        Object.assign(item, {
          suggestions: known.get(item.id).suggestions,
          out_of_scope: known.get(item.id).out_of_scope,
        });
    draw();
  }

  async function reorder(value) {
    S.order = value;
    setQuery({order: value});
    S.queue.length = 0;
    S.filter = null;
    draw();
    await refill();
  }

  function decide(kind, more = {}) {
    const item = S.queue.shift();
    if (!item) return;
    const operation = {key: crypto.randomUUID(), kind, id: item.id, seen: item.labels, ...more};
    S.decided.push({operation, item});
    S.chosen.clear();
    side.why.hidden = true;
    outbox.add(operation, item);
    draw();
    drawLast();
    if (S.queue.length < AHEAD) refill();
  }

  function give(intent) {
    if (!S.multi) return decide('label', {intents: [intent.id]});
    if (!S.chosen.delete(intent.id)) S.chosen.add(intent.id);
    return draw();
  }
  function create(name) {
    decide('label', {create: [name], intents: [...S.chosen]});
  }

  function accept() {
    const item = S.queue[0];
    if (!item) return;
    if (S.multi && S.chosen.size) return decide('label', {intents: [...S.chosen]});
    const best = item.suggestions?.[0];
    if (best?.intent_id) decide('label', {intents: [best.intent_id]});
    else toast('There is no suggestion yet.', 'Type an intent\u2019s number, or press / to find one.');
  }

  function undo() {
    const done = S.decided.pop();
    if (!done)
      return toast('Nothing of this visit is left to undo.', 'The Data page undoes anything earlier.');
    if (!outbox.withdraw(done.operation.key))
      outbox.add(
        {key: crypto.randomUUID(), kind: 'undo', of: done.operation.key, id: done.item.id},
        done.item,
      );
    S.queue.unshift(done.item);
    draw();
    drawLast();
    return undefined;
  }

  function refused(operation, outcome) {
    S.decided = S.decided.filter(done => done.operation.key !== operation.key);
    drawLast();
    toast(outcome.message, outcome.hint, 'bad');
  }

  function onKey(event) {
    const typing = event.target.matches?.('input,textarea,select,[contenteditable]');
    if (event.isComposing || !card.isConnected || document.querySelector('dialog[open]')) return;
    if (typing) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z') {
      event.preventDefault();
      undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' && event.target.matches?.('button,a,summary')) return;
    if (/^[0-9]$/.test(event.key)) {
      event.preventDefault();
      digit(event.key);
      return;
    }
    if (event.key === 'Escape') {
      S.digits = '';
      drawDigits();
      return;
    }
    const action = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (action) {
      event.preventDefault();
      settleDigits();
      action();
    }
  }

  // Digits gather until only one intent can be meant; 300 ms of silence settle it, too.
  function digit(key) {
    clearTimeout(S.timer);
    S.digits += key;
    const longer = S.intents.some(
      intent => String(intent.number).startsWith(S.digits) && String(intent.number) !== S.digits,
    );
    if (longer) {
      S.timer = setTimeout(settleDigits, 300);
      drawDigits();
    } else settleDigits();
  }
  function settleDigits() {
    clearTimeout(S.timer);
    if (!S.digits) return;
    const intent = S.intents.find(one => String(one.number) === S.digits);
    const typed = S.digits;
    S.digits = '';
    drawDigits();
    if (intent) give(intent);
    else toast(`There is no intent number ${typed}.`, 'Press / to find one by name.');
  }
  function drawDigits() {
    parts.digits.textContent = S.digits ? `number ${S.digits}…` : '';
  }

  document.addEventListener('keydown', onKey);
  window.addEventListener('beforeunload', event => {
    if (outbox.busy) event.preventDefault();
  });
  window.addEventListener('pagehide', () => {
    call(`${base}/queue?client=${client}`, {method: 'DELETE', keepalive: true}).catch(() => {});
  });
  context.onStatus((status, before) => {
    if (before && before.champion !== status.champion) {
      toast(`Version ${status.champion} answers now.`, 'The suggestions are its own.', 'good');
      reorder(S.order);
    }
    if (before && before.model !== 'ready' && status.model === 'ready') fillSuggestions();
  });

  function draw() {
    const item = S.queue[0];
    left.textContent = S.waiting ? `${number(Math.max(0, S.waiting - outbox.size))} wait for a label` : '';
    orderNote.textContent = S.filter ?? ORDERS.find(([value]) => value === S.order)[2];
    parts.work.hidden = !item;
    parts.rest.hidden = Boolean(item);
    if (!item) {
      fill(parts.rest, S.fetching ? h('p', {class: 'empty'}, 'Looking for utterances …') : done());
      return;
    }
    const found = item.suggestions ?? [];
    fill(
      parts.about,
      item.labels !== null && h('span', {}, 'labelled ', labelChips(item.labels, S.byId)),
      item.flagged && h('span', {class: 'badge warn'}, item.flagged),
      item.out_of_scope && h('span', {class: 'badge warn'}, 'seems out of scope'),
      parts.digits,
    );
    parts.text.textContent = item.text;
    parts.text.dataset.id = item.id;
    fill(
      parts.options,
      found.map((one, place) => option(one, place)),
      item.suggestions === null &&
        h(
          'p',
          {class: 'soft'},
          context.status.champion === null
            ? 'No model yet, so there are no suggestions: type an intent\u2019s number or press /.'
            : 'The model is loading; suggestions will follow. You can label already.',
        ),
      S.multi &&
        [...S.chosen]
          .filter(id => !found.some(one => one.intent_id === id))
          .map(id => option({intent_id: id, intent: S.byId.get(id)?.name ?? '?', probability: null}, -1)),
    );
    if (S.multi) fill(parts.take, `Label with ${S.chosen.size || 'the first'} `, h('kbd', {}, 'Enter'));
  }

  function button(name, key, action) {
    return h('button', {onclick: action}, name, ' ', h('kbd', {'aria-hidden': 'true'}, key));
  }
  function option(one, place) {
    const intent = S.byId.get(one.intent_id);
    return h(
      'button',
      {
        class: 'option',
        style: {'--dot': intent?.color},
        disabled: !intent,
        'aria-pressed': S.multi ? String(S.chosen.has(one.intent_id)) : null,
        onclick: () => give(intent),
      },
      h('kbd', {}, place === 0 && !S.multi ? `${intent?.number ?? ''} ↵` : (intent?.number ?? '–')),
      h('span', {class: 'chip bare', style: {border: 0, background: 'transparent', padding: 0}}, one.intent),
      h('span', {class: 'share'}, one.probability === null ? '' : percent(one.probability, 0)),
      one.probability !== null &&
        h('i', {class: 'fill', style: {width: percent(one.probability).replace(' ', '')}}),
    );
  }

  function done() {
    return h(
      'div',
      {class: 'empty'},
      h('h2', {}, S.waiting || outbox.size ? 'The queue is being filled' : 'Nothing is left to label'),
      h(
        'p',
        {},
        S.waiting
          ? 'Other tabs may hold what is left.'
          : 'Every utterance has a label, is out of scope or was skipped.',
      ),
      h(
        'div',
        {class: 'row', style: {'justify-content': 'center'}},
        h('button', {onclick: guarded(refill)}, 'Look again'),
        h('a', {class: 'button', href: address('data', project)}, 'Import more'),
        h('a', {class: 'button primary', href: address('train', project)}, 'Train'),
      ),
    );
  }

  function drawSaved() {
    const state = outbox.state;
    saved.className = 'saved ' + {saved: '', saving: 'waiting', offline: 'trouble'}[state];
    saved.textContent =
      state === 'saved'
        ? S.decided.length
          ? 'all saved'
          : 'saved as you go'
        : state === 'saving'
          ? 'saving …'
          : `${plural(outbox.size, 'decision')} kept here, retrying`;
  }

  function drawLast() {
    const shown = S.decided.slice(-6).reverse();
    fill(
      side.last,
      ...shown.map(({operation, item}) =>
        h('li', {}, verdict(operation), h('span', {class: 'soft'}, item.text.slice(0, 120))),
      ),
      ...(shown.length ? [] : [h('li', {class: 'soft'}, 'What you decide appears here, and can be undone.')]),
    );
  }
  function verdict(operation) {
    if (operation.kind === 'label')
      return [
        ...(operation.intents ?? []).map(id => chip(S.byId.get(id))),
        ...(operation.create ?? []).map(name =>
          chip(
            S.intents.find(one => one.name === name),
            name,
          ),
        ),
      ];
    return h(
      'span',
      {class: 'badge'},
      {'out-of-scope': 'out of scope', skip: 'skipped', flag: 'flagged'}[operation.kind] ?? operation.kind,
    );
  }

  function drawGuide() {
    fill(
      side.guide,
      h('h2', {}, 'Guidelines'),
      S.intents.length
        ? h(
            'div',
            {class: 'intents'},
            S.intents.map(intent =>
              h(
                'details',
                {
                  ontoggle: guarded(async event => {
                    if (event.target.open) await showExamples(intent, event.target);
                  }),
                },
                h(
                  'summary',
                  {style: {cursor: 'pointer', padding: '4px 0'}},
                  h('kbd', {}, intent.number),
                  ' ',
                  chip(intent),
                  h('span', {class: 'soft small'}, ` ${number(intent.utterances)}`),
                ),
                h(
                  'div',
                  {class: 'small'},
                  intent.description ||
                    h('span', {class: 'soft'}, 'No description yet; the Data page takes one.'),
                  h('ul', {class: 'soft', style: {'padding-left': '18px'}}),
                ),
              ),
            ),
          )
        : h('p', {class: 'soft'}, 'No intents yet: press / and type a name to create the first.'),
    );
  }
  async function showExamples(intent, place) {
    const found = await call(
      `${base}/utterances?${new URLSearchParams({intent: intent.id, size: 5, order: 'changed'})}`,
    );
    fill(place.querySelector('ul'), ...found.rows.map(row => h('li', {}, row.text)));
  }

  async function flag() {
    decide('flag', {note: 'flagged while labelling'});
  }

  async function why() {
    const item = S.queue[0];
    if (!item) return;
    side.why.hidden = false;
    fill(side.why, h('p', {class: 'soft'}, 'Asking the model …'));
    try {
      const [answer] = await call(base + '/predict', {method: 'POST', body: {texts: [item.text]}});
      fill(side.why, h('h2', {}, 'Why'), votesOf(answer));
    } catch (error) {
      fill(side.why, h('p', {class: 'bad'}, error.message, ' ', error.hint));
    }
  }

  async function pin() {
    const item = S.queue[0],
      best = item?.suggestions?.[0];
    if (!best?.intent_id)
      return toast('There is no intent to pin yet.', 'Label it first, then pin it on the Try page.');
    try {
      await call(base + '/pins', {method: 'POST', body: {text: item.text, intent: best.intent_id}});
      return toast(
        `Pinned: “${item.text.slice(0, 60)}” must get ${best.intent}.`,
        'Every training is judged by it.',
        'good',
      );
    } catch (error) {
      return toast(error.message, error.hint, 'bad');
    }
  }

  async function similarTo(texts) {
    if (!texts.length) return;
    try {
      const found = await call(base + '/similar', {method: 'POST', body: {texts, n: 20}});
      const have = new Set(outbox.pendingIds());
      const near = found
        .filter(one => !have.has(one.record.id))
        .map(one => ({
          id: one.record.id,
          text: one.record.text,
          split: one.record.split,
          labels: one.record.labels,
          flagged: one.record.flagged,
          suggestions: null,
        }));
      if (!near.length) {
        toast('Nothing similar waits for a label.');
        return;
      }
      const ids = new Set(near.map(item => item.id));
      const [first, ...rest] = S.queue.filter(item => !ids.has(item.id));
      S.queue = [first, ...near, ...rest].filter(Boolean);
      S.filter = `${plural(near.length, 'utterance')} like ${texts.length > 1 ? 'the tray' : `“${texts[0].slice(0, 50)}”`} come next.`;
      draw();
      fillSuggestions();
    } catch (error) {
      toast(error.message, error.hint, 'bad');
    }
  }

  function drawTray() {
    side.tray.hidden = !S.tray.length;
    const pick = intentFinder({
      intents: () => S.intents,
      label: 'Label all with',
      pick: intent => labelTray({intents: [intent.id]}),
      create: name => labelTray({create: [name]}),
    });
    fill(
      side.tray,
      h('h2', {}, `Tray: ${S.tray.length}`),
      h(
        'ul',
        {class: 'last'},
        S.tray.map((item, place) =>
          h(
            'li',
            {},
            h('span', {}, item.text),
            h(
              'button',
              {
                class: 'plain push',
                'aria-label': 'Take out of the tray',
                onclick: () => {
                  S.queue.unshift(...S.tray.splice(place, 1));
                  drawTray();
                  draw();
                },
              },
              '×',
            ),
          ),
        ),
      ),
      h(
        'div',
        {class: 'row', style: {margin: '10px 0'}},
        h('button', {onclick: () => similarTo(S.tray.map(item => item.text))}, 'Find similar'),
      ),
      pick.element,
    );
  }
  function labelTray(how) {
    for (const item of S.tray.splice(0)) {
      const operation = {key: crypto.randomUUID(), kind: 'label', id: item.id, seen: item.labels, ...how};
      S.decided.push({operation, item});
      outbox.add(operation, item);
    }
    drawTray();
    drawLast();
    draw();
    if (S.queue.length < AHEAD) refill();
  }

  outbox.onSaved = async operations => {
    if (operations.some(operation => operation.create?.length)) await loadIntents().catch(() => {});
  };
}

const keysSheet = () =>
  h(
    'details',
    {class: 'sheet', id: 'keys', open: matchMedia('(min-width: 900px)').matches},
    h('summary', {style: {cursor: 'pointer', 'font-weight': 650}}, 'Keys'),
    h(
      'dl',
      {
        class: 'small',
        style: {display: 'grid', 'grid-template-columns': 'auto 1fr', gap: '5px 12px', margin: '10px 0 0'},
      },
      KEYS.map(([key, meaning]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {style: {margin: 0}}, meaning)]),
    ),
  );
