// A short message with actions. It closes after a while, but not while the pointer or the focus is on it.

import { button, byId, element } from "./elements.js";

const box = byId("message");
let timer = 0;

/** Shows a message. `actions`: [text, run, properties?]; a message with actions stays longer. */
export function say(text, ...actions) {
  clearTimeout(timer);
  const close = () => box.replaceChildren();
  box.replaceChildren(element("div", { class: "toast" },
    element("span", { text }),
    ...actions.map(([name, run, properties]) => button(name, () => {
      close();
      run();
    }, { class: "primary", ...properties })),
    button("×", close, { class: "plain", "aria-label": "Close the message" })));
  const leave = () => {
    if (box.matches(":hover, :focus-within")) timer = setTimeout(leave, 2000);
    else close();
  };
  timer = setTimeout(leave, actions.length ? 25_000 : 8000);
}

/** Closes the message; false if there is none. */
export function clear() {
  const isShown = box.hasChildNodes();
  box.replaceChildren();
  return isShown;
}

export const complain = (error) => say([error.message, error.remedy].filter(Boolean).join("; "));
