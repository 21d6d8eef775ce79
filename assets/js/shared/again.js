// What the server still counts is asked for again after a pause, until an answer says that all is counted. A request in
// vain is no such answer.
export class Again {
  #pause; // milliseconds
  #look;
  #isCounting = false;
  #timer = 0;

  // `look` asks, or does nothing while that cannot be seen.
  constructor(pause, look) {
    this.#pause = pause;
    this.#look = look;
  }

  // To be called with each answer.
  follow(isCounting) {
    clearTimeout(this.#timer);
    this.#isCounting = isCounting;
    this.#timer = isCounting ? setTimeout(() => this.#ask(), this.#pause) : 0;
  }

  async #ask() {
    this.#timer = 0;
    try {
      await this.#look();
    } catch {
      // the next look may succeed
    }
    if (this.#isCounting && !this.#timer) this.follow(true);
  }
}
