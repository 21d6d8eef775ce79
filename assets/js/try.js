// Type, and see at once what answers and which examples decide; paste many lines for a table.
import {
  call,
  chip,
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
import {landingMap} from './landing.js';
import {votesOf} from './votes.js';

const LONGEST_LINE = 10000,
  MOST_LINES = 1000,
  LONGEST_ADDRESS = 1000;
const PAUSE = 40; // shorter than between two letters of a quick typist: an answer costs some 15 ms

export const mount = view =>
  frame(
    view,
    'try',
    'Try',
    'Type as a customer would. The answer comes while you type, with the examples that vote for it.',
    page,
  );

async function page(context) {
  const {main, base} = context;
  const {intents} = await call(base + '/overview');
  const byName = new Map(intents.map(intent => [intent.name, intent]));
  const box = h(
    'textarea',
    {
      rows: 2,
      maxlength: 1000000,
      'aria-label': 'Text to try',
      placeholder: 'my wifi is gone again',
      autofocus: true,
      style: {'font-size': '19px'},
    },
    query().get('text') ?? '',
  );
  const answer = h('section', {
    class: 'sheet',
    'aria-live': 'polite',
    'aria-label': 'Answer',
    'data-role': 'answer',
  });
  const table = h('section', {class: 'sheet', hidden: true, 'aria-label': 'Many answers'});
  const landing = landingMap(base, byName);
  const landed = h(
    'section',
    {class: 'sheet', hidden: true, 'aria-label': 'Where it lands'},
    landing.element,
  );
  const list = h('section', {class: 'sheet', 'aria-label': 'Pins'});
  main.append(
    h(
      'div',
      {class: 'columns'},
      h('div', {class: 'stack'}, box, answer, table),
      h('aside', {class: 'stack'}, landed, list),
    ),
  );
  let waiting = 0,
    running = null;

  box.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, PAUSE);
  });

  async function ask() {
    const lines = box.value
      .split('\n')
      .map(line => line.trim())
      .filter(Boolean);
    setQuery({text: lines.length === 1 && lines[0].length <= LONGEST_ADDRESS ? lines[0] : ''});
    running?.abort();
    if (!lines.length) {
      empty();
      return;
    }
    running = new AbortController();
    try {
      const answers = await call(base + '/predict', {
        method: 'POST',
        body: {texts: lines.slice(0, MOST_LINES).map(line => line.slice(0, LONGEST_LINE))},
        signal: running.signal,
      });
      table.hidden = lines.length === 1;
      answer.hidden = lines.length > 1;
      landed.hidden = lines.length > 1;
      if (lines.length > 1) {
        showAll(answers, lines.length);
        return;
      }
      show(answers[0]);
      await landing.show(answers[0]);
    } catch (error) {
      if (error.name === 'AbortError') return;
      answer.hidden = false;
      fill(answer, h('div', {class: 'note bad'}, error.message, h('div', {class: 'small'}, error.hint)));
    }
  }
  function empty() {
    table.hidden = landed.hidden = true;
    answer.hidden = false;
    fill(
      answer,
      h(
        'div',
        {class: 'empty'},
        context.status.champion === null
          ? 'Train a model first; then it answers here.'
          : 'The answer appears here.',
      ),
    );
  }

  const verdict = prediction =>
    prediction.decision.rule === 'out-of-scope'
      ? h('span', {class: 'chip oos'}, 'out of scope')
      : prediction.decision.intents.map(name => chip(byName.get(name), name));
  function show(one) {
    const {prediction} = one;
    fill(
      answer,
      h(
        'div',
        {class: 'row', style: {'font-size': '19px', 'margin-bottom': '8px'}},
        verdict(prediction),
        h('b', {class: 'tabular'}, percent(prediction.ranked[0].probability, 0)),
        prediction.decision.rule === 'exact' && h('span', {class: 'badge good'}, 'exact'),
        h('span', {class: 'soft small push'}, prediction.model_version),
      ),
      votesOf(one, byName),
      pinForm(prediction),
    );
  }
  function pinForm(prediction) {
    const which = h(
      'select',
      {'aria-label': 'Expected intent'},
      intents
        .filter(intent => !intent.archived)
        .map(intent =>
          h('option', {value: intent.id, selected: intent.name === prediction.ranked[0].intent}, intent.name),
        ),
    );
    return h(
      'div',
      {class: 'row end', style: {'margin-top': '14px'}},
      h('label', {class: 'field'}, 'This text must get', which),
      h(
        'button',
        {
          onclick: guarded(async () => {
            await call(base + '/pins', {method: 'POST', body: {text: prediction.text, intent: which.value}});
            toast(`Pinned “${prediction.text.slice(0, 60)}”.`, 'Every training is judged by it.', 'good');
            await drawPins();
          }),
        },
        'Pin',
      ),
    );
  }
  function showAll(answers, given) {
    fill(
      table,
      h(
        'h2',
        {},
        given > answers.length
          ? `The first ${number(answers.length)} of ${plural(given, 'text')}`
          : plural(answers.length, 'text'),
      ),
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
              h('th', {}, 'Text'),
              h('th', {}, 'Answer'),
              h('th', {class: 'number'}, 'Likely'),
              h('th', {}, 'Nearest example'),
            ),
          ),
          h(
            'tbody',
            {},
            answers.map(({prediction}) =>
              h(
                'tr',
                {},
                h('td', {}, prediction.text),
                h('td', {}, verdict(prediction)),
                h('td', {class: 'number'}, percent(prediction.ranked[0].probability, 0)),
                h(
                  'td',
                  {class: 'soft'},
                  [...prediction.neighbours].sort((a, b) => b.cosine - a.cosine)[0]?.text ?? '',
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }
  async function drawPins() {
    const pins = await call(base + '/pins');
    fill(
      list,
      h('h2', {}, 'Pins'),
      pins.length
        ? h(
            'ul',
            {class: 'last', 'data-role': 'pins'},
            pins.map(pin =>
              h(
                'li',
                {},
                h(
                  'span',
                  {class: 'badge ' + (pin.kept === null ? '' : pin.kept ? 'good' : 'bad')},
                  pin.kept === null ? '…' : pin.kept ? 'kept' : 'broken',
                ),
                h(
                  'div',
                  {},
                  h('div', {}, pin.text),
                  h(
                    'div',
                    {class: 'soft small'},
                    `must get ${pin.expected}`,
                    pin.kept === false && `, gets ${pin.answer}`,
                  ),
                ),
                h(
                  'button',
                  {
                    class: 'plain push',
                    'aria-label': `Remove the pin of “${pin.text}”`,
                    onclick: guarded(async () => {
                      await call(base + '/pins', {method: 'POST', body: {text: pin.text}});
                      await drawPins();
                    }),
                  },
                  '×',
                ),
              ),
            ),
          )
        : h(
            'p',
            {class: 'soft'},
            'A pin is a promise: this text must get this intent. A training that breaks one is not promoted by itself.',
          ),
    );
  }
  context.onStatus((status, before) => {
    if (before && (before.champion !== status.champion || before.revision !== status.revision)) {
      landing.renew().catch(() => {});
      ask();
      drawPins().catch(() => {});
    }
  });
  empty();
  if (box.value) ask();
  await drawPins();
}
