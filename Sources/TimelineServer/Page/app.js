// Starts the page: exchanges the token, opens the link's position, and listens for events.

import "./timeline.js";
import { takeToken } from "./address.js";
import { Api } from "./api.js";
import { byId, element, notice } from "./elements.js";
import { Live } from "./live.js";
import { complain } from "./messages.js";
import { Page } from "./page.js";

function stop(text, remedy) {
  byId("main").replaceChildren(notice(text, element("p", { class: "muted", text: remedy })));
  document.body.classList.add("stopped");
}

// A new address may be pasted into a tab whose session is over: it continues at its position.
addEventListener("hashchange", async (event) => {
  const token = takeToken();
  if (!token) return;
  event.stopImmediatePropagation();
  history.replaceState(null, "", event.oldURL);
  try {
    await Api.open(token);
    location.reload();
  } catch (error) {
    complain(error);
  }
});

async function start() {
  const token = takeToken();
  let api;
  try {
    api = await Api.open(token);
  } catch (error) {
    return stop(error.message, error.remedy ?? "Run archiver browse again.");
  }
  if (!api) return stop("This tab has no session.", "Press Enter where archiver browse runs, or run it again, and open the address that it prints.");
  api.addEventListener("expired", () => stop("This session is over.", "Run archiver browse again, and paste its address here."));

  const page = new Page(api);
  page.timeline.addEventListener("failure", ({ detail }) => complain(detail));
  // A tab that is not the first hears the stream of another one, which may already run.
  const live = new Live(api);
  const opened = page.openAddress(page.address.fields).catch(complain);
  const on = (name, act) =>
    live.addEventListener(name, async ({ detail }) => {
      await opened;
      try {
        await act(detail);
      } catch (error) {
        complain(error);
      }
    });
  const onShown = (name, act) => on(name, (detail) => detail.root === page.position.root && act(detail));
  onShown("snapshot", ({ snapshot }) => page.arrived(snapshot));
  onShown("operations", () => page.operations.load());
  onShown("changed", () => page.othersChanged());
  onShown("watched", ({ lastWatched }) => page.status.watchedTo(lastWatched));
  onShown("status", (status) => page.status.set(status));
  on("roots", () => page.rootsChanged());
  on("archive", ({ message }) => page.status.setAbsence(message ?? null));
  on("begun", async ({ change }) => {
    if (change === page.roots.change) return;
    await page.rootsChanged();
    if (!page.position.root) return;
    await page.othersChanged();
    page.status.load();
  });
  api.addEventListener("online", async () => {
    if (!page.position.root) return page.openAddress(page.address.fields).catch(complain);
    page.status.load();
    await page.changed();
    page.refresh();
  });
}

start();
