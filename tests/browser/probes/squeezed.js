// Makes every region that may scroll so low that it does, whatever the fonts and texts of a machine.
() =>
  [...document.querySelectorAll('*')]
    .filter(at => {
      const {overflowY, maxHeight} = getComputedStyle(at);
      return maxHeight !== 'none' && ['auto', 'scroll'].includes(overflowY);
    })
    .forEach(at => {
      at.style.minHeight = 0;
      at.style.maxHeight = '30px';
    })
