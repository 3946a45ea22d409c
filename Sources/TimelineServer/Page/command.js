// The command that prints on a command line what the page shows.

import { byId } from "./elements.js";
import { pathWord } from "./names.js";
import { say } from "./messages.js";
import { shortOf } from "./position.js";

export function commandFor({ item, b, aID, sides, view, holder }) {
  if (!b) return "archiver watch DIR";
  const path = item?.path ?? "";
  const at = (id) => (path ? pathWord(item, shortOf(id) + ":") : shortOf(id));
  const isFile = item !== null && item.kind !== "directory";
  if (view === "history") return path ? `archiver log ${pathWord(item)}` : "archiver list";
  if (view === "blame" && isFile) return `archiver blame ${at(holder)}`;
  if (view === "preview" && isFile) return `archiver cat ${at(holder)}`;
  if (aID === "none") return `archiver show ${shortOf(b.id)}`;
  const newer = sides.newer === "disk" ? "" : " " + at(sides.newer);
  return `archiver diff ${isFile ? "--text " : ""}${at(sides.older)}${newer}`;
}

export function showCommand(page) {
  const command = byId("command");
  page.position.addEventListener("change", () => {
    command.textContent = commandFor(page.position);
    command.title = command.textContent.slice(0, 2000);
  });
  byId("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      say("Command copied.");
    } catch {
      getSelection().selectAllChildren(command);
      say("Press Ctrl+C to copy the command.");
    }
  });
}
