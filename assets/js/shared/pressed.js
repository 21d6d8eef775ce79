// A click is a press and a release on one element: an answer that is drawn between the two would take the element away,
// and the click would do nothing. Answers wait for the release.
const CLICKED = 'button,a,label,summary,input:not([type=range])'; // what is drawn on or dragged is not waited for
const LONGEST_CLICK = 2000; // milliseconds

class Press {
  ended = Promise.resolve();

  begin({target}) {
    if (!target.closest?.(CLICKED)) return;
    this.ended = new Promise(done => {
      const heard = new AbortController();
      const release = () => {
        heard.abort(); // else the listener of the other event would stay, one for each press
        setTimeout(done); // behind the click
      };
      const until = {capture: true, signal: heard.signal};
      for (const name of ['pointerup', 'pointercancel']) document.addEventListener(name, release, until);
      setTimeout(done, LONGEST_CLICK);
    });
  }
}

const press = new Press();
document.addEventListener('pointerdown', event => press.begin(event), true);

export const untilReleased = () => press.ended;
