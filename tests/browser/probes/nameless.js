// Controls without a name that a screen reader could say.
() => [...document.querySelectorAll('.studio :is(button, a, input, select, textarea)')]
  .filter(one => one.checkVisibility() && !(one.getAttribute('aria-label') || one.innerText?.trim()
    || one.labels?.length || one.title || one.querySelector?.('img[alt]')))
  .map(one => one.outerHTML.slice(0, 120))
