// Numbers and sizes for display, in the units of the command line.

const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytes(count) {
  if (count === null || count === undefined) return "";
  if (Math.abs(count) < 1024) return `${count} B`;
  let size = count;
  let unit = -1;
  do {
    size /= 1024;
    unit += 1;
  } while (Math.abs(size) >= 1023.95 && unit < units.length - 1);
  return `${size.toFixed(1)} ${units[unit]}`;
}

export const signedBytes = (count) => (count > 0 ? "+" : count < 0 ? "−" : "±") + bytes(Math.abs(count));

export const number = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");

export const counted = (count, one, many = one + "s") => `${number(count)} ${count === 1 ? one : many}`;

/** "1 added, 3 changed", or "nothing changed". */
export function churn({ added, modified, removed }) {
  const parts = [];
  if (added) parts.push(`${number(added)} added`);
  if (modified) parts.push(`${number(modified)} changed`);
  if (removed) parts.push(`${number(removed)} removed`);
  return parts.join(", ") || "nothing changed";
}

/** What a change is called; its mark is below. */
export const changeWords = {
  added: "added", modified: "changed", removed: "removed", renamed: "renamed from", renamedAway: "renamed to",
  metadata: "permissions or times",
};

export const marks = {
  added: "+", modified: "~", removed: "−", renamed: "→", renamedAway: "→",
  create: "+", replace: "~", delete: "−", metadata: "·",
};
