// The page: connects its parts and carries out the user's actions.

import { byId, element, notice, settled } from "./elements.js";
import { Address } from "./address.js";
import { showCommand } from "./command.js";
import { Contents } from "./contents.js";
import { SmallPictures } from "./small-pictures.js";
import { moment, versionTime, versionTimes } from "./dates.js";
import { Detail, views } from "./detail.js";
import { openHelp } from "./help.js";
import { openLabel, showLabelButton } from "./labels.js";
import { listenForKeys } from "./keys.js";
import { clear, complain, say } from "./messages.js";
import { showMoments, spoken, writeMoments } from "./moments-bar.js";
import { samePlace } from "./names.js";
import { Operations } from "./operations.js";
import { disk, Position, shortOf } from "./position.js";
import { Restore } from "./restore.js";
import { Roots } from "./roots.js";
import { Search } from "./search.js";
import { openStates } from "./states.js";
import { Status } from "./status.js";
import { Steps } from "./steps.js";
import { hint, RootSource } from "./timeline-source.js";
import { Tree } from "./tree.js";
import { openUsage } from "./usage.js";
import { Walk } from "./walk.js";

export class Page {
  position = new Position();
  address = new Address();
  timeline = byId("timeline");
  walk = null;
  aSnapshot = null;
  /** Resolves when the moment to compare with is known, or cannot be. */
  aLoaded = null;
  latest = null;
  #unseen = 0;
  #steps = new Steps(this);

  constructor(api) {
    this.api = api;
    this.contents = new Contents(api);
    this.smallPictures = new SmallPictures(this.contents);
    this.roots = new Roots(this);
    this.tree = new Tree(this);
    this.detail = new Detail(this);
    this.operations = new Operations(this);
    this.restore = new Restore(this);
    this.search = new Search(this);
    this.status = new Status(this);
    this.timeline.delegate = {
      choose: (time, isA) => this.chooseTime(time, isA),
      hint,
    };
    this.position.addEventListener("change", ({ detail }) => this.#follow(detail));
    this.address.addEventListener("change", ({ detail }) => this.openAddress(detail).catch(complain));
    showCommand(this);
    showMoments(this);
    showLabelButton(this);
    listenForKeys(this);
    byId("new").addEventListener("click", () => this.step("end", 1));
    byId("usage-button").addEventListener("click", () => openUsage(this));
    byId("states-button").addEventListener("click", () => openStates(this));
    byId("help").addEventListener("click", () => this.openHelp());
    byId("clear-chosen").addEventListener("click", () => this.tree.clearChosen());
  }

  openHelp() {
    openHelp(this);
  }

  openLabel() {
    openLabel(this);
  }

  /** Opens the position of a link: {root, b, a, path, pathBytes, view}. */
  async openAddress(fields) {
    const current = await this.roots.load();
    const root = this.roots.list.some((root) => root.id === fields.root) ? fields.root : current;
    if (!root) return this.detail.refresh();
    if (root !== this.position.root) await this.openRoot(root, false);
    const b = fields.b ? await this.walk.withID(fields.b).catch(() => null) : this.latest;
    if (fields.b && !b) say(`Snapshot ${fields.b} is no longer in the archive. This is the latest one.`);
    const pinnedA = fields.a === "disk" ? disk : fields.a && b ? await this.walk.withID(fields.a).catch(() => null) : null;
    const item = fields.path ? { path: fields.path, pathBytes: fields.pathBytes, kind: fields.kind ?? "file" } : null;
    this.position.go({
      b: b ?? this.latest, pinnedA, isFollowing: !fields.b,
      item: samePlace(item, this.position.item) ? this.position.item : item,
      view: views.includes(fields.view) ? fields.view : "preview",
    });
    this.timeline.show(this.position.b?.time ?? null);
  }

  async openRoot(root, isAlone = true) {
    this.timeline.dataSource = new RootSource(this.api, root);
    this.walk = new Walk(this.api, this.timeline.dataSource);
    this.roots.show(root);
    this.#unseen = 0;
    this.#showNew();
    this.latest = await this.walk.latest();
    this.position.go({ root, b: this.latest, pinnedA: null, item: null, isFollowing: true });
    this.timeline.reload(true).catch(complain);
    if (isAlone) this.detail.refresh();
  }

  emptyNotice() {
    return notice("No snapshot yet: run archiver watch DIR.", element("p", { class: "muted" },
      "From then on, every change of the directory is captured and appears here."));
  }

  /** Selects an entry; a deleted one is shown in the last snapshot that has it. */
  select(item, lastIn = null) {
    if (item && lastIn) return this.openAt({ ...item, change: undefined }, lastIn, null);
    this.position.go({ item });
    // The focused view may be hidden now.
    if (!item && byId("detail").contains(document.activeElement)) this.tree.focus();
  }

  open(change) {
    this.position.go({ item: change, view: change.kind === "file" ? "diff" : this.position.view });
  }

  /** Opens a view of an entry in a snapshot that has it, and a line to scroll to. */
  openAt(item, b, find, view = "preview") {
    this.position.go({ item, b, pinnedA: null, isFollowing: b.id === this.latest?.id, view, find });
    this.timeline.show(b.time);
  }

  show(view) {
    if (byId(`tab-${view}`).hidden) return;
    this.position.go({ view });
  }

  refresh() {
    return this.detail.refresh();
  }

  goTo(snapshot, isA = false) {
    if (!snapshot) return;
    if (isA) this.position.go({ pinnedA: snapshot.id === this.position.b?.id ? null : snapshot });
    else this.position.go({ b: snapshot, isFollowing: snapshot.id === this.latest?.id });
    this.timeline.show(snapshot.time);
  }

  compareWith(snapshot) {
    this.goTo(snapshot, true);
  }

  async chooseTime(time, isA) {
    await this.walk?.at(time).then((snapshot) => this.goTo(snapshot, isA)).catch(complain);
  }

  togglePin() {
    const { pinnedA, b } = this.position;
    const isKept = pinnedA !== null && pinnedA !== disk;
    this.position.go({ pinnedA: isKept ? null : b });
    if (!isKept && b) say(`Compared with ${moment(b.time)} (A) from now on: choose another moment to show (B).`);
  }

  /** Compares with the files on disk, or with the snapshot before again. */
  toggleDisk() {
    const isDisk = this.position.pinnedA === disk;
    this.position.go({ pinnedA: isDisk ? null : disk });
  }

  step(unit, direction) {
    return this.#steps.take(unit, direction);
  }

  escape() {
    if (!clear() && this.position.item) this.select(null);
  }

  showVersions(times) {
    this.timeline.versions = times;
    this.timeline.show();
  }

  async #follow(changed) {
    const { position } = this;
    if (changed.has("b") || changed.has("pinnedA") || changed.has("root")) {
      if (position.isFollowing) this.#unseen = 0;
      this.#showNew();
      this.#mark();
      this.aLoaded = this.#loadA();
    }
    this.address.write({
      root: position.root, b: position.isFollowing ? null : position.b?.short,
      a: position.pinnedA ? shortOf(position.pinnedA.id) : null,
      path: position.item?.path, pathBytes: position.item?.pathBytes,
      kind: position.item && position.item.kind !== "file" ? position.item.kind : null,
      view: position.view === "preview" ? null : position.view,
    });
  }

