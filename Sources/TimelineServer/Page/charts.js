// Charts as SVG, each with the same numbers as a table.

import { element, svg } from "./elements.js";
import { table } from "./dialogs.js";

const size = { width: 560, height: 150, left: 58, bottom: 20, top: 8 };

/** Draws points of {label, value}: with `isArea` as one area (growth), otherwise as bars. */
export function chart(title, points, written, { isArea = false, head = "Day", unit = "Amount" } = {}) {
  const most = Math.max(1, ...points.map((point) => point.value));
  const wide = size.width - size.left;
  const tall = size.height - size.bottom - size.top;
  const x = (index) => size.left + (index / Math.max(1, points.length - (isArea ? 1 : 0))) * wide;
  const y = (value) => size.top + tall - (value / most) * tall;
  const base = size.top + tall;
  const path = isArea
    ? `M${size.left} ${base}` + (points.length === 1 ? [...points, ...points] : points).map((point, index) => `L${x(index).toFixed(1)} ${y(point.value).toFixed(1)}`).join("") + `L${size.width} ${base}z`
    : points.filter((point) => point.value).map((point) => {
      const at = points.indexOf(point);
      const bar = Math.max(1, wide / points.length - 1.5);
      return `M${x(at).toFixed(1)} ${base}V${Math.min(base - 1, y(point.value)).toFixed(1)}h${bar.toFixed(1)}V${base}z`;
    }).join("");
  const labelled = points.length < 2 ? [0] : [0, Math.floor((points.length - 1) / 2), points.length - 1];
  const picture = svg("svg", { viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": `${title}. The table below has the numbers.` },
    ...[0, 0.5, 1].map((part) => svg("g", {},
      svg("path", { class: "grid", d: `M${size.left} ${y(most * part)}H${size.width}` }),
      svg("text", { x: size.left - 6, y: y(most * part) + 4, "text-anchor": "end" }, written(most * part)))),
    svg("path", { class: isArea ? "area" : "bar", d: path }),
    ...labelled.filter((index) => points[index]).map((index) => svg("text", {
      x: x(index) + (isArea || index === 0 ? 0 : wide / points.length / 2), y: size.height - 5,
      "text-anchor": index === 0 ? "start" : index === points.length - 1 ? "end" : "middle",
    }, points[index].label)));
  return figure(title, picture, () => table(title, [head, unit], points.map((point) => [point.label, written(point.value)])));
}

/** A table of names with bars, in the order of `rows`. */
export function ranking(title, rows, heads) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  const list = table(title, heads, rows.map((row) => {
    const bar = element("span", { class: "part" });
    bar.style.setProperty("--part", String(row.value / most));
    return [row.name, row.text, row.more, bar];
  }));
  return element("section", { class: "chart ranking" }, element("h3", { text: title }), list);
}

function figure(title, picture, numbers) {
  const box = element("div", { class: "numbers", tabindex: "0", role: "region", "aria-label": title + ", table" });
  return element("section", { class: "chart" }, element("h3", { text: title }), picture,
    element("details", { ontoggle: () => box.hasChildNodes() || box.append(numbers()) },
      element("summary", { text: "Table" }), box));
}
