// The bar between the timeline and the tree: the two moments, and the buttons that move them.

import { button, byId, element } from "./elements.js";
import { churn } from "./amounts.js";
import { clock, moment, startOfDay } from "./dates.js";
import { openDialog } from "./dialogs.js";
import { shortened } from "./names.js";
import { shortOf } from "./position.js";

export function showMoments(page) {
  const steps = { "go-first": ["end", -1], "go-earlier": ["moment", -1], "go-later": ["moment", 1], "go-latest": ["end", 1] };
  for (const [id, [unit, step]] of Object.entries(steps)) byId(id).addEventListener("click", () => page.step(unit, step));
  byId("pin-a").addEventListener("click", () => page.togglePin());
  byId("compare-disk").addEventListener("click", () => page.toggleDisk());
  byId("go-to").addEventListener("click", () => openGoTo(page));
}

/** Asks for a date and a time, and goes to the last snapshot until then. */
export function openGoTo(page) {
  const { b } = page.position;
  if (!b) return;
  const input = element("input", { id: "go-to-time", type: "datetime-local", step: 1 });
  input.value = fieldValue(b.time);
  const go = () => {
    const time = new Date(input.value).getTime();
    if (Number.isNaN(time)) return input.focus();
    dialog.close();
    // A whole minute means all of it.
    page.chooseTime(time + (input.value.length > 16 ? 999 : 59_999), false);
  };
  input.addEventListener("keydown", (event) => event.key === "Enter" && go());
  const dialog = openDialog("go-to-dialog", "Go to a date and time", [
    element("p", {}, element("label", { for: "go-to-time", text: "The last moment at or before" })), input,
  ], [button("Cancel", () => dialog.close()), button("Go", go, { class: "primary", id: "go-to-go" })]);
  input.focus();
}

const two = (value) => String(value).padStart(2, "0");

function fieldValue(time) {
  const at = new Date(time);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${clock(time)}`;
}

export function writeMoments({ position, aSnapshot, roots }) {
  const { b, pinnedA, aID } = position;
  byId("moments").hidden = !b;
  if (!b) return;
  byId("b-time").textContent = moment(b.time);
  byId("b-id").textContent = b.short;
  byId("b-churn").textContent = churn(b);
  byId("b-label").textContent = b.label ? "◆ " + shortened(b.label, 60) : "";
  const isDisk = aID === "disk";
  const isOneDay = aSnapshot && startOfDay(aSnapshot.time) === startOfDay(b.time);
  const time = aSnapshot?.id === aID ? (isOneDay ? clock : moment)(aSnapshot.time) : "";
  byId("a-time").textContent = isDisk ? "the files on disk now" : aID === "none" ? "nothing before" : time || shortOf(aID);
  byId("a-kind").textContent = isDisk ? "" : pinnedA ? "kept" : aID === "none" ? "" : "the snapshot before";
  const isKept = pinnedA !== null && !isDisk;
  byId("pin-a").setAttribute("aria-pressed", String(isKept));
  byId("pin-a").textContent = isKept ? "Compare with the one before" : "Compare from here";
  byId("compare-disk").setAttribute("aria-pressed", String(isDisk));
  byId("compare-disk").hidden = !roots.isHere(position.root);
}

/** The slider's spoken value: "14:05:07, 3 changed, before the cut". */
export const spoken = (b) =>
  [moment(b.time).split(", ").reverse().join(", "), churn(b), b.label ? shortened(b.label, 60) : ""].filter(Boolean).join(", ");
