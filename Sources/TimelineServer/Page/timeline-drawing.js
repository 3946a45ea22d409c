// Draws the timeline as SVG. All bars of one shade are one path, so the number of nodes stays bounded.
// Height says the same as shade, and removals hang below the line: nothing depends on colour alone.

import { svg } from "./elements.js";
import { clock } from "./dates.js";
import { escaped, shortened } from "./names.js";
import { ticks } from "./scale.js";

/** The layout, in pixels from the top. */
export const height = { lane: 22, top: 26, base: 84, bottom: 100, versions: 84, sessions: 106, axis: 128, whole: 138 };

const shades = 4;
const round = (value) => Math.round(value * 10) / 10;

export function drawTimeline(view, contents, marks, versions) {
  const x = (time) => ((time - view.from) / (view.to - view.from)) * view.width;
  const picture = svg("svg", { width: view.width, height: height.whole, "aria-hidden": "true", focusable: "false" });
  picture.append(hatching());
  const tags = momentTags(view, marks, x);
  if (contents) drawAxis(picture, view, x, tags);
  if (contents) {
    drawGaps(picture, view, contents, x);
    drawBars(picture, contents, x);
    drawSessions(picture, view, contents, x);
  }
  picture.append(svg("line", { class: "base", x1: 0, x2: view.width, y1: height.base + 0.5, y2: height.base + 0.5 }));
  if (contents) drawMarks(picture, view, contents, x);
  drawVersions(picture, view, versions, x);
  drawMoments(picture, tags);
  return picture;
}

