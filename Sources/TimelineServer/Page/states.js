// Saved states of programs: titles, the versions of a title, a value, and the fields that differ from the version
// before.

import { button, element, notice } from "./elements.js";
import { bytes, counted } from "./amounts.js";
import { brief, moment } from "./dates.js";
import { openDialog, table } from "./dialogs.js";
import { errorNotice } from "./detail.js";
import { escaped, escapedLine, shortened } from "./names.js";

export async function openStates(page) {
  const titles = element("ul", { class: "picks", "aria-label": "Titles" });
  const versions = element("ul", { class: "picks", "aria-label": "Versions" });
  const value = element("div", { class: "value", tabindex: "0", role: "region", "aria-label": "Value" });
  const body = element("div", { class: "states" }, titles, versions, value);
  openDialog("states-dialog", "Saved states of programs", [body], [], "wide");

  const pick = (list, choice) => {
    for (const each of list.querySelectorAll("button")) each.setAttribute("aria-current", String(each === choice));
  };
  const guarded = (run) => run().catch((error) => value.replaceChildren(errorNotice(error)));

  const showValue = (version, before, choice) => guarded(async () => {
    pick(versions, choice);
    const [{ text }, difference] = await Promise.all([
      page.api.get("states/value", { id: version.id }, { isFixed: true }),
      before ? page.api.get("states/diff", { a: before.id, b: version.id }, { isFixed: true }) : null]);
    const fields = difference?.fields ?? [];
    const cell = (text) => (text == null ? element("span", { class: "muted", text: "not there" }) : element("code", { text: escaped(text) }));
    value.replaceChildren(
      element("h3", { text: before ? `Differences from ${brief(before.time)}` : "The first version" }),
      fields.length ? table("Differing fields", ["Field", "Before", "Then"], fields.map((field) =>
        [element("code", { text: escaped(field.field) }), cell(field.left), cell(field.right)]))
        : element("p", { class: "muted", text: before ? "No field differs." : "There is no earlier version to compare with." }),
      element("h3", { text: `Value of ${moment(version.time)}` }),
      element("pre", {}, ...text.split("\n").flatMap((line) => [escapedLine(line), "\n"])),
      element("p", { class: "facts" }, element("code", { text: `archiver cat ${version.short}` })));
  });

  const showVersions = (title, choice) => guarded(async () => {
    pick(titles, choice);
    const answer = await page.api.get("states/versions", { title, limit: 200 });
    versions.replaceChildren(...answer.versions.map((version, index) => {
      const row = button("", () => showValue(version, answer.versions[index + 1], row));
      row.append(element("span", { class: "time", text: brief(version.time) }), element("code", { text: version.short }),
        version.label ? element("span", { class: "label wrap", text: "◆ " + shortened(version.label, 60) }) : "",
        element("span", { class: "size", text: bytes(version.storedBytes) }));
      return element("li", {}, row);
    }));
    versions.querySelector("button")?.click();
  });

  await guarded(async () => {
    const answer = await page.api.get("states");
    if (!answer.titles.length) {
      return body.replaceChildren(notice("No program has saved a state in this archive.",
        element("p", { class: "muted", text: "A Swift program saves one with archive.save(value, as: \"Title\")." })));
    }
    titles.replaceChildren(...answer.titles.map(({ title, count, latest }) => {
      const row = button("", () => showVersions(title, row));
      row.append(element("bdi", { class: "wrap", text: shortened(title, 80) }),
        element("span", { class: "muted", text: `${counted(count, "version")}, ${brief(latest)}` }));
      return element("li", {}, row);
    }));
    titles.querySelector("button")?.click();
  });
}
