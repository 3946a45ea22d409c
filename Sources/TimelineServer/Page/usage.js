// The space that the archive uses: growth, churn by day and by hour of the day, and the largest paths.

import { element, notice, pause } from "./elements.js";
import { bytes, counted, number } from "./amounts.js";
import { chart, ranking } from "./charts.js";
import { date, day, hour, moment } from "./dates.js";
import { openDialog } from "./dialogs.js";
import { errorNotice } from "./detail.js";
import { nameElement } from "./names.js";
import { alignedDown } from "./scale.js";

export async function openUsage(page) {
  const body = element("div", { class: "charts" }, element("p", { class: "muted", text: "Counting…" }));
  const dialog = openDialog("usage", "Space and churn", [body], [], "wide");
  const root = page.position.root;
  try {
    const hours = lastHours(page, root);
    for (;;) {
      const usage = await page.api.get("usage", { root });
      if (!dialog.open) return;
      body.replaceChildren(...content(usage, await hours));
      if (!usage.isCounting) return;
      await pause(1000);
    }
  } catch (error) {
    body.replaceChildren(errorNotice(error));
  }
}

// 384 buckets of an hour: the last sixteen days.
async function lastHours(page, root) {
  const to = alignedDown(Date.now(), hour) + hour;
  const { buckets } = await page.api.get("timeline", { root, from: to - 384 * hour, to, buckets: 384 });
  const sums = Array(24).fill(0);
  for (const bucket of buckets) sums[new Date(bucket.start).getHours()] += bucket.added + bucket.modified + bucket.removed;
  return sums;
}

function content(usage, hours) {
  if (!usage.days.length) return [notice("No snapshot yet: run archiver watch DIR.")];
  let sum = 0;
  const isLong = usage.days.at(-1).day - usage.days[0].day > 300 * day;
  const label = (time) => date(time, isLong).slice(4);
  const growth = usage.days.map((each) => ({ label: label(each.day), value: (sum += each.storedBytes) }));
  const recent = withEmptyDays(usage.days).slice(-90);
  const { room } = usage;
  const meter = element("meter", { min: 0, max: room.totalBytes, value: room.usedBytes, "aria-label": "Part of the disk that the archive uses" });
  const days = usage.dailyBytes > 0 ? Math.floor(room.freeBytes / usage.dailyBytes) : null;
  return [
    element("p", { class: "summary" }, `The archive uses ${bytes(room.usedBytes)}; ${bytes(room.freeBytes)} of ${bytes(room.totalBytes)} are free. `,
      `It grows by ${bytes(usage.dailyBytes)} a day`, days !== null && days < 3650 ? `: there is room for ${counted(days, "day")}.` : "."),
    meter,
    chart("Growth", thinned(growth, 120), bytes, { isArea: true, unit: "Stored in all" }),
    chart("Snapshots by day", recent.map((each) => ({ label: label(each.day), value: each.snapshots })),
      (value) => number(Math.round(value)), { unit: "Snapshots" }),
    chart("Changes by hour of the day, last 16 days", hours.map((value, index) => ({ label: `${index}:00`, value })),
      (value) => number(Math.round(value)), { head: "Hour", unit: "Changes" }),
    usage.failure ? notice(usage.failure) : "",
    usage.limit ? notice("What takes the space is not counted here.", element("p", { class: "muted" },
      `The archive has more than ${number(usage.limit)} snapshots. On a command line, archiver usage counts them.`)) : "",
    usage.isCounting ? element("p", { class: "muted", role: "status", text: usage.items ? `As of ${moment(usage.countedAt)}; counting again…` : "Counting what takes the space…" }) : "",
    !usage.items ? "" : ranking("What takes the space", usage.items.map((path) => ({
      name: nameElement(path.path || "./", "path"), value: path.ownBytes, text: bytes(path.ownBytes), more: number(path.versions),
    })), ["Path", "Stored", "Versions", "Share"]),
  ];
}

/** Reduces points to about `count`, keeping the last one. */
function thinned(points, count) {
  const step = Math.ceil(points.length / count);
  return points.filter((_, index) => (points.length - 1 - index) % step === 0);
}

function withEmptyDays(days) {
  const found = [];
  for (const each of days.slice(-90)) {
    let last = found.at(-1);
    while (last && each.day - last.day > 1.5 * day && found.length < 200) {
      last = { day: last.day + day, snapshots: 0, storedBytes: 0 };
      found.push(last);
    }
    found.push(each);
  }
  return found;
}
