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
}

export function writeMoments({ position, aSnapshot }) {
  const { b, pinnedA, aID } = position;
  byId("moments").hidden = !b;
  if (!b) return;
  byId("b-time").textContent = moment(b.time);
  byId("b-id").textContent = b.short;
  byId("b-churn").textContent = churn(b);
  byId("b-label").textContent = b.label ? "◆ " + shortened(b.label, 60) : "";
  const isOneDay = aSnapshot && startOfDay(aSnapshot.time) === startOfDay(b.time);
  const time = aSnapshot?.id === aID ? (isOneDay ? clock : moment)(aSnapshot.time) : "";
  byId("a-time").textContent = aID === "none" ? "nothing before" : time || shortOf(aID);
  byId("a-kind").textContent = pinnedA ? "kept" : aID === "none" ? "" : "B's parent";
  byId("pin-a").setAttribute("aria-pressed", String(pinnedA !== null));
  byId("pin-a").textContent = pinnedA ? "Release A" : "Compare from here";
}

/** The slider's spoken value: "14:05:07, 3 changed, before the cut". */
export const spoken = (b) =>
  [moment(b.time).split(", ").reverse().join(", "), churn(b), b.label ? shortened(b.label, 60) : ""].filter(Boolean).join(", ");
