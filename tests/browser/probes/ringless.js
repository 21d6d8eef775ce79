// Controls that look the same with the focus as without it.
() =>
  [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter(at => at.checkVisibility() && !at.disabled && at.type !== 'file')
    .filter(at => {
      at.focus({preventScroll: true});
      const {outlineStyle, outlineWidth} = getComputedStyle(at);
      return document.activeElement === at && (outlineStyle === 'none' || outlineWidth === '0px');
    })
    .map(at => at.outerHTML.slice(0, 120))