function hatching() {
  return svg("defs", {}, svg("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    svg("path", { class: "hatch", d: "M-1 1 1 -1 M0 6 6 0 M5 7 7 5" })));
}

function drawAxis(picture, view, x, tags) {
  const lines = { minor: "", major: "" };
  const labels = svg("g", { class: "axis" });
  for (const { time, text, isMajor } of ticks(view.from, view.to, Math.max(3, view.width / 90))) {
    const at = round(x(time));
    lines[isMajor ? "major" : "minor"] += `M${at} ${height.top - 4}V${height.sessions + 6}`;
    // Half of the label's width: a date like "Sat 28 Nov" is twice as wide as "12:00".
    const half = text.length * 3.5 + 4;
    // A tag at a moment would hide the end of a label.
    const isFree = tags.every((tag) => at + half < tag.left || at - half > tag.left + tag.wide);
    if (at > half && at < view.width - half && isFree) {
      labels.append(svg("text", { x: at, y: height.axis, class: isMajor ? "major" : "", "text-anchor": "middle" }, text));
    }
  }
  picture.append(
    svg("path", { class: "grid", d: lines.minor }), svg("path", { class: "grid major", d: lines.major }), labels);
}

function drawGaps(picture, view, contents, x) {
  for (const gap of merged(contents.gaps, view, x)) {
    picture.append(svg("rect", {
      class: "gap", x: gap.left, y: height.top, width: Math.max(2, gap.right - gap.left), height: height.bottom - height.top,
    }));
  }
}

function drawBars(picture, contents, x) {
  const up = Array(shades).fill("");
  let down = "";
  const most = Math.max(4, ...contents.buckets.map((bucket) => Math.max(bucket.added + bucket.modified, bucket.removed)));
  // Logarithmic, so that one saved file stays visible beside a program's thousand.
  const part = (count) => Math.log1p(count) / Math.log1p(most);
  for (const bucket of contents.buckets) {
    const left = round(x(bucket.start) + 0.5);
    const wide = round(Math.max(2, x(bucket.start + contents.width) - x(bucket.start) - 1));
    const churn = bucket.added + bucket.modified;
    // A snapshot without changed files (only permissions, say) gets a bar, too.
    const tall = round(churn ? 4 + part(churn) * (height.base - height.top - 4) : bucket.removed ? 0 : 2);
    const shade = Math.min(shades - 1, Math.floor(part(churn) ** 2 * shades));
    if (tall) up[shade] += `M${left} ${height.base}v${-tall}h${wide}v${tall}z`;
    if (bucket.removed) {
      const deep = round(3 + part(bucket.removed) * (height.bottom - height.base - 3));
      down += `M${left} ${height.base + 1}v${deep}h${wide}v${-deep}z`;
    }
  }
  up.forEach((path, shade) => path && picture.append(svg("path", { class: `bar shade-${shade}`, d: path })));
  if (down) picture.append(svg("path", { class: "bar removed", d: down }));
}

function drawSessions(picture, view, contents, x) {
  let path = "";
  for (const session of merged(contents.work, view, x)) {
    path += `M${session.left} ${height.sessions}H${Math.max(session.left + 3, session.right)}`;
  }
  picture.append(svg("path", { class: "sessions", d: path }));
}

/** Returns the spans in view in pixels; adjacent ones are merged, which bounds their number. */
function merged(spans, view, x) {
  const found = [];
  for (const span of [...spans].sort((one, other) => one.from - other.from)) {
    if (span.end < view.from || span.start > view.to) continue;
    const left = round(Math.max(-4, x(span.start)));
    const right = round(Math.min(view.width + 4, x(span.end)));
    const before = found.at(-1);
    if (before && left - before.right < 2) before.right = Math.max(before.right, right);
    else found.push({ left, right });
  }
  return found;
}

function drawMarks(picture, view, contents, x) {
  const all = [
    ...contents.labels.map((label) => ({ time: label.time, sign: "◆", text: label.label, name: "label" })),
    ...contents.restores.map((restore) => ({ time: restore.time, sign: "↶", text: "", name: "restore" })),
  ].filter((mark) => mark.time >= view.from && mark.time <= view.to).sort((one, other) => one.time - other.time);
  for (let index = 0; index < all.length;) {
    const at = round(x(all[index].time));
    let next = index;
    while (next < all.length && x(all[next].time) < at + 14) next += 1;
    drawFlag(picture, all.slice(index, next), at, next < all.length ? x(all[next].time) : view.width, x);
    index = next;
  }
}

/** Draws marks that are close together as one flag with their number. */
function drawFlag(picture, marks, at, end, x) {
  for (const mark of marks) {
    picture.append(svg("path", { class: `mark-line ${mark.name}`, d: `M${round(x(mark.time))} ${height.lane - 4}V${height.base}` }));
  }
  const labels = marks.filter((mark) => mark.text).map((mark) => mark.text);
  const first = marks.find((mark) => mark.text) ?? marks[0];
  const room = Math.floor((end - at - 22) / 6.6);
  // If the room fits only a few letters, show just the sign: the line below has the label.
  const words = [shortened(labels[0] ?? "", Math.max(8, Math.min(room, 40))), marks.length > 1 ? `(${marks.length})` : ""].filter(Boolean).join(" ");
  const text = room >= words.length && words ? " " + words : "";
  picture.append(svg("text", { class: `flag ${first.name}`, x: at, y: 14, "text-anchor": "start" },
    svg("tspan", { class: "sign", dx: -5 }, first.sign), text && svg("tspan", {}, text),
    labels.length && svg("title", { text: labels.slice(0, 10).map(escaped).join("; ") })));
}

function drawVersions(picture, view, versions, x) {
  let path = "";
  let last = -Infinity;
  for (const time of [...versions].sort((one, other) => one - other)) {
    const at = round(x(time));
    if (at < -4 || at > view.width + 4 || at - last < 9) continue;
    last = at;
    path += `M${at} ${height.versions - 4}l4.5 4.5l-4.5 4.5l-4.5 -4.5z`;
  }
  if (path) picture.append(svg("path", { class: "versions", d: path }));
}

/** Returns the tags at the moments in view; none hides another. */
function momentTags(view, marks, x) {
  const pill = (name, time) => {
    const text = `${name === "B" ? "shown" : "compared"} ${clock(time)}`;
    const wide = name === "B" ? 110 : 132;
    const at = round(x(time));
    const left = Math.min(view.width - wide - 1, Math.max(1, at - wide / 2));
    return { at, left, wide, text, name };
  };
  const b = marks.b === null ? null : pill("B", marks.b);
  const a = marks.a === null ? null : pill("A", marks.a);
  const isIn = (moment) => moment && moment.at >= -1 && moment.at <= view.width + 1;
  // If A and B overlap, put them side by side in the order of their times.
  if (isIn(a) && isIn(b) && a.left < b.left + b.wide + 2 && b.left < a.left + a.wide + 2) {
    const isBefore = marks.a <= marks.b;
    a.left = isBefore ? b.left - a.wide - 2 : b.left + b.wide + 2;
    if (a.left < 1) [a.left, b.left] = [1, a.wide + 3];
    if (a.left + a.wide > view.width) [a.left, b.left] = [view.width - a.wide - 1, view.width - a.wide - b.wide - 3];
  }
  return [a, b].filter(isIn);
}

function drawMoments(picture, tags) {
  for (const moment of tags) {
    picture.append(svg("g", { class: `moment ${moment.name.toLowerCase()}` },
      svg("path", { d: `M${moment.at} ${height.lane - 6}V${height.axis - 14}` }),
      svg("rect", { x: moment.left, y: height.axis - 14, width: moment.wide, height: 20, rx: 4 }),
      svg("text", { x: moment.left + moment.wide / 2, y: height.axis, "text-anchor": "middle" }, moment.text)));
  }
}

/** Draws the strip below: the whole history, and the part in view. */
export function drawOverview(view, extent, contents, marks, versions) {
  const tall = 20;
  const picture = svg("svg", { width: view.width, height: tall, focusable: "false" });
  if (!extent || extent.first === null) return picture;
  const whole = Math.max(1, extent.last - extent.first);
  const x = (time) => ((time - extent.first) / whole) * view.width;
  let path = "";
  const most = Math.max(1, ...(contents?.buckets ?? []).map((bucket) => bucket.snapshots));
  for (const bucket of contents?.buckets ?? []) {
    const high = round(2 + (Math.log1p(bucket.snapshots) / Math.log1p(most)) * (tall - 5));
    path += `M${round(x(bucket.start))} ${tall}v${-high}h${round(Math.max(1, x(extent.first + contents.width) - 0.5))}v${high}z`;
  }
  picture.append(svg("path", { class: "bar", d: path }));
  let dots = "";
  let last = -Infinity;
  for (const time of versions.toSorted((one, other) => one - other)) {
    if (x(time) - last < 6) continue;
    last = x(time);
    dots += `M${round(last)} 2l3 3l-3 3l-3 -3z`;
  }
  if (dots) picture.append(svg("path", { class: "versions", d: dots }));
  const left = Math.max(0, Math.min(view.width - 8, x(view.from)));
  const right = Math.min(view.width, Math.max(left + 8, x(view.to)));
  picture.append(svg("rect", { class: "window", x: left + 0.5, y: 0.5, width: right - left - 1, height: tall - 1, rx: 3 }));
  if (marks.b !== null) picture.append(svg("path", { class: "here", d: `M${round(x(marks.b))} 0V${tall}` }));
  return picture;
}
