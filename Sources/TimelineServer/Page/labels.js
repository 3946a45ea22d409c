// Labels the moment B.

import { button, byId, element } from "./elements.js";
import { moment } from "./dates.js";
import { openDialog } from "./dialogs.js";
import { complain, say } from "./messages.js";

export function openLabel(page) {
  const { b } = page.position;
  if (!b) return;
  if (page.api.isReadOnly) return say(page.api.readOnlyText);
  const input = element("input", { id: "label-text", type: "text", maxlength: 200, autocomplete: "off" });
  input.value = b.label ?? "";
  const save = async () => {
    try {
      const { snapshot } = await page.api.post("label", { snapshot: b.id, label: input.value.trim() });
      dialog.close();
      page.position.go({ b: snapshot });
      page.changed();
    } catch (error) {
      dialog.close();
      complain(error);
    }
  };
  input.addEventListener("keydown", (event) => event.key === "Enter" && save());
  const dialog = openDialog("label-dialog", "Label this moment", [
    element("p", {}, element("label", { for: "label-text", text: `A name for ${moment(b.time)}` })), input,
  ], [button("Cancel", () => dialog.close()), button("Save", save, { class: "primary", id: "label-save" })]);
  input.select();
}

export function showLabelButton(page) {
  byId("label").hidden = page.api.isReadOnly;
  byId("label").addEventListener("click", () => openLabel(page));
}