  #mark() {
    const { b, aID } = this.position;
    const a = this.aSnapshot?.id === aID ? this.aSnapshot.time : null;
    this.timeline.marks = { a: b ? a : null, b: b?.time ?? null };
    if (b) this.timeline.setValue(b.time, spoken(b));
    this.timeline.show();
    writeMoments(this);
  }

  async #loadA() {
    const { aID, pinnedA } = this.position;
    if (aID === "none" || aID === "disk" || this.aSnapshot?.id === aID) return;
    const found = pinnedA ?? (await this.walk.withID(aID).catch(() => null));
    if (this.position.aID !== aID || !found) return;
    this.aSnapshot = found;
    this.#mark();
    this.restore.show();
  }

  /** A moment of the comparison; null if it is not a snapshot, or not known yet. */
  sideSnapshot = (id) => [this.position.b, this.aSnapshot].find((each) => each?.id === id) ?? null;

  /** The times of the older and the newer moment in words that differ; null where it is not known. */
  get sideTimes() {
    const { sides } = this.position;
    const [one, other] = [sides.older, sides.newer].map(this.sideSnapshot);
    const words = one && other ? versionTimes(one, other) : [one, other].map((each) => each && versionTime(each.time));
    return { older: words[0], newer: words[1] };
  }

  /** Refreshes the page after a capture, a restore or a label. */
  async changed() {
    this.walk.forget();
    this.operations.load();
    this.tree.reloadDeleted();
    this.#redrawSoon(false);
    const latest = await this.walk.latest().catch(() => null);
    if (latest) this.arrived(latest);
  }

  /** Refreshes the page after others have forgotten or labelled snapshots. */
  async othersChanged() {
    await this.changed();
    const { b } = this.position;
    if (!b) return;
    const found = await this.walk.withID(b.id).catch((error) => (error.status === 404 ? null : b));
    if (!found) {
      say(`The moment ${moment(b.time)} was forgotten. This is the nearest one before it.`);
      return this.goTo(await this.walk.at(b.time));
    }
    if (found.label !== b.label || found.pinned !== b.pinned) this.position.go({ b: found });
  }

  /** Follows a directory that was moved, and lists new ones. */
  async rootsChanged() {
    const { root } = this.position;
    const latest = this.latest?.id;
    const current = await this.roots.load();
    if (this.roots.list.some((each) => each.id === root)) return this.roots.show(root);
    const moved = this.roots.list.find((each) => each.latest?.id === latest);
    const next = moved?.id ?? current;
    if (!next) return;
    await this.openRoot(next);
    if (root) say(moved ? `The directory is now ${this.roots.path(next)}.` : "The directory that was shown is no longer in the archive.");
  }

  // A program may write many times a second.
  #redrawSoon = settled(200, (isFresh) => this.timeline.reload(isFresh).catch(complain));

  /** Handles a new snapshot: the view follows it if it shows the latest moment; otherwise it is counted. */
  arrived(snapshot) {
    if (this.latest?.id === snapshot.id) return;
    const isFirst = this.latest === null;
    this.latest = snapshot;
    this.walk.forget();
    this.#redrawSoon(isFirst);
    if (snapshot.added || snapshot.removed) this.tree.reloadDeleted();
    if (this.position.isFollowing) return this.goTo(snapshot);
    this.#unseen += 1;
    this.#showNew();
    this.detail.refresh();
  }

  #showNew() {
    byId("new").hidden = this.#unseen === 0;
    byId("new").textContent = `${this.#unseen} new →`;
  }
}
