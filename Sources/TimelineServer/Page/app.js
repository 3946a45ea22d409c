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
  try {
    await page.openAddress(page.address.fields);
  } catch (error) {
    complain(error);
  }

  const live = new Live(api);
  live.addEventListener("snapshot", ({ detail }) => detail.root === page.position.root && page.arrived(detail.snapshot));
  live.addEventListener("operations", ({ detail }) => detail.root === page.position.root && page.operations.load());
  live.addEventListener("changed", ({ detail }) => detail.root === page.position.root && page.othersChanged().catch(complain));
  live.addEventListener("roots", () => page.rootsChanged().catch(complain));
  live.addEventListener("archive", ({ detail }) => page.status.setAbsence(detail.message ?? null));
  live.addEventListener("watched", ({ detail }) => detail.root === page.position.root && page.status.watchedTo(detail.lastWatched));
  live.addEventListener("status", ({ detail }) => detail.root === page.position.root && page.status.set(detail));
  api.addEventListener("online", async () => {
    if (!page.position.root) return page.openAddress(page.address.fields).catch(complain);
    page.status.load();
    await page.changed();
    page.refresh();
  });
}

start();
