// Names and paths for display: escaped as the command line escapes them, shortened in the middle, and unable to break
// the layout.

import { element } from "./elements.js";

// Control characters, and characters that break lines or reorder text.
const harmful = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu;
const encoder = new TextEncoder();

const hex = (text) => [...encoder.encode(text)].map((byte) => "\\x" + byte.toString(16).padStart(2, "0")).join("");

export const escaped = (text) => text.replace(harmful, hex);

/** Escapes a line of a file, except tabs. */
export const escapedLine = (text) => text.replace(harmful, (found) => (found === "\t" ? found : hex(found)));

export function shortened(text, length = 60) {
  const letters = [...escaped(text)];
  if (letters.length <= length) return letters.join("");
  const tail = Math.floor(length / 3);
  return letters.slice(0, length - tail - 1).join("") + "…" + letters.slice(-tail).join("");
}

export const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);
export const folderOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** Makes an element for a name; its end, with the extension, stays visible in a narrow column. */
export function nameElement(text, className = "name", tail = 10) {
  const letters = [...escaped(text)];
  const shown = element("bdi", { class: className, dir: "auto" });
  if (letters.length <= 2 * tail) {
    shown.textContent = letters.join("");
    return shown;
  }
  shown.title = shortened(text, 300);
  shown.append(
    element("span", { class: "head", text: letters.slice(0, -tail).join("") }),
    element("span", { class: "tail", text: letters.slice(-tail).join("") }));
  return shown;
}

/** Quotes a word for a shell if necessary. */
export function shellWord(text) {
  if (/^[\w@%+=:,./~-]+$/.test(text) && !text.startsWith("~") && !text.startsWith("-")) return text;
  if (text.search(harmful) < 0) return "'" + text.replaceAll("'", "'\\''") + "'";
  return "$'" + escaped(text.replace(/['\\]/g, "\\$&")) + "'";
}

/** The path of `item` as a word for a shell, after other text; its name may be no text. */
export function pathWord(item, before = "") {
  if (!item.pathBytes) return shellWord(before + item.path);
  const letters = [...before + atob(item.pathBytes.replaceAll("-", "+").replaceAll("_", "/"))].map((letter) => {
    const code = letter.charCodeAt(0);
    if (code < 0x20 || code > 0x7e) return "\\x" + code.toString(16).padStart(2, "0");
    return letter === "'" || letter === "\\" ? "\\" + letter : letter;
  });
  return `$'${letters.join("")}'`;
}

/** The query parameter for a path: its bytes if it is not UTF-8. */
export const pathQuery = (item) =>
  item?.pathBytes ? { pathBytes: item.pathBytes } : { path: item?.path ?? "" };

export const samePlace = (one, other) =>
  one === other || (!!one && !!other && one.path === other.path && (one.pathBytes ?? "") === (other.pathBytes ?? ""));
