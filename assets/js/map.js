// The embedding map: points are fetched as binary once, colours again when labels change; lasso to label.
import {
  address,
  call,
  chip,
  duration,
  fill,
  frame,
  guarded,
  h,
  number,
  plural,
  query,
  setQuery,
  toast,
} from './studio.js';
import {intentFinder} from './finder.js';

const COLOURINGS = [
  ['intent', 'intent'],
  ['prediction', 'prediction'],
  ['agreement', 'agreement'],
  ['label state', 'state of the label'],
  ['split', 'split'],
  ['time', 'time'],
];
const METHODS = [
  ['pca', 'PCA'],
  ['umap', 'UMAP'],
  ['tsne', 't-SNE'],
];
const MOST_SHAPES = 10000; // with more points, a symbol for each makes drawing slow
const MOST_MOVING = 10000; // more points jump
const MOVE = 700; // milliseconds
const BOX = [-0.03, 1.03];
const CONFIG = {
  responsive: true,
  displaylogo: false,
  scrollZoom: true,
  showSendToCloud: false,
  plotlyServerURL: '',
  plotGlPixelRatio: 1,
  modeBarButtonsToRemove: ['toImage', 'autoScale2d'],
};

export const mount = view => frame(view, 'map', 'Map', null, page);

function plotly() {
  return window.Plotly
    ? Promise.resolve(window.Plotly)
    : new Promise((ready, failed) =>
        document.head.append(
          h('script', {
            src: '/api/plotly.js',
            onload: () => ready(window.Plotly),
            onerror: () => failed(new Error('The drawing library could not be loaded.')),
          }),
        ),
      );
}
async function binary(path) {
  const answer = await fetch('/api' + path);
  if (!answer.ok) {
    const read = await answer.json().catch(() => ({}));
    throw Object.assign(new Error(read.message ?? answer.statusText), {
      status: answer.status,
      hint: read.hint,
    });
  }
  return answer.arrayBuffer();
}

