// Makes elements without parsing markup: names and contents only become text nodes, so none of them can run.

const svgNamespace = "http://www.w3.org/2000/svg";

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false && child !== 0));
  return node;
}

export const element = (tag, properties = {}, ...children) =>
  fill(document.createElement(tag), properties, children);

export const svg = (tag, properties = {}, ...children) =>
  fill(document.createElementNS(svgNamespace, tag), properties, children);

export const byId = (id) => document.getElementById(id);

export const button = (text, onclick, properties = {}) =>
  element("button", { type: "button", onclick, ...properties }, text);

/** A message that a pane shows instead of content, with further elements such as buttons. */
export const notice = (text, ...more) => element("div", { class: "notice" }, element("p", { text }), ...more);

/** Debounces: calls `run` once, `delay` milliseconds after the last of several calls. */
export function settled(delay, run) {
  let timer = 0;
  const call = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(run, delay, ...values);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
