// Marks the words of a changed line that differ. The differing lines come from the server.

const limit = 600;
/** In longer lines, only the letters that differ at their ends are found. */
const longLine = 20_000;

const wordsOf = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** Returns two lines as runs of {text, isMarked}; null if marking would not help. */
export function wordDifference(left, right) {
  if (left.length + right.length > longLine) return endsDifference(left, right);
  const one = wordsOf(left);
  const other = wordsOf(right);
  if (one.length * other.length > limit * limit) return null;
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const kept = common(one.slice(start, one.length - end), other.slice(start, other.length - end));
  // Lines that share few words are different lines.
  const isWord = (word) => word.trim() !== "";
  const words = Math.max(one.filter(isWord).length, other.filter(isWord).length);
  const same = one.filter((word, index) => isWord(word) &&
    (index < start || index >= one.length - end || kept.left[index - start])).length;
  if (same < words * 0.4) return null;
  const runs = (words, flags) => joined(words.map((text, index) => ({
    text, isMarked: index >= start && index < words.length - end && !flags[index - start],
  })));
  return { left: runs(one, kept.left), right: runs(other, kept.right) };
}

/** Marks everything between the common beginning and the common end. */
function endsDifference(left, right) {
  const most = Math.min(left.length, right.length);
  let start = 0;
  while (start < most && left.charCodeAt(start) === right.charCodeAt(start)) start += 1;
  // Not in the middle of a letter of two units.
  if (start > 0 && /[\ud800-\udbff]/.test(left[start - 1])) start -= 1;
  let end = 0;
  while (end < most - start && left.charCodeAt(left.length - 1 - end) === right.charCodeAt(right.length - 1 - end)) end += 1;
  if (end > 0 && /[\udc00-\udfff]/.test(left[left.length - end])) end -= 1;
  if (start + end < Math.max(left.length, right.length) * 0.4) return null;
  const runs = (text) => [
    { text: text.slice(0, start), isMarked: false }, { text: text.slice(start, text.length - end), isMarked: true },
    { text: text.slice(text.length - end), isMarked: false },
  ].filter((run) => run.text);
  return { left: runs(left), right: runs(right) };
}

/** Returns the longest common subsequence, as flags for both sides. */
function common(one, other) {
  const wide = other.length + 1;
  const table = new Uint16Array((one.length + 1) * wide);
  for (let row = one.length - 1; row >= 0; row -= 1) {
    for (let column = other.length - 1; column >= 0; column -= 1) {
      table[row * wide + column] = one[row] === other[column]
        ? table[(row + 1) * wide + column + 1] + 1
        : Math.max(table[(row + 1) * wide + column], table[row * wide + column + 1]);
    }
  }
  const flags = { left: Array(one.length).fill(false), right: Array(other.length).fill(false) };
  for (let row = 0, column = 0; row < one.length && column < other.length;) {
    if (one[row] === other[column]) flags.left[row++] = flags.right[column++] = true;
    else if (table[(row + 1) * wide + column] >= table[row * wide + column + 1]) row += 1;
    else column += 1;
  }
  return flags;
}

function joined(runs) {
  const found = [];
  for (const run of runs) {
    if (found.at(-1)?.isMarked === run.isMarked) found.at(-1).text += run.text;
    else found.push(run);
  }
  return found;
}
