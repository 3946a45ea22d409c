// Dialogs of one form: a title, a close button, content. Escape closes them, and focus returns to where it was.

import { button, element } from "./elements.js";

/** Shows a dialog until it is closed; `actions` are the buttons in its footer. */
export function openDialog(id, title, content, actions = [], className = "") {
  const dialog = element("dialog", { id, class: className, "aria-labelledby": `${id}-title` });
  const close = button("Close", () => dialog.close(), { class: "close" });
  dialog.append(
    element("header", {}, element("h2", { id: `${id}-title`, text: title }), close),
    element("div", { class: "content", tabindex: "0" }, ...content),
    actions.length ? element("footer", {}, ...actions) : "");
  const before = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    before?.focus?.();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export function table(caption, heads, rows) {
  return element("table", {},
    element("caption", { text: caption }),
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col", text: head })))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, index) =>
      (index ? element("td", {}, cell) : element("th", { scope: "row" }, cell)))))));
}
