// The pointer on the timeline: a click chooses B (with Shift: A), dragging and the wheel scroll, Ctrl and the wheel
// zoom. The markers of A and B can be dragged.

import { settled } from "./elements.js";
import { height } from "./timeline-drawing.js";

export function listenToPointer(timeline) {
  const { scroller, strip, tip } = timeline;
  const inside = (event) => {
    const box = scroller.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const scrub = settled(30, (time, isA) => timeline.delegate?.choose(time, isA));
  let drag = null;

  scroller.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { x } = inside(event);
    const isNear = (time) => time !== null && Math.abs(timeline.xOf(time) - x) < 9;
    const grip = isNear(timeline.marks.b) ? "b" : isNear(timeline.marks.a) ? "a" : null;
    drag = { x: event.clientX, last: event.clientX, grip, hasMoved: false, isA: event.shiftKey };
    scroller.setPointerCapture(event.pointerId);
  });

  scroller.addEventListener("pointermove", (event) => {
    if (!drag) return showHint(timeline, event);
    tip.hidden = true;
    if (!drag.hasMoved && Math.abs(event.clientX - drag.x) < 4) return;
    drag.hasMoved = true;
    if (drag.grip) scrub(timeline.timeAt(event), drag.grip === "a");
    else timeline.panBy(drag.last - event.clientX);
    drag.last = event.clientX;
  });

  const release = (event) => {
    if (drag && !drag.hasMoved && event.type === "pointerup") {
      timeline.delegate?.choose(meant(timeline, timeline.timeAt(event), inside(event).y), drag.isA);
    }
    drag = null;
  };
  scroller.addEventListener("pointerup", release);
  scroller.addEventListener("pointercancel", release);
  scroller.addEventListener("pointerleave", () => (tip.hidden = true));

  scroller.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.ctrlKey) return timeline.zoomBy(Math.exp(event.deltaY / 200), timeline.timeAt(event));
    timeline.panBy((event.deltaX + event.deltaY) * (event.deltaMode ? 30 : 1));
  }, { passive: false });

  const jump = (event) => {
    if (event.type === "pointermove" && !(event.buttons & 1)) return;
    const { first, last } = timeline.extent ?? { first: null };
    if (first === null) return;
    const box = strip.getBoundingClientRect();
    timeline.panTo(first + ((event.clientX - box.left) / box.width) * (last - first));
  };
  strip.addEventListener("pointerdown", jump);
  strip.addEventListener("pointermove", jump);
}

// A click chooses the mark, the version or the end of the bar below the pointer rather than the exact instant.
function meant(timeline, time, y) {
  const { contents, versions } = timeline;
  const nearest = (times, reach) => {
    const best = times.reduce((best, each) => (Math.abs(each - time) < Math.abs(best - time) ? each : best), Infinity);
    return Math.abs(timeline.xOf(best) - timeline.xOf(time)) <= reach ? best : null;
  };
  const marks = [...(contents?.labels ?? []), ...(contents?.restores ?? [])].map((mark) => mark.time);
  const mark = y < height.lane ? nearest(marks, 10) : null;
  const version = nearest(versions, Math.abs(y - height.versions) < 8 ? 8 : 2);
  const bucket = timeline.bucketAt(time);
  return mark ?? version ?? (bucket ? bucket.start + contents.width - 1 : time);
}

function showHint(timeline, event) {
  const { tip } = timeline;
  const time = timeline.timeAt(event);
  const text = timeline.delegate?.hint(time, timeline.bucketAt(time), timeline.contents);
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const box = timeline.getBoundingClientRect();
  const room = box.width - tip.offsetWidth - 8;
  const x = Math.max(8, Math.min(room, event.clientX - box.left - tip.offsetWidth / 2));
  tip.style.setProperty("translate", `${x}px 0`);
}
