// Things done one after the other: each begins when the one before it has ended, well or not.
export class Turns {
  ended = Promise.resolve(); // as soon as all have

  take(act) {
    const done = this.ended.then(act);
    this.ended = done.catch(() => {});
    return done;
  }
}
