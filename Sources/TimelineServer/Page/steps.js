// Steps through time, one at a time. Held keys do not pile up: only the last step waits.

import { isAborted } from "./api.js";
import { complain, say } from "./messages.js";

export class Steps {
  #page;
  #isBusy = false;
  #waiting = null;

  constructor(page) {
    this.#page = page;
  }

  /** `unit`: moment, version, session, day, end or last-change; `direction`: -1 earlier, 1 later. */
  async take(unit, direction) {
    if (!this.#page.position.b) return;
    if (this.#isBusy) return void (this.#waiting = [unit, direction]);
    this.#isBusy = true;
    try {
      const found = await this.#find(unit, direction);
      // A snapshot made just now is not announced yet, and the page follows the latest one.
      if (found && unit === "end" && direction > 0) this.#page.latest = found;
      if (found) this.#page.goTo(found);
      else if (unit === "version" || (unit === "moment" && this.#page.position.item)) {
        say(direction < 0 ? "This is the first version." : "There is no later version.");
      }
    } catch (error) {
      if (!isAborted(error)) complain(error);
    } finally {
      this.#isBusy = false;
    }
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting) this.take(...waiting);
  }

  async #find(unit, direction) {
    const { walk, position: { b, item } } = this.#page;
    switch (unit) {
      case "session": return walk.session(b, direction);
      case "day": return walk.day(b, direction);
      case "end": return direction < 0 ? walk.first() : walk.latest();
      case "last-change": return walk.versionAt(item, b).then((version) => version?.snapshot);
      default: return item ? walk.version(item, b, direction) : walk.snapshot(b, direction);
    }
  }
}
