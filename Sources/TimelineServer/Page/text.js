// Texts as they are: their encoding and line ends are recognised and named, and lines are cut for display.

import { counted } from "./amounts.js";
import { element } from "./elements.js";
import { escapedLine } from "./names.js";

/** A longer line is shown as several rows: browsers lay out very long ones slowly. */
export const rowLetters = 4000;
const sniffed = 8192;

/** Returns `index`, or the one before it in the middle of a letter of two units. */
export const letterStart = (text, index) =>
  (/[\ud800-\udbff]/.test(text.charAt(index - 1)) && /[\udc00-\udfff]/.test(text.charAt(index)) ? index - 1 : index);

function runNode({ text, isMarked, skipped }) {
  if (skipped) return element("span", { class: "skipped-letters", text: ` … ${counted(skipped, "unchanged letter")} … ` });
  return isMarked ? element("mark", { text: escapedLine(text) }) : escapedLine(text);
}

/**
 * Returns the nodes of a line's text, given as runs of {text, isMarked}, or {text: "", skipped} for a number of letters;
 * those of a long line are several rows.
 */
export function lineNodes(runs) {
  const nodes = (runs) => runs.map(runNode);
  const length = runs.reduce((sum, { text }) => sum + text.length, 0);
  if (runs.every(({ text, skipped }) => !text && !skipped)) return ["\u200b"];
  if (length <= rowLetters) return nodes(runs);
  const rows = [[]];
  let free = rowLetters;
  for (const run of runs) {
    if (run.skipped) rows.at(-1).push(run);
    for (let start = 0; start < run.text.length;) {
      const part = run.text.slice(start, letterStart(run.text, start + free));
      if (part) rows.at(-1).push({ ...run, text: part });
      start += part.length;
      free -= part.length;
      // A letter of two units may not fit into the last one.
      if (free <= 1 && start < run.text.length) {
        rows.push([]);
        free = rowLetters;
      }
    }
  }
  return rows.map((row) => element("span", { class: "part" }, ...nodes(row)));
}

const encodings = { "utf-8": "", "utf-16le": "UTF-16", "utf-16be": "UTF-16 (big-endian)", "windows-1252": "Latin-1" };

/** Returns the encoding of a text by its beginning; null if the bytes are no text. */
function encodingOf(bytes, isWhole) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const head = bytes.subarray(0, sniffed);
  if (head.includes(0)) return pairsEncoding(head);
  try {
    // Only the end of a part may cut a letter in two.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole });
    return "utf-8";
  } catch {
    const text = new TextDecoder("utf-8").decode(bytes);
    const odd = text.match(/\ufffd/g).length;
    const letters = text.match(/[\u0080-\uffff]/g).length - odd;
    if (letters > 10 * odd) return "utf-8";
    const controls = head.reduce((count, byte) => count + (byte < 9 || (byte > 13 && byte < 32 && byte !== 27) ? 1 : 0), 0);
    return controls > head.length / 100 ? null : "windows-1252";
  }
}

/** UTF-16 of Latin letters has a zero in each second byte. */
function pairsEncoding(head) {
  let [even, odd] = [0, 0];
  head.forEach((byte, index) => byte === 0 && (index % 2 ? (odd += 1) : (even += 1)));
  const half = head.length / 2;
  if (odd > half * 0.4 && even < half * 0.05) return "utf-16le";
  if (even > half * 0.4 && odd < half * 0.05) return "utf-16be";
  return null;
}

/** Decodes a text piece by piece; `open` returns null if the bytes are no text. */
export class TextReader {
  #decoder;
  #encoding;
  #rest = "";
  #number = 0;
  #isInLine = false;
  #ends = { crlf: 0, lf: 0, cr: 0 };

  static open(bytes, isWhole) {
    const encoding = encodingOf(bytes, isWhole);
    return encoding === null ? null : new TextReader(encoding, bytes);
  }

  constructor(encoding, bytes) {
    this.#encoding = encoding;
    this.#decoder = new TextDecoder(encoding);
    this.hasMark = encoding === "utf-8" && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  }

  get count() {
    return this.#number;
  }

  /** Returns the next rows: {n, text}, where a further row of a long line has no number. */
  rows(bytes, isLast) {
    let text = this.#rest + this.#decoder.decode(bytes, { stream: !isLast });
    // A return at the end may belong to a line feed that follows.
    let end = isLast ? text.length : Math.max(text.lastIndexOf("\n"), text.slice(0, -1).lastIndexOf("\r")) + 1;
    // A line that is longer than a piece is shown in parts.
    const isOpen = !isLast && end === 0;
    if (isOpen) end = letterStart(text, text.length - 1);
    this.#rest = text.slice(end);
    text = text.slice(0, end);
    this.#ends.crlf += text.match(/\r\n/g)?.length ?? 0;
    this.#ends.lf += text.match(/(?<!\r)\n/g)?.length ?? 0;
    this.#ends.cr += text.match(/\r(?!\n)/g)?.length ?? 0;
    const lines = text.split(this.#ends.lf + this.#ends.crlf === 0 && this.#ends.cr > 0 ? "\r" : /\r?\n/);
    if (!isOpen && lines.at(-1) === "") lines.pop();
    const rows = [];
    for (const [index, line] of lines.entries()) {
      const isNew = index > 0 || !this.#isInLine;
      if (isNew) this.#number += 1;
      for (let start = 0, end; start < Math.max(1, line.length); start = Math.max(1, end)) {
        end = letterStart(line, start + rowLetters);
        const text = line.slice(start, end);
        if (isNew || text) rows.push({ n: isNew && start === 0 ? this.#number : null, text });
      }
    }
    this.#isInLine = isOpen;
    return rows;
  }

  /** "Latin-1, CRLF line ends", or nothing for what is usual. */
  get words() {
    const { crlf, lf, cr } = this.#ends;
    const ends = crlf && lf ? "mixed line ends" : crlf ? "CRLF line ends" : cr && !lf ? "CR line ends" : "";
    return [encodings[this.#encoding] || (this.hasMark ? "UTF-8 with a byte order mark" : ""), ends].filter(Boolean).join(", ");
  }
}
