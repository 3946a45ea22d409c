// The timeline's data source, which reads one root of the server's archive, and the hints for places on the timeline.

import { churn, counted } from "./amounts.js";
import { clock, date, day, minute } from "./dates.js";

export class RootSource {
  #api;
  #root;

  constructor(api, root) {
    this.#api = api;
    this.#root = root;
  }

  get root() {
    return this.#root;
  }

  async extent() {
    const answer = await this.#api.get("timeline", { root: this.#root, buckets: 1 });
    if (!answer.snapshots) return { first: null, last: null, recent: null };
    const sessions = await this.sessions({ limit: 5 }).catch(() => []);
    return { first: answer.first, last: answer.last, recent: sessions.at(-1)?.start ?? answer.first };
  }

  async contents(from, to, width, signal) {
    const query = { root: this.#root, from, to, buckets: Math.round((to - from) / width) };
    const { buckets, labels, restores, gaps, work, bucketMilliseconds } = await this.#api.get("timeline", query, { signal });
    return { buckets, labels, restores, gaps, work, width: bucketMilliseconds || width };
  }

  /** The sessions of a span, newest first unless `order` is "oldest". */
  async sessions(span) {
    return (await this.#api.get("sessions", { root: this.#root, ...span })).sessions;
  }
}

/** The hint beside the pointer. */
export function hint(time, bucket, contents) {
  const gap = contents?.gaps.find((gap) => time >= gap.start && time <= gap.end);
  const end = gap ? `, gap: ${[gap.cause, gap.detail].filter(Boolean).join(": ")}` : "";
  if (!bucket) return `${date(time)}, ${clock(time)}${end}`;
  const until = contents.width >= day ? "" : `–${clock(bucket.start + contents.width, contents.width < minute)}`;
  return `${date(bucket.start)}, ${clock(bucket.start, contents.width < minute)}${until}: ${counted(bucket.snapshots, "snapshot")}, ${churn(bucket)}${end}`;
}
