// One button; what it will do and how long it takes; progress that survives a reload; then a proposal.
import {
  address,
  ago,
  ask,
  call,
  duration,
  fill,
  frame,
  guarded,
  h,
  number,
  percent,
  toast,
} from './studio.js';
import {comparisonOf} from './comparison.js';
import {curvesOf} from './curve.js';

const RECIPES = [
  [
    'instant',
    'Instant',
    'Keeps the encoder as it is; the examples vote. Ready in seconds. For a first look, and while labels are few.',
  ],
  [
    'convfit',
    'ConvFiT',
    'Tunes the encoder so that examples of one intent come close together. The most accurate; takes a minute or more.',
  ],
];

export const mount = (view, gradio) =>
  frame(
    view,
    'train',
    'Train',
    'Training happens in the background: you may leave this page, label on, or close the browser.',
    context => page(context, gradio),
  );

async function page(context, {props, watch}) {
  const {project, main, base} = context;
  const S = {
    recipe: localStorage.getItem('recipe') ?? 'convfit',
    settings: {},
    shown: null,
    job: null,
    drawn: '',
  };
  const cards = h('div', {class: 'cards', role: 'radiogroup', 'aria-label': 'Recipe'});
  const what = h('p', {role: 'status', 'data-role': 'estimate'});
  const gate = h('input', {
    type: 'checkbox',
    checked: context.status.auto_promote,
    onchange: guarded(event => call(base, {method: 'PATCH', body: {auto_promote: event.target.checked}})),
  });
  const start = h(
    'button',
    {class: 'primary', style: {'font-size': '17px', padding: '11px 26px'}, onclick: guarded(train)},
    'Train',
  );
  const live = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Training'});
  const proposal = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Proposal'});
  const earlier = h('section', {class: 'sheet', 'aria-label': 'Earlier trainings'});
  main.append(
    h(
      'section',
      {class: 'sheet'},
      cards,
      h(
        'div',
        {class: 'row', style: {'margin-top': '14px'}},
        start,
        h('div', {style: {flex: '1', 'min-width': '240px'}}, what),
      ),
      h(
        'label',
        {class: 'check', title: 'No pin is broken, and accuracy is not lower than chance explains'},
        gate,
        'promote the result by itself if it passes the gate: no pin broken, and accuracy not lower beyond noise',
      ),
    ),
    live,
    proposal,
    earlier,
  );

  // Made once: a card that is drawn anew would lose the keyboard's focus.
  const choices = RECIPES.map(([kind, name, words]) =>
    h(
      'button',
      {
        class: 'choice',
        role: 'radio',
        onclick: () => {
          S.recipe = kind;
          localStorage.setItem('recipe', kind);
          drawCards();
          estimate();
        },
      },
      h('strong', {}, name),
      h('span', {class: 'soft'}, words),
    ),
  );
  cards.append(...choices);
  function drawCards() {
    RECIPES.forEach(([kind], place) =>
      choices[place].setAttribute('aria-checked', String(S.recipe === kind)),
    );
    const form = document.getElementById('recipe-settings');
    if (form) form.style.display = S.recipe === 'convfit' ? '' : 'none';
  }
  const wish = () => ({
    recipe: S.recipe,
    settings: S.recipe === 'convfit' ? S.settings : {},
    gate: gate.checked,
  });
  async function estimate() {
    try {
      const found = await call(base + '/estimate', {method: 'POST', body: wish()});
      what.className = '';
      what.textContent = found.sentence;
      start.disabled = Boolean(S.job);
    } catch (error) {
      what.className = 'bad';
      what.textContent = `${error.message} ${error.hint}`;
      start.disabled = error.status === 422;
    }
  }
  async function train() {
    start.disabled = true;
    try {
      S.shown = (await call(base + '/train', {method: 'POST', body: wish()})).job;
    } catch (error) {
      start.disabled = false;
      throw error;
    }
    proposal.hidden = true;
    await context.refresh();
    await follow();
  }

  async function follow() {
    const jobs = (await call(base + '/jobs')).filter(job => job.kind === 'train');
    const running = jobs.find(job => !['succeeded', 'failed', 'cancelled'].includes(job.state));
    const ended = S.job && !running ? jobs.find(job => job.id === S.job.id) : null;
    S.job = running ?? null;
    start.disabled = Boolean(running);
    start.textContent = running ? 'Training …' : context.status.champion === null ? 'Train' : 'Retrain';
    const shown = running ?? jobs.find(job => job.id === S.shown) ?? jobs[0];
    if (shown) drawJob(shown);
    drawEarlier(jobs);
    if (ended) {
      await context.refresh();
      await estimate();
    }
    if (ended?.state === 'failed') toast(ended.message, ended.hint, 'bad');
    await drawProposal();
  }

  function drawJob(job) {
    live.hidden = false;
    const over = ['succeeded', 'failed', 'cancelled'].includes(job.state);
    const words = {
      queued: 'waiting for its turn',
      running: job.stage,
      succeeded: 'finished',
      failed: `failed: ${job.message}`,
      cancelled: 'cancelled',
    }[job.state];
    fill(
      live,
      h(
        'div',
        {class: 'row'},
        h('h2', {style: {margin: 0}}, `Training with ${job.recipe}`),
        h(
          'span',
          {
            class: 'badge ' + ({succeeded: 'good', failed: 'bad', cancelled: 'warn'}[job.state] ?? 'accent'),
            'data-role': 'job-state',
          },
          job.state,
        ),
        h('span', {class: 'soft small'}, ago(job.created_at)),
        !over &&
          h(
            'button',
            {
              class: 'danger push',
              disabled: job.cancel_requested,
              onclick: guarded(async () => {
                await call(`/jobs/${job.id}/cancel`, {method: 'POST'});
                await follow();
              }),
            },
            job.cancel_requested ? 'Cancelling …' : 'Cancel',
          ),
      ),
      h(
        'div',
        {class: 'row', style: {margin: '10px 0'}},
        h(
          'div',
          {
            class: 'bar thick',
            role: 'progressbar',
            'aria-label': 'Progress of the training',
            'aria-valuenow': Math.round(100 * job.progress),
            'aria-valuemin': 0,
            'aria-valuemax': 100,
            style: {flex: '1'},
          },
          h('i', {style: {width: `${100 * job.progress}%`}}),
        ),
        h('b', {class: 'tabular'}, percent(job.progress, 0)),
      ),
      h(
        'div',
        {class: 'row soft'},
        words,
        !over && job.eta_seconds !== null && h('span', {class: 'push'}, duration(job.eta_seconds)),
      ),
      job.hint && h('p', {class: 'soft'}, job.hint),
      curvesOf(job),
      job.log && h('details', {}, h('summary', {class: 'soft'}, 'Log'), h('pre', {class: 'log'}, job.log)),
    );
  }

  function drawEarlier(jobs) {
    const rows = jobs.filter(job => job.state !== 'running' && job.state !== 'queued').slice(0, 8);
    earlier.hidden = !rows.length;
    fill(
      earlier,
      h('h2', {}, 'Earlier trainings'),
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
              h('th', {}, 'When'),
              h('th', {}, 'Recipe'),
              h('th', {}, 'Ended'),
              h('th', {}, 'Model'),
              h('th', {class: 'number'}, 'Accuracy'),
            ),
          ),
          h(
            'tbody',
            {},
            rows.map(job =>
              h(
                'tr',
                {},
                h('td', {}, ago(job.created_at)),
                h('td', {}, job.recipe),
                h('td', {}, job.state),
                h('td', {}, job.result.model ?? h('span', {class: 'soft'}, job.message)),
                h('td', {class: 'number'}, job.result.metrics ? percent(job.result.metrics.accuracy) : '–'),
              ),
            ),
          ),
        ),
      ),
    );
  }

  // The newest version that does not answer yet is a proposal: compare, then promote or discard.
  async function drawProposal() {
    const {candidate, champion} = context.status;
    const mark = `${candidate}:${champion}`;
    if (mark === S.drawn) return;
    S.drawn = mark;
    proposal.hidden = candidate === null;
    if (candidate === null) return;
    fill(
      proposal,
      h('h2', {}, `Version ${candidate} waits for your decision`),
      h('p', {class: 'soft'}, 'Comparing it with the champion …'),
    );
    const decide = (path, said) =>
      guarded(async () => {
        await call(`${base}/models/${candidate}/${path}`, {method: 'POST'});
        toast(said, '', 'good');
        await context.refresh();
        await drawProposal();
      });
    try {
      const found = await call(`${base}/compare?candidate=${candidate}&champion=${champion}`);
      fill(
        proposal,
        h(
          'div',
          {class: 'row'},
          h('h2', {style: {margin: 0}}, `Version ${candidate} waits for your decision`),
          h('span', {class: 'push'}),
          h(
            'button',
            {class: 'primary', onclick: decide('promote', `Version ${candidate} answers now.`)},
            `Promote version ${candidate}`,
          ),
          h('button', {onclick: decide('discard', `Version ${candidate} is discarded.`)}, 'Discard'),
        ),
        comparisonOf(found),
      );
    } catch (error) {
      proposal.append(h('p', {class: 'bad'}, error.message));
      S.drawn = '';
    }
  }

  watch?.('settings', () => {
    S.settings = JSON.parse(props.settings || '{}');
    estimate();
  });
  let following = false;
  context.onStatus(async (status, before) => {
    if (before && before.auto_promote !== status.auto_promote) gate.checked = status.auto_promote; // another browser's choice
    if (following || !before) return;
    if (!(
      status.job ||
      S.job ||
      status.candidate !== before.candidate ||
      status.champion !== before.champion
    ))
      return;
    following = true;
    try {
      await follow();
    } catch {
      /* the header says that the studio does not answer */
    } finally {
      following = false;
    }
  });
  drawCards();
  await Promise.all([estimate(), follow()]);
}
