// Clocks inside the page. A frame is on the screen when a task runs that its animation frame queued.
window.painted = () => new Promise(done => requestAnimationFrame(() => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done(performance.now());
  channel.port2.postMessage(0);
}));

const find = selector => document.querySelector(selector);

// What was measured; and when the keys were pressed whose decisions are not saved yet.
window.clocks = {next: [], durable: [], rows: []};
const pressed = [];

// A key that decided has changed the card when all listeners have run; another one is not measured.
let before = null;
addEventListener('keydown', () => { before = find('[data-role=utterance]')?.dataset.id; }, true);
addEventListener('keydown', async event => {
  const text = find('[data-role=utterance]');
  if (!text || text.dataset.id === before) return;
  pressed.push(event.timeStamp);
  clocks.next.push(await painted() - event.timeStamp);
});

const plainFetch = window.fetch;
window.fetch = async (...given) => {
  const began = performance.now();
  const answer = await plainFetch(...given);
  const path = String(given[0]), body = answer.clone();
  if (path.endsWith('/ops')) {
    for (const outcome of await body.json()) {
      const key = pressed.shift();
      if (outcome.state === 'saved' && key !== undefined) clocks.durable.push(performance.now() - key);
    }
  } else if (path.includes('/utterances?')) {
    await body.arrayBuffer();
    clocks.rows.push(performance.now() - began);
  }
  return answer;
};

// Acts, and returns how long it took until a frame shows that a node was drawn anew.
async function drawn(node, act, right = () => true) {
  let is = false;
  const observer = new MutationObserver(() => { is = right(); });
  observer.observe(node, {childList: true});
  const began = performance.now();
  act();
  while (!is) await new Promise(done => { setTimeout(done, 1); });
  observer.disconnect();
  return await painted() - began;
}
const captioned = words => [...document.querySelectorAll('label')].find(label => label.textContent.startsWith(words));
const put = (field, value) => {
  field.value = value;
  field.dispatchEvent(new Event(field.matches('select') ? 'change' : 'input', {bubbles: true}));
};

window.bench = {
  health: async () => {
    const began = performance.now();
    await (await plainFetch('/api/health')).json();
    return performance.now() - began;
  },
  rows: ([selector, value]) => drawn(find('[data-role=utterances] tbody'), () => put(find(selector), value)),
  turn: () => {
    const next = [...document.querySelectorAll('button')].find(button => button.textContent === 'Next');
    return drawn(find('[data-role=utterances] tbody'), () => next.click());
  },
  answer: text => drawn(find('[data-role=answer]'), () => put(find('textarea'), text), () => find('[data-role=answer] .chip')),
  recolour: async by => {
    const zoom = () => find('.map').probe().zoom, before = zoom();
    const spent = await drawn(find('.legend ul'), () => put(captioned('Colour by').querySelector('select'), by));
    return [spent, zoom() === before];
  },
  // The next page reads when it was asked for.
  markClick: () => addEventListener('click', () => sessionStorage.setItem('clicked', Date.now()), true),
  sinceClick: async () => { await painted(); return Date.now() - Number(sessionStorage.getItem('clicked')); },
};
