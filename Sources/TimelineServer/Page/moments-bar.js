// The bar between the timeline and the tree: the two moments, and the buttons that move them.

import { byId } from "./elements.js";
import { churn } from "./amounts.js";
import { clock, moment, startOfDay } from "./dates.js";
import { shortened } from "./names.js";
import { shortOf } from "./position.js";

export function showMoments(page) {
  const steps = { "go-first": ["end", -1], "go-earlier": ["moment", -1], "go-later": ["moment", 1], "go-latest": ["end", 1] };
  for (const [id, [unit, step]] of Object.entries(steps)) byId(id).addEventListener("click", () => page.step(unit, step));
  byId("pin-a").addEventListener("click", () => page.togglePin());
  byId("compare-disk").addEventListener("click", () => page.toggleDisk());
  byId("go-to").addEventListener("change", ({ target }) => {
    const time = new Date(target.value).getTime();
    // A whole minute means all of it.
    if (!Number.isNaN(time)) page.chooseTime(time + (target.value.length > 16 ? 999 : 59_999), false);
  });
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
  if (document.activeElement !== byId("go-to")) byId("go-to").value = fieldValue(b.time);
  const isDisk = aID === "disk";
  const isOneDay = aSnapshot && startOfDay(aSnapshot.time) === startOfDay(b.time);
  const time = aSnapshot?.id === aID ? (isOneDay ? clock : moment)(aSnapshot.time) : "";
  byId("a-time").textContent = isDisk ? "the files on disk now" : aID === "none" ? "nothing before" : time || shortOf(aID);
  byId("a-kind").textContent = isDisk ? "" : pinnedA ? "kept" : aID === "none" ? "" : "the snapshot before";
  const isKept = pinnedA !== null && !isDisk;
  byId("pin-a").setAttribute("aria-pressed", String(isKept));
  byId("pin-a").textContent = isKept ? "Release A" : "Compare from here";
  byId("compare-disk").setAttribute("aria-pressed", String(isDisk));
  byId("compare-disk").hidden = !roots.isHere(position.root);
}

/** The slider's spoken value: "14:05:07, 3 changed, before the cut". */
export const spoken = (b) =>
  [moment(b.time).split(", ").reverse().join(", "), churn(b), b.label ? shortened(b.label, 60) : ""].filter(Boolean).join(", ");