async function page(context) {
  const {main, base, heading} = context;
  const given = query();
  const V = {
    by: given.get('by') ?? 'intent',
    method: given.get('method') ?? 'pca',
    model: given.get('model') ?? '',
    other: given.get('other') ?? '',
  };
  const S = {
    ids: [],
    xy: null,
    codes: null,
    legend: [],
    hidden: new Set(),
    picked: [],
    rows: new Map(),
    revision: -1,
    order: '',
    side: 'after',
    known: new Map(),
  };
  const asked = more =>
    new URLSearchParams({method: V.method, ...(V.model ? {model: V.model} : {}), ...more});
  // The drawing library and the points take longest: they are under way before anything is drawn.
  const early = V.other ? null : Promise.all([plotly(), points_()]);
  early?.catch(() => {}); // `load` tells of it
  const [states, {intents}] = await Promise.all([call(base + '/models'), call(base + '/overview')]);
  const names = [
    ['', 'champion'],
    ['0', 'untuned encoder'],
    ...Object.keys(states).map(known => [known, `version ${known}`]),
  ];
  const select = (label, options, field, then) =>
    h(
      'select',
      {
        'aria-label': label,
        onchange: event => {
          V[field] = event.target.value;
          setQuery({[field]: V[field]});
          then();
        },
      },
      options.map(([value, name]) => h('option', {value, selected: V[field] === value}, name)),
    );
  const search = h('input', {
    type: 'search',
    placeholder: 'Highlight',
    'aria-label': 'Highlight texts',
    maxlength: 1000,
    oninput: () => {
      clearTimeout(S.timer);
      S.timer = setTimeout(guarded(highlight), 150);
    },
  });
  const plot = h('div', {
    class: 'map',
    role: 'img',
    'aria-label': 'Map of the utterances; the list beside it shows what is selected',
  });
  const note = h('div', {class: 'row small soft', role: 'status', 'data-role': 'map-note'});
  const legend = h('div', {class: 'legend', 'aria-label': 'Legend'});
  const side = h('section', {class: 'sheet', 'aria-label': 'Selection', 'data-role': 'selection'});
  const swap = h(
    'button',
    {hidden: true, 'data-role': 'swap', 'aria-pressed': 'false', onclick: () => flip()},
    'Show before',
  );
  heading.append(
    h(
      'div',
      {class: 'row push'},
      select('Layout', METHODS, 'method', load),
      select('Model version', names, 'model', load),
      select('Compare with', [['', 'no comparison'], ...names.slice(1)], 'other', load),
      swap,
    ),
  );
  main.append(
    h(
      'div',
      {class: 'columns'},
      h(
        'section',
        {class: 'sheet', 'aria-label': 'Map'},
        h(
          'div',
          {class: 'row'},
          h('span', {class: 'soft small'}, 'Colour by'),
          select('Colour by', COLOURINGS, 'by', guarded(recolour)),
          search,
        ),
        plot,
        note,
        legend,
      ),
      h('aside', {class: 'stack'}, side),
    ),
  );
  const byId = new Map(intents.map(intent => [intent.id, intent]));

  async function load(begun = null) {
    note.textContent = 'Loading the map …';
    S.compared = null;
    S.known.clear();
    swap.hidden = true;
    S.side = 'after';
    S.marked = [];
    cancelAnimationFrame(S.moving);
    delete plot.dataset.moving;
    nameSwap();
    try {
      const [Plotly, points] = await (begun ??
        Promise.all([plotly(), V.other ? comparedPoints() : points_()]));
      Object.assign(S, points);
      await draw(Plotly);
      drawNote();
      drawSide();
      fetchOthers();
    } catch (error) {
      offerLayout(error);
    }
  }
  async function points_() {
    const info = await call(`${base}/map?${asked({})}`);
    return {...info, xy: new Float32Array(await binary(`${base}/map/xy?${asked({order: info.order})}`))};
  }
  async function comparedPoints() {
    const found = await call(
      `${base}/map/compare?${new URLSearchParams({before: V.other, after: V.model || String(context.status.champion ?? 0), method: V.method})}`,
    );
    S.compared = found;
    S.places = {
      before: Float32Array.from(found.before_xy.flat()),
      after: Float32Array.from(found.after_xy.flat()),
    };
    swap.hidden = false;
    return {
      ids: found.ids,
      xy: S.places.after,
      order: found.order,
      missing: found.missing,
      revision: found.revision,
      model: found.after,
    };
  }

  async function colours() {
    const [shown, state] = await Promise.all([
      codesBy(V.by),
      S.ids.length <= MOST_SHAPES ? codesBy('label state') : null,
    ]);
    Object.assign(S, shown);
    S.labelled = state && Array.from(state.codes, code => state.legend[code].name !== 'unlabelled');
  }
  // Each way of colouring is fetched once until a label changes; the dear ones while nobody waits.
  function codesBy(by) {
    if (!S.known.has(by)) {
      const found = fetchCodes(by);
      S.known.set(by, found);
      found.catch(() => S.known.delete(by));
    }
    return S.known.get(by);
  }
  async function fetchOthers() {
    const needModel = new Set(['prediction', 'agreement']);
    for (const [by] of COLOURINGS) if (S.model || !needModel.has(by)) await codesBy(by).catch(() => {});
  }
  async function fetchCodes(by) {
    const wanted = S.compared ? {model: S.compared.after, other: S.compared.before} : {};
    const buffer = await binary(`${base}/map/colours?${asked({by, order: S.order, ...wanted})}`);
    const length = new DataView(buffer).getUint32(0, true);
    return {
      legend: JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))).legend,
      codes: new Uint16Array(buffer, 4 + length),
    };
  }
  const split = xy => {
    const n = xy.length / 2,
      x = new Float32Array(n),
      y = new Float32Array(n);
    for (let i = 0; i < n; i += 1) {
      x[i] = xy[2 * i];
      y[i] = xy[2 * i + 1];
    }
    return [x, y];
  };
  const scale = () =>
    S.legend.length < 2
      ? [
          [0, S.legend[0]?.colour ?? '#888'],
          [1, S.legend[0]?.colour ?? '#888'],
        ]
      : S.legend.map((entry, place) => [place / (S.legend.length - 1), entry.colour]);
  const opacity = () =>
    S.hidden.size ? Array.from(S.codes, code => (S.hidden.has(code) ? 0.04 : 0.85)) : 0.85;

  async function draw(Plotly) {
    await colours();
    const [x, y] = split(S.xy);
    const ink = getComputedStyle(plot).color;
    await Plotly.newPlot(
      plot,
      [
        {
          type: 'scattergl',
          mode: 'markers',
          hoverinfo: 'none',
          x,
          y,
          marker: {
            size: S.ids.length > 8000 ? 4 : 7,
            color: S.codes,
            colorscale: scale(),
            cmin: 0,
            cmax: Math.max(1, S.legend.length - 1),
            opacity: opacity(),
            symbol: symbols(),
          },
        },
        {
          type: 'scattergl',
          mode: 'markers',
          hoverinfo: 'skip',
          x: [],
          y: [],
          marker: {size: 13, symbol: 'circle-open', color: ink, line: {width: 2.5}},
          unselected: {marker: {opacity: 1}},
        },
      ],
      {
        dragmode: 'lasso',
        uirevision: 'keep',
        showlegend: false,
        margin: {l: 0, r: 0, t: 0, b: 0},
        paper_bgcolor: 'transparent',
        plot_bgcolor: 'transparent',
        hovermode: 'closest',
        font: {color: ink},
        modebar: {color: ink, bgcolor: 'transparent'},
        // Both maps of a comparison lie in one unit box: the axes hold still while the points move.
        xaxis: {visible: false, ...(S.compared ? {range: BOX} : {})},
        yaxis: {visible: false, scaleanchor: 'x', ...(S.compared ? {range: BOX} : {})},
      },
      CONFIG,
    );
    plot.removeAllListeners?.('plotly_selected');
    plot.on(
      'plotly_selected',
      event =>
        event && pick(event.points.filter(point => point.curveNumber === 0).map(point => point.pointIndex)),
    );
    plot.on('plotly_click', event => {
      const point = event.points.find(one => one.curveNumber === 0);
      if (point) guarded(neighbours)(S.ids[point.pointIndex]);
    });
    plot.on('plotly_hover', event => {
      const point = event.points.find(one => one.curveNumber === 0);
      if (point) hover(S.ids[point.pointIndex]);
    });
    plot.dataset.ready = 'true';
    drawLegend();
  }
  // Shape tells labelled from unlabelled where the number of points allows a shape each.
  function symbols() {
    return S.labelled ? S.labelled.map(is => (is ? 'circle' : 'diamond')) : 'circle';
  }

  async function recolourAfresh() {
    S.known.clear();
    await recolour();
  }
  async function recolour() {
    S.hidden.clear();
    await colours();
    await window.Plotly.restyle(
      plot,
      {
        'marker.color': [S.codes],
        'marker.colorscale': [scale()],
        'marker.cmax': [Math.max(1, S.legend.length - 1)],
        'marker.opacity': [opacity()],
        'marker.symbol': [symbols()],
      },
      [0],
    );
    drawLegend();
  }
  function drawLegend() {
    fill(
      legend,
      ...S.legend.map((entry, code) =>
        h(
          'button',
          {
            class: 'chip',
            style: {'--dot': entry.colour},
            'aria-pressed': String(!S.hidden.has(code)),
            onclick: () => {
              S.hidden.has(code) ? S.hidden.delete(code) : S.hidden.add(code);
              window.Plotly.restyle(plot, {'marker.opacity': [opacity()]}, [0]);
              drawLegend();
            },
          },
          entry.name,
          h('span', {class: 'soft'}, number(entry.count)),
        ),
      ),
    );
  }
  function drawNote() {
    const parts = [h('span', {}, `${plural(S.ids.length, 'point')}`)];
    if (S.compared) {
      const [a, b] = S.compared.silhouettes;
      parts.push(
        h(
          'span',
          {'data-role': 'side'},
          `places ${S.side}: ${names.find(([value]) => value === String(S.compared[S.side]))?.[1] ?? ''}`,
        ),
        h(
          'span',
          {'data-role': 'silhouettes'},
          `silhouette by intent: ${a?.toFixed(3) ?? '–'} before, ${b?.toFixed(3) ?? '–'} after`,
        ),
      );
    }
    if (S.missing)
      parts.push(
        h('span', {class: 'warn'}, `${plural(S.missing, 'utterance')} not on this map`),
        h('button', {class: 'plain', onclick: guarded(startLayout)}, 'Compute them'),
      );
    fill(note, ...parts);
  }
  function offerLayout(error) {
    const name = METHODS.find(([value]) => value === V.method)[1];
    fill(
      note,
      h(
        'span',
        {class: error.status === 404 && V.method !== 'pca' ? '' : 'bad'},
        error.status === 404 && V.method !== 'pca'
          ? `${name} has not been computed for this version.`
          : `${error.message} ${error.hint ?? ''}`,
      ),
      V.method !== 'pca' && h('button', {onclick: guarded(startLayout)}, `Compute ${name}`),
    );
  }
  async function startLayout() {
    const wanted = V.other ? [V.other, V.model] : [V.model];
    for (const model of wanted)
      await call(`${base}/map/layout`, {
        method: 'POST',
        body: {method: V.method, model: model === '' ? null : Number(model)},
      });
    await context.refresh();
    watchJob();
  }
  function watchJob() {
    S.watching = true;
    fill(
      note,
      h(
        'span',
        {},
        `computing: ${context.status.job?.stage ?? 'waiting'} `,
        context.status.job && duration(context.status.job.eta_seconds),
      ),
      h('div', {class: 'bar'}, h('i', {style: {width: `${100 * (context.status.job?.progress ?? 0)}%`}})),
    );
  }

  // The outline goes once it has chosen: it would keep the points under it from being clicked.
  function pick(places) {
    window.Plotly.update(plot, {selectedpoints: [places]}, {selections: []}, [0]);
    S.picked = places.map(place => S.ids[place]);
    guarded(drawPicked)();
  }
  async function drawPicked() {
    const shown = S.picked.slice(0, 100);
    const found = shown.length
      ? await call(`${base}/utterances/by-ids`, {method: 'POST', body: {ids: shown}})
      : [];
    const finder = intentFinder({
      intents: () => intents.filter(intent => !intent.archived),
      label: `Label ${plural(S.picked.length, 'utterance')} as …`,
      pick: intent => act('label', intent.id, `labelled ${intent.name}`),
    });
    fill(
      side,
      h(
        'div',
        {class: 'row'},
        h(
          'h2',
          {style: {margin: 0}, 'data-role': 'picked'},
          `${plural(S.picked.length, 'utterance')} selected`,
        ),
        h(
          'button',
          {
            class: 'plain push',
            onclick: () => {
              S.picked = [];
              drawSide();
              window.Plotly.restyle(plot, {selectedpoints: [null]});
            },
          },
          'Clear',
        ),
      ),
      finder.element,
      h(
        'div',
        {class: 'row', style: {margin: '10px 0'}},
        h('button', {onclick: guarded(() => act('out-of-scope', '', 'out of scope'))}, 'Out of scope'),
        h('button', {onclick: guarded(() => act('flag', 'from the map', 'flagged'))}, 'Flag'),
      ),
      h(
        'ul',
        {class: 'last', style: {'max-height': '420px', overflow: 'auto'}},
        found.map(row =>
          h(
            'li',
            {},
            h(
              'div',
              {},
              h('div', {}, row.text),
              row.labels === null
                ? h('span', {class: 'soft small'}, 'no label')
                : row.labels.length
                  ? row.labels.map(id => chip(byId.get(id)))
                  : h('span', {class: 'chip oos'}, 'out of scope'),
            ),
          ),
        ),
      ),
      S.picked.length > shown.length &&
        h('p', {class: 'soft'}, `and ${number(S.picked.length - shown.length)} more`),
    );
  }
  const act = guarded(async (kind, value, said) => {
    const done = await call(base + '/edits', {
      method: 'POST',
      body: {filter: {ids: S.picked}, kind, value, expected: S.picked.length},
    });
    toast(`${plural(done.changed, 'utterance')} ${said}.`, 'Undo on the Data page takes it back.', 'good');
    await recolourAfresh();
    await drawPicked();
    await context.refresh();
  });

  let hovered = '';
  const hover = guarded(async id => {
    hovered = id;
    if (!S.rows.has(id)) {
      const [row] = await call(`${base}/utterances/by-ids`, {method: 'POST', body: {ids: [id]}});
      S.rows.set(id, row);
    }
    const row = S.rows.get(id);
    if (row && hovered === id)
      fill(
        note,
        h('span', {style: {color: 'var(--ink)', 'font-size': '15px'}}, row.text),
        row.labels?.length ? row.labels.map(key => chip(byId.get(key))) : null,
      );
  });
  async function neighbours(id) {
    const [row] = await call(`${base}/utterances/by-ids`, {method: 'POST', body: {ids: [id]}});
    if (!row) return;
    const [examples, others] = await Promise.all([
      call(base + '/similar', {method: 'POST', body: {texts: [row.text], n: 6, unlabelled: false}}),
      call(base + '/similar', {method: 'POST', body: {texts: [row.text], n: 6, unlabelled: true}}),
    ]).catch(() => [[], []]);
    const list = (title, found) => [
      h('h3', {style: {'margin-top': '12px'}}, title),
      h(
        'ul',
        {class: 'last'},
        found
          .filter(one => one.record.id !== id)
          .map(one =>
            h(
              'li',
              {},
              h(
                'div',
                {},
                h('div', {}, one.record.text),
                h(
                  'div',
                  {class: 'row small soft'},
                  (one.record.labels ?? []).map(key => chip(byId.get(key))),
                  `similarity ${one.cosine.toFixed(2)}`,
                ),
              ),
            ),
          ),
      ),
    ];
    window.Plotly.restyle(plot, {selectedpoints: [null]}, [0]);
    mark([id, ...examples.map(one => one.record.id), ...others.map(one => one.record.id)]);
    fill(
      side,
      h('h2', {}, row.text),
      h(
        'div',
        {class: 'row'},
        row.labels === null
          ? h('span', {class: 'soft'}, 'no label')
          : row.labels.map(key => chip(byId.get(key))),
        h(
          'a',
          {class: 'button push', href: address('try', context.project, {text: row.text})},
          'Why this answer',
        ),
      ),
      list('Nearest examples', examples),
      list('Nearest without a label', others),
    );
  }
  function mark(ids) {
    const wanted = new Set(ids);
    S.marked = [...S.ids.keys()].filter(place => wanted.has(S.ids[place]));
    const [x, y] = marked();
    window.Plotly.restyle(plot, {x: [x], y: [y]}, [1]);
  }
  const marked = () => [0, 1].map(axis => S.marked.map(place => S.xy[2 * place + axis]));
  async function highlight() {
    if (!search.value.trim()) {
      mark([]);
      return;
    }
    const found = await call(`${base}/utterances?${new URLSearchParams({text: search.value, size: 500})}`);
    mark(found.rows.map(row => row.id));
    note.textContent = `${plural(found.total, 'utterance')} with “${search.value}”${found.total > 500 ? '; the first 500 are marked' : ''}`;
  }
  function nameSwap() {
    swap.setAttribute('aria-pressed', String(S.side === 'before'));
    swap.textContent = S.side === 'after' ? 'Show before' : 'Show after';
  }
  function flip() {
    S.side = S.side === 'after' ? 'before' : 'after';
    nameSwap();
    drawNote();
    cancelAnimationFrame(S.moving);
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches || S.ids.length > MOST_MOVING;
    if (still) {
      place(S.places[S.side]);
      return;
    }
    move(S.xy, S.places[S.side]);
  }
  // A click in mid-way turns round from where the points are.
  function move(from, to) {
    const began = performance.now();
    const step = async now => {
      const share = Math.min(1, Math.max(0, (now - began) / MOVE)),
        eased = share * share * (3 - 2 * share);
      await place(share === 1 ? to : from.map((value, at) => value + eased * (to[at] - value)));
      if (share < 1 && to === S.places[S.side]) S.moving = requestAnimationFrame(step);
    };
    plot.dataset.moving = 'true';
    S.moving = requestAnimationFrame(step);
  }
  function place(xy) {
    S.xy = xy;
    if (xy === S.places[S.side]) delete plot.dataset.moving;
    const [x, y] = split(xy),
      [mx, my] = marked();
    return window.Plotly.restyle(plot, {x: [x, mx], y: [y, my]}, [0, 1]);
  }
  function drawSide() {
    if (!S.compared) {
      fill(
        side,
        h('h2', {}, 'Selection'),
        h(
          'p',
          {class: 'soft'},
          'Draw a lasso around points to label them together. Click a point for its neighbours.',
        ),
      );
      return;
    }
    fill(
      side,
      h('h2', {}, 'Moved most'),
      h(
        'ol',
        {class: 'last', 'data-role': 'moved'},
        S.compared.moved.map(one =>
          h(
            'li',
            {},
            h(
              'button',
              {class: 'plain', style: {'text-align': 'left'}, onclick: () => mark([one.id])},
              h(
                'span',
                {},
                one.text,
                h(
                  'div',
                  {class: 'soft small'},
                  `${one.intents.join(', ') || 'no label'}; ${Math.round(100 * one.change)} % of its neighbours are others now`,
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }
  context.onStatus((status, before) => {
    if (S.watching) {
      if (status.job) watchJob();
      else {
        S.watching = false;
        load();
      }
      return;
    }
    if (before && before.champion !== status.champion && !V.model) load();
    else if (before && before.revision !== status.revision && S.codes) guarded(recolourAfresh)();
  });
  drawSide();
  await load(early);
}
