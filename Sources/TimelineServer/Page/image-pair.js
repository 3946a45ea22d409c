// Two versions of an image: side by side, or on top of each other with a slider between them.

import { button, element } from "./elements.js";
import { bytes } from "./amounts.js";

/** `before` and `after`: the times of the two moments. */
export function imagePair(left, right, before, after) {
  const figure = (image, name) => {
    const caption = element("figcaption", {}, `${name}: ${image ? bytes(image.size) : "not there"}`);
    if (!image) return element("figure", {}, element("div", { class: "absent-image" }), caption);
    const picture = element("img", { alt: `The image ${name}` });
    picture.addEventListener("load", () => caption.append(`, ${picture.naturalWidth} × ${picture.naturalHeight}`));
    picture.src = image.url;
    return element("figure", {}, picture, caption);
  };
  const beside = element("div", { class: "images" }, figure(left, `before, ${before}`), figure(right, `after, ${after}`));
  if (!left || !right) return [beside];

  const upper = element("img", { class: "upper", alt: "" });
  const lower = element("img", { alt: "The image before to the left of the border, after to the right" });
  upper.src = left.url;
  lower.src = right.url;
  const stack = element("div", { class: "swipe" }, lower, upper);
  const slider = element("input", { type: "range", min: 0, max: 100, value: 50, "aria-label": "Border between before and after" });
  const move = () => stack.style.setProperty("--border", slider.value + "%");
  slider.addEventListener("input", move);
  move();
  const over = element("div", { class: "images over", hidden: true }, element("div", {}, stack, slider));
  const choose = (isOver) => {
    over.hidden = !isOver;
    beside.hidden = isOver;
    choices.forEach((choice, index) => choice.setAttribute("aria-pressed", String(Boolean(index) === isOver)));
  };
  const choices = [button("Side by side", () => choose(false)), button("Swipe", () => choose(true))];
  choose(false);
  return [
    element("div", { class: "diff-head" }, element("span", { class: "summary", text: "The image differs." }),
      element("span", { class: "segments", role: "group", "aria-label": "Layout" }, ...choices)),
    beside, over,
  ];
}
