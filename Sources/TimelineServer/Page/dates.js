// Times as the page shows them: local, 24 hours, the same words in every browser.

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
export const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (value) => String(value).padStart(2, "0");

export function clock(time, isPrecise = true) {
  const date = new Date(time);
  return `${two(date.getHours())}:${two(date.getMinutes())}` + (isPrecise ? `:${two(date.getSeconds())}` : "");
}

export function date(time, hasYear = true) {
  const date = new Date(time);
  return `${weekdays[date.getDay()]} ${date.getDate()} ${months[date.getMonth()]}` +
    (hasYear ? ` ${date.getFullYear()}` : "");
}

/** "Mon 23 Nov 2026, 14:05:07" */
export const moment = (time) => `${date(time)}, ${clock(time)}`;

/** A short form: the time of day for today, the date otherwise. */
export function brief(time) {
  const now = Date.now();
  if (startOfDay(time) === startOfDay(now)) return clock(time);
  const written = new Date(time);
  const isThisYear = written.getFullYear() === new Date(now).getFullYear();
  const text = `${written.getDate()} ${months[written.getMonth()]}`;
  return isThisYear ? `${text} ${clock(time, false)}` : `${text} ${written.getFullYear()}`;
}

/** The time of a version, for its name: "12:04" for today, else with its date. */
export function versionTime(time, isPrecise = false) {
  const text = clock(time, isPrecise);
  if (startOfDay(time) === startOfDay(Date.now())) return text;
  const written = new Date(time);
  const year = written.getFullYear() === new Date().getFullYear() ? "" : ` ${written.getFullYear()}`;
  return `${written.getDate()} ${months[written.getMonth()]}${year}, ${text}`;
}

/** The times of two versions, {time, short}, in words that differ: with seconds if necessary, or with their ids. */
export function versionTimes(...versions) {
  for (const isPrecise of [false, true]) {
    const [one, other] = versions.map(({ time }) => versionTime(time, isPrecise));
    if (one !== other) return [one, other];
  }
  return versions.map(({ time, short }) => `${versionTime(time, true)} (${short})`);
}

export function startOfDay(time) {
  const date = new Date(time);
  date.setHours(0, 0, 0, 0);
  return date.getTime();
}

/** Returns the first instant of the next day, also if the day has 23 or 25 hours. */
export function endOfDay(time) {
  const date = new Date(time);
  date.setHours(24, 0, 0, 0);
  return date.getTime();
}

export function span(milliseconds) {
  if (milliseconds < minute) return `${Math.round(milliseconds / second)} s`;
  if (milliseconds < hour) return `${Math.round(milliseconds / minute)} min`;
  if (milliseconds < 2 * day) return `${Math.round(milliseconds / hour)} h`;
  return `${Math.round(milliseconds / day)} days`;
}

/** Describes a view's span: "Mon 23 Nov 2026" or "22 Nov – 23 Nov 2026". */
export function range(from, to) {
  if (startOfDay(from) === startOfDay(to - 1)) return date(from);
  const first = new Date(from);
  const last = new Date(to - 1);
  const isOneYear = first.getFullYear() === last.getFullYear();
  return `${first.getDate()} ${months[first.getMonth()]}${isOneYear ? "" : ` ${first.getFullYear()}`} – ` +
    `${last.getDate()} ${months[last.getMonth()]} ${last.getFullYear()}`;
}
