// Links that open one receipt or one report for reading: make one, list them, stop sharing.
import {inStudio} from './address.js';
import {fill, h, select, since} from './elements.js';
import {guarded, once, toast} from './messages.js';
import {call, post} from './rest.js';

const STANDARD = '30';
const NOBODY = 'local'; // where nobody logs in
const DAYS = [
  ['7', 'for 7 days'],
  ['30', 'for 30 days'],
  ['90', 'for 90 days'],
  ['', 'without an end'],
];
const COPY_IT = 'Copy it now: below it is only listed, so that you can stop it.';
const FOR_OTHERS = 'For anybody else, send the PDF or the HTML file.';

export class Sharing {
  element = h('div', {class: 'below', 'data-role': 'sharing'});
  #base;
  #what; // {kind, target}
  #page; // the page's address and who can reach it
  #days = select({'aria-label': 'How long the link opens', 'data-key': 'days'}, DAYS, STANDARD);
  #made = h('div');
  #list = h('div');
  #asked = 0; // number of the newest request; older answers are dropped

  constructor(base, what, page) {
    this.#base = `${base}/shares`;
    this.#what = what;
    this.#page = page;
    const share = h('button', {'data-key': 'share', onclick: once(() => this.#share())}, 'Make a link');
    const reaches = page.reaches_others;
    const words = `Share this ${what.kind} by a link that opens`;
    // On one computer nobody else can open it, so there is nothing to end.
    const form = reaches ? h('div', {class: 'row tight'}, words, this.#days, share) : h('div', {class: 'row'}, share);
    const reach = h('p', {class: 'small soft', 'data-role': 'reach-of-link'}, reaches ? page.reach : FOR_OTHERS);
    fill(this.element, reaches ? [form, reach] : [reach, folded(form)], this.#made, this.#list);
  }

  async start() {
    const asked = (this.#asked += 1);
    const links = await call(this.#base);
    if (asked === this.#asked) this.#show(links);
    return this;
  }

  async #share() {
    const days = this.#page.reaches_others && this.#days.value ? Number(this.#days.value) : null;
    const {link} = await post(this.#base, {...this.#what, days});
    fill(this.#made, this.#linkOf(new URL(link, location.origin).href));
    await this.start();
  }

  #linkOf(address) {
    const box = h('input', {
      type: 'text',
      value: address,
      readonly: true,
      'aria-label': `Link to the ${this.#what.kind}`,
      'data-role': 'link',
      style: {width: '100%'},
      onfocus: event => event.target.select(),
    });
    const copy = guarded(async () => {
      box.select();
      await navigator.clipboard.writeText(address);
      toast('Copied.', this.#page.reach, this.#page.reaches_others ? 'good' : 'warn');
    });
    return [
      h(
        'div',
        {class: 'row tight'},
        h('div', {style: {flex: '1 1 220px'}}, box),
        navigator.clipboard && h('button', {onclick: copy}, 'Copy'), // by http browsers offer none
      ),
      this.#page.reaches_others &&
        h('p', {class: 'small soft'}, `${COPY_IT} It opens this ${this.#what.kind} and nothing else.`),
    ];
  }

  #show(links) {
    const here = ({kind, target}) => kind === this.#what.kind && target === this.#what.target;
    const mine = links.filter(here);
    const others = links.filter(link => !here(link));
    fill(
      this.#list,
      mine.length > 0 && [h('h3', {}, `Links to this ${this.#what.kind}`), this.#lines(mine)],
      others.length > 0 &&
        h(
          'details',
          {},
          h('summary', {}, `Other links of this project (${others.length})`),
          this.#lines(others),
        ),
    );
  }

  // Words for a link that others can open, and for one that opens on this computer alone.
  #reaches(words, otherwise) {
    return this.#page.reaches_others ? words : otherwise;
  }

  #lines(links) {
    return h(
      'ul',
      {class: 'told', 'data-role': 'links'},
      links.map(link => this.#line(link)),
    );
  }

  #line(link) {
    const {id, kind, target, path, by} = link;
    const {created_at: made, expires_at: end, opened_at: opened} = link;
    const name = kind === 'report' ? `Report about version ${target}` : `Receipt ${target.slice(0, 8)}`;
    const stop = once(async () => {
      await call(`${this.#base}/${id}`, {method: 'DELETE'});
      toast(this.#reaches('Not shared any more.', 'The link is removed.'), 'It opens nothing.', 'good');
      await this.start();
    });
    const words = this.#reaches('Stop sharing', 'Remove the link');
    const facts = [
      by !== NOBODY && `by ${by}, `,
      since(made),
      end ? `, open until ${day(end)}` : this.#reaches(', without an end', ''),
      opened ? [', last opened ', since(opened)] : this.#reaches(', never opened', ''),
    ];
    return h(
      'li',
      {class: 'row tight'},
      h('a', {href: inStudio(path), target: '_blank', rel: 'noopener'}, name),
      h('span', {class: 'soft small'}, facts),
      h('button', {class: 'small push', 'data-key': `stop ${id}`, onclick: stop}, words),
    );
  }
}

// A link that opens for nobody else is no way to share: the files come first, it stands behind.
const folded = form =>
  h('details', {'data-key': 'link here'}, h('summary', {}, 'A link that works only on this computer'), form);

const DAY = {day: 'numeric', month: 'long', year: 'numeric'};
const day = stamp => new Date(stamp).toLocaleDateString('en-GB', DAY);
