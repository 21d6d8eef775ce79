// Controls of the page that stand one over the other with less than four pixels between them.
() => {
  const shown = [...document.querySelectorAll('.content :is(button, .button, select, textarea, input, summary)')]
    .filter(one => one.checkVisibility() && !one.matches('.hidden-text'))
    .map(one => ({one, box: one.getBoundingClientRect()}));
  const name = one => (one.getAttribute('aria-label') ?? one.innerText ?? one.name).trim().slice(0, 40);
  return shown.flatMap(upper =>
    shown
      .filter(lower => lower !== upper && !upper.one.contains(lower.one) && !lower.one.contains(upper.one))
      .filter(({box}) => box.left < upper.box.right && upper.box.left < box.right)
      .filter(({box}) => box.top >= upper.box.top && box.top - upper.box.bottom < 4 && box.bottom > upper.box.bottom)
      .map(lower => `${name(upper.one)} / ${name(lower.one)}`),
  );
};
