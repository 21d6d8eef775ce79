// Runs tasks one after the other: each begins when the previous one has succeeded or failed.
export class Turns {
  ended = Promise.resolve(); // resolves when all tasks have ended

  take(act) {
    const done = this.ended.then(act);
    this.ended = done.catch(() => {});
    return done;
  }
}
