// The arithmetic of the timeline: zoom steps, bar widths, and the labels of the axis.

import { clock, date, day, hour, minute, months, second } from "./dates.js";

export const zooms = [
  { name: "Year", span: 366 * day },
  { name: "Month", span: 31 * day },
  { name: "Week", span: 7 * day },
  { name: "Day", span: day },
  { name: "Hour", span: hour },
  { name: "Minute", span: minute },
  { name: "Second", span: 10 * second },
];

const widths = [
  50, 100, 200, 500, second, 2 * second, 5 * second, 10 * second, 15 * second, 30 * second,
  minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
  hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day, 364 * day,
];

/** Returns the smallest round width that makes at most `count` bars of `span`. */
export const barWidth = (span, count) =>
  widths.find((width) => span / width <= count) ?? Math.ceil(span / count / (364 * day)) * 364 * day;

/** Rounds down to a bar's start; local midnight is one, except on days when summer time changes. */
export function alignedDown(time, width) {
  const offset = new Date(time).getTimezoneOffset() * minute;
  return Math.floor((time - offset) / width) * width + offset;
}

const steps = [
  second, 2 * second, 5 * second, 10 * second, 15 * second, 30 * second,
  minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour,
];

/** Returns the labelled instants from `from` to `to`, about `count` of them: {time, text, isMajor}. */
export function ticks(from, to, count) {
  const rough = (to - from) / count;
  const step = steps.find((step) => step >= rough);
  if (step) return clockTicks(from, to, step);
  if (rough <= 16 * day) return dayTicks(from, to, Math.max(1, [1, 2, 7, 14].find((days) => days * day >= rough) ?? 16));
  return monthTicks(from, to, [1, 2, 3, 6, 12, 24, 60, 120].find((count) => count * 30.4 * day >= rough) ?? 240);
}

function clockTicks(from, to, step) {
  const found = [];
  for (let time = alignedDown(from, step); time <= to; time += step) {
    if (time < from) continue;
    const text = clock(time, step < minute);
    const isMajor = clock(time) === "00:00:00";
    found.push({ time, text: isMajor ? date(time, false) : text, isMajor });
  }
  return found;
}

function dayTicks(from, to, days) {
  const found = [];
  const at = new Date(from);
  at.setHours(0, 0, 0, 0);
  // Weeks begin on Mondays.
  if (days % 7 === 0) at.setDate(at.getDate() - ((at.getDay() + 6) % 7));
  for (; at.getTime() <= to; at.setDate(at.getDate() + days)) {
    if (at.getTime() < from) continue;
    const isMajor = at.getDate() === 1;
    found.push({ time: at.getTime(), text: `${at.getDate()} ${months[at.getMonth()]}`, isMajor });
  }
  return found;
}

function monthTicks(from, to, count) {
  const found = [];
  const at = new Date(new Date(from).getFullYear(), 0, 1);
  for (; at.getTime() <= to; at.setMonth(at.getMonth() + count)) {
    if (at.getTime() < from) continue;
    const isMajor = at.getMonth() === 0;
    found.push({ time: at.getTime(), text: isMajor ? String(at.getFullYear()) : months[at.getMonth()], isMajor });
  }
  return found;
}
