// The words for fields in JSON: every output for programs uses these, each with one meaning.

/// A key of a JSON object: a word of the vocabulary, or one followed by `Bytes`.
struct JSONKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ word: String) { stringValue = word }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    /// The key of the same value in base64.
    var bytes: JSONKey { JSONKey(stringValue + "Bytes") }
}

/// The vocabulary; the article on JSON output has the same table.
extension JSONKey {
    /// What a restore does with a path: create, replace, metadata, delete.
    static let action = JSONKey("action")
    /// The steps of a dry run.
    static let actions = JSONKey("actions")
    /// How many entries are new.
    static let added = JSONKey("added")
    /// Where a replica is.
    static let address = JSONKey("address")
    /// The snapshot after it.
    static let after = JSONKey("after")
    /// The age in seconds up to which a tier keeps; null for ever.
    static let age = JSONKey("age")
    /// Whether no other operation changed the root at the same time.
    static let alone = JSONKey("alone")
    /// The archive: its path, size and limits.
    static let archive = JSONKey("archive")
    /// Whether a snapshot has exclusions of its own.
    static let aside = JSONKey("aside")
    /// What differs: content, permissions, owner, time and others.
    static let aspects = JSONKey("aspects")
    /// Extended attributes; values in base64.
    static let attributes = JSONKey("attributes")
    /// The time between two audits.
    static let auditSeconds = JSONKey("auditSeconds")
    /// When it appeared again.
    static let back = JSONKey("back")
    /// The bytes of the segments that are only in replicas.
    static let awayBytes = JSONKey("awayBytes")
    /// The segments that are only in replicas.
    static let awaySegments = JSONKey("awaySegments")
    /// The first snapshot that has it again.
    static let backIn = JSONKey("backIn")
    /// How changes are detected.
    static let backend = JSONKey("backend")
    /// Changes that wait to be captured.
    static let backlog = JSONKey("backlog")
    /// The snapshot before it; null if there was none.
    static let before = JSONKey("before")
    /// How many blocks.
    static let blocks = JSONKey("blocks")
    /// Snapshots around pauses.
    static let burst = JSONKey("burst")
    /// The root that it is captured with.
    static let by = JSONKey("by")
    /// The size of the contents.
    static let bytes = JSONKey("bytes")
    /// The archive's size afterwards.
    static let bytesAfter = JSONKey("bytesAfter")
    /// The archive's size before.
    static let bytesBefore = JSONKey("bytesBefore")
    /// How many bytes were read.
    static let bytesRead = JSONKey("bytesRead")
    /// What stays because the disk has no room for a copy.
    static let bytesWithoutRoom = JSONKey("bytesWithoutRoom")
    /// Bytes written to files.
    static let bytesWritten = JSONKey("bytesWritten")
    /// Whether directories tagged as caches are excluded.
    static let caches = JSONKey("caches")
    /// What an ambiguous name may mean.
    static let candidates = JSONKey("candidates")
    /// When a large file was captured last.
    static let captured = JSONKey("captured")
    /// Why it was made or happened.
    static let cause = JSONKey("cause")
    /// Why the limits cannot be reached.
    static let causes = JSONKey("causes")
    /// The file that proves a purge.
    static let certificate = JSONKey("certificate")
    /// What happened to a path.
    static let change = JSONKey("change")
    /// When a large file changed last.
    static let changed = JSONKey("changed")
    /// The changed paths, at most as many as a snapshot records.
    static let changedPaths = JSONKey("changedPaths")
    /// How many chunks.
    static let chunks = JSONKey("chunks")
    /// Whether the archive will soon exceed its limits.
    static let closeToLimits = JSONKey("closeToLimits")
    /// A word that names the kind of an error.
    static let code = JSONKey("code")
    /// Whether everything was done.
    static let complete = JSONKey("complete")
    /// A replica has everything that was committed before this.
    static let completeUntil = JSONKey("completeUntil")
    /// The path of the configuration.
    static let configuration = JSONKey("configuration")
    /// The place in the configuration that sets how a root is watched; null if none does.
    static let configured = JSONKey("configured")
    /// How many deleted entries were below a directory.
    static let contained = JSONKey("contained")
    /// How many.
    static let count = JSONKey("count")
    /// How many paths were created.
    static let created = JSONKey("created")
    /// Whether other file systems inside are captured.
    static let crossesFileSystems = JSONKey("crossesFileSystems")
    /// Whether everything that changed is captured.
    static let current = JSONKey("current")
    /// Bytes of an unfinished commit that were cut off.
    static let cutBytes = JSONKey("cutBytes")
    /// How much the archive grows in a day.
    static let dailyBytes = JSONKey("dailyBytes")
    /// Whether damage of the archive is the reason.
    static let damage = JSONKey("damage")
    /// Snapshots that are damaged.
    static let damaged = JSONKey("damaged")
    /// A day in UTC.
    static let day = JSONKey("day")
    /// Days until the space is used up; null if unknown.
    static let daysLeft = JSONKey("daysLeft")
    /// How many paths were deleted; of a name, whether it is deleted.
    static let deleted = JSONKey("deleted")
    /// The last snapshots with a deleted file.
    static let deletedFile = JSONKey("deletedFile")
    /// The first snapshot without it.
    static let deletedIn = JSONKey("deletedIn")
    /// Where files were written.
    static let destination = JSONKey("destination")
    /// More about it, for people.
    static let detail = JSONKey("detail")
    /// The device number of a device file.
    static let device = JSONKey("device")
    /// How many directories.
    static let directories = JSONKey("directories")
    /// How many segments were deleted.
    static let droppedSegments = JSONKey("droppedSegments")
    /// Whether nothing was changed.
    static let dryRun = JSONKey("dryRun")
    /// Snapshots that an unfinished purge had replaced.
    static let earlier = JSONKey("earlier")
    /// Whether helper files of editors are excluded.
    static let editorHelpers = JSONKey("editorHelpers")
    /// Whether only the recipients can read it.
    static let encrypted = JSONKey("encrypted")
    /// When it ended.
    static let end = JSONKey("end")
    /// The entries of a directory; of an audit, how many were compared.
    static let entries = JSONKey("entries")
    /// The entry at the given path.
    static let entry = JSONKey("entry")
    /// The error that ended the command.
    static let error = JSONKey("error")
    /// The kind of an event.
    static let event = JSONKey("event")
    /// The bytes of the segments that left the local disk.
    static let evictedBytes = JSONKey("evictedBytes")
    /// The segments that left the local disk.
    static let evictedSegments = JSONKey("evictedSegments")
    /// Why more segments did not leave the local disk.
    static let evictionCauses = JSONKey("evictionCauses")
    /// Paths left alone because they are excluded.
    static let excluded = JSONKey("excluded")
    /// The rules of a root.
    static let exclusions = JSONKey("exclusions")
    /// How many paths were not restored.
    static let failed = JSONKey("failed")
    /// The kernel's limit of fanotify marks.
    static let fanotifyMarks = JSONKey("fanotifyMarks")
    /// How many files.
    static let files = JSONKey("files")
    /// How many findings there are.
    static let findingCount = JSONKey("findingCount")
    /// What is wrong, with a remedy.
    static let findings = JSONKey("findings")
    /// The first snapshot, or its time; of a directory's version, whether it is the first.
    static let first = JSONKey("first")
    /// The first snapshot at which the command failed.
    static let firstBad = JSONKey("firstBad")
    /// What was forgotten, how many, or when.
    static let forgotten = JSONKey("forgotten")
    /// How many were forgotten for lack of room.
    static let forgottenForRoom = JSONKey("forgottenForRoom")
    /// Changes that no event had reported.
    static let found = JSONKey("found")
    /// Free space on the archive's disk.
    static let freeBytes = JSONKey("freeBytes")
    /// The space that was freed.
    static let freedBytes = JSONKey("freedBytes")
    /// Where a value comes from: an option, a variable, a place in the configuration, or the default.
    static let from = JSONKey("from")
    /// How many gaps.
    static let gaps = JSONKey("gaps")
    /// Gaps since the previous snapshot.
    static let gapsBefore = JSONKey("gapsBefore")
    /// Gaps of the last day.
    static let gapsInLastDay = JSONKey("gapsInLastDay")
    /// When it disappeared; null if it is still there.
    static let gone = JSONKey("gone")
    /// The first snapshot without it.
    static let goneIn = JSONKey("goneIn")
    /// How many snapshots can be restored.
    static let goodSnapshots = JSONKey("goodSnapshots")
    /// The number of the owning group.
    static let group = JSONKey("group")
    /// Whether the root is on this machine.
    static let here = JSONKey("here")
    /// The name of the machine.
    static let host = JSONKey("host")
    /// The id of a snapshot, state or record.
    static let id = JSONKey("id")
    /// The names of files with exclude patterns.
    static let ignoreFiles = JSONKey("ignoreFiles")
    /// The kernel's limit of inotify instances.
    static let inotifyInstances = JSONKey("inotifyInstances")
    /// The kernel's limit of waiting events.
    static let inotifyQueuedEvents = JSONKey("inotifyQueuedEvents")
    /// The kernel's limit of inotify watches.
    static let inotifyWatches = JSONKey("inotifyWatches")
    /// Whether a signal ended it.
    static let interrupted = JSONKey("interrupted")
    /// Spans without the line.
    static let interruptions = JSONKey("interruptions")
    /// The least time between two captures of a large file.
    static let intervalSeconds = JSONKey("intervalSeconds")
    /// What uses space, the largest first.
    static let items = JSONKey("items")
    /// Snapshots that stay, by the reason.
    static let kept = JSONKey("kept")
    /// The name of a setting.
    static let key = JSONKey("key")
    /// File, directory, symlink and others; of an operation: restore, undo, redo, run.
    static let kind = JSONKey("kind")
    /// The user's name for it.
    static let label = JSONKey("label")
    /// Snapshots with a label.
    static let labelled = JSONKey("labelled")
    /// How much the archive exceeds its limits.
    static let lackingBytes = JSONKey("lackingBytes")
    /// How long ago a replica had everything.
    static let lagSeconds = JSONKey("lagSeconds")
    /// The size from which a file counts as large.
    static let largeFileBytes = JSONKey("largeFileBytes")
    /// The longest delay of a large file.
    static let largeFileDelaySeconds = JSONKey("largeFileDelaySeconds")
    /// Large files that wait to be captured.
    static let largeFiles = JSONKey("largeFiles")
    /// The size above which files are excluded.
    static let largerThan = JSONKey("largerThan")
    /// The last snapshot.
    static let last = JSONKey("last")
    /// The latest audit.
    static let lastAudit = JSONKey("lastAudit")
    /// When the watcher captured last.
    static let lastCapture = JSONKey("lastCapture")
    /// When it changed last.
    static let lastChanged = JSONKey("lastChanged")
    /// The snapshot with its last change.
    static let lastChangedIn = JSONKey("lastChangedIn")
    /// What the last check found; null if there was none.
    static let lastCheck = JSONKey("lastCheck")
    /// When a replica was last compared with the archive.
    static let lastComparison = JSONKey("lastComparison")
    /// When every byte of a replica was last read.
    static let lastDataCheck = JSONKey("lastDataCheck")
    /// When the kernel reported a change last.
    static let lastEvent = JSONKey("lastEvent")
    /// The last snapshot at which the command succeeded.
    static let lastGood = JSONKey("lastGood")
    /// The last snapshot with it.
    static let lastIn = JSONKey("lastIn")
    /// When files of a replica alone were last compared.
    static let lastTest = JSONKey("lastTest")
    /// When a watcher was last active.
    static let lastWatched = JSONKey("lastWatched")
    /// The previous snapshot, if it is dated later.
    static let laterPrevious = JSONKey("laterPrevious")
    /// The latest snapshot.
    static let latest = JSONKey("latest")
    /// The earlier side.
    static let left = JSONKey("left")
    /// The size of what differs, on the earlier side.
    static let leftBytes = JSONKey("leftBytes")
    /// Limits of the kernel.
    static let limits = JSONKey("limits")
    /// Whether forgetting more would be enough.
    static let limitsCanBeReached = JSONKey("limitsCanBeReached")
    /// The number of a line.
    static let line = JSONKey("line")
    /// Lines that were added.
    static let linesAdded = JSONKey("linesAdded")
    /// Lines that were removed.
    static let linesRemoved = JSONKey("linesRemoved")
    /// Entries with the same number are hard links.
    static let linkGroup = JSONKey("linkGroup")
    /// The most of the archive that stays on the local disk; null for no limit.
    static let localSizeBytes = JSONKey("localSizeBytes")
    /// The segments whose loss was accepted.
    static let lost = JSONKey("lost")
    /// The id of the machine.
    static let machine = JSONKey("machine")
    /// Snapshots around mass changes.
    static let massChange = JSONKey("massChange")
    /// The longest delay of a capture.
    static let maxDelaySeconds = JSONKey("maxDelaySeconds")
    /// The archive's maximum size; null for no limit.
    static let maxSizeBytes = JSONKey("maxSizeBytes")
    /// Whether the credentials may delete objects.
    static let mayDelete = JSONKey("mayDelete")
    /// A sentence for people.
    static let message = JSONKey("message")
    /// How many paths only got other metadata.
    static let metadata = JSONKey("metadata")
    /// The space to leave free on the disk.
    static let minFreeBytes = JSONKey("minFreeBytes")
    /// The share of the disk to leave free.
    static let minFreePercent = JSONKey("minFreePercent")
    /// Committed bytes that a replica lacks.
    static let missingBytes = JSONKey("missingBytes")
    /// How many entries have changed; of an entry, its modification time.
    static let modified = JSONKey("modified")
    /// Directories on which another file system is mounted.
    static let mountPoints = JSONKey("mountPoints")
    /// Files that were moved out of the way.
    static let moved = JSONKey("moved")
    /// What was copied to other segments.
    static let movedBytes = JSONKey("movedBytes")
    /// A name that a person gave, or of an attribute.
    static let name = JSONKey("name")
    /// The purged names.
    static let names = JSONKey("names")
    /// The snapshot that replaces another; of a watched root, whether a snapshot was made.
    static let new = JSONKey("new")
    /// The newest snapshots.
    static let newest = JSONKey("newest")
    /// Whether it is the next to undo or redo.
    static let next = JSONKey("next")
    /// Whether the next run continues.
    static let nextRunForgetsMore = JSONKey("nextRunForgetsMore")
    /// The notes about a snapshot.
    static let notes = JSONKey("notes")
    /// The number of a session or turn, counted from the latest.
    static let number = JSONKey("number")
    /// How many objects of a replica.
    static let objects = JSONKey("objects")
    /// What uses the space: root, directory, file, states, elsewhere, shared, records.
    static let of = JSONKey("of")
    /// The snapshot that was replaced.
    static let old = JSONKey("old")
    /// Segments that only the replica has.
    static let onlyInReplica = JSONKey("onlyInReplica")
    /// Gaps that have not ended.
    static let openGaps = JSONKey("openGaps")
    /// The operation that was recorded.
    static let operation = JSONKey("operation")
    /// How many records of operations.
    static let operations = JSONKey("operations")
    /// The other name of a renamed path.
    static let otherPath = JSONKey("otherPath")
    /// How many entries that are neither files nor directories.
    static let others = JSONKey("others")
    /// Whether the time contradicts the order; of a root, how many snapshots.
    static let outOfOrder = JSONKey("outOfOrder")
    /// Whether the root has a policy of its own.
    static let own = JSONKey("own")
    /// Bytes that nothing else uses.
    static let ownBytes = JSONKey("ownBytes")
    /// The number of the owner.
    static let owner = JSONKey("owner")
    /// The snapshot that it continues.
    static let parent = JSONKey("parent")
    /// A path below the root; of the archive, its directory.
    static let path = JSONKey("path")
    /// Exclude patterns.
    static let patterns = JSONKey("patterns")
    /// Permission bits as octal digits.
    static let permissions = JSONKey("permissions")
    /// What a watcher is doing.
    static let phase = JSONKey("phase")
    /// The pin; null without one.
    static let pin = JSONKey("pin")
    /// Whether it is pinned; of a pin, since when.
    static let pinned = JSONKey("pinned")
    /// Snapshots that the policy keeps.
    static let policy = JSONKey("policy")
    /// Directories that are scanned at intervals.
    static let polled = JSONKey("polled")
    /// How long the watcher took to answer.
    static let probeSeconds = JSONKey("probeSeconds")
    /// The snapshots that were tested.
    static let probes = JSONKey("probes")
    /// Paths that could not be captured or restored.
    static let problemPaths = JSONKey("problemPaths")
    /// How many paths could not be captured or restored.
    static let problems = JSONKey("problems")
    /// The number of a process.
    static let process = JSONKey("process")
    /// How long it takes to read a large file.
    static let readSeconds = JSONKey("readSeconds")
    /// Why.
    static let reason = JSONKey("reason")
    /// A public key that can read replicas.
    static let recipient = JSONKey("recipient")
    /// The snapshot or state; null if it cannot be read.
    static let record = JSONKey("record")
    /// How many records.
    static let records = JSONKey("records")
    /// Whether the store refuses to replace objects.
    static let refusesToOverwrite = JSONKey("refusesToOverwrite")
    /// The root whose history may continue here.
    static let related = JSONKey("related")
    /// How two roots are related: moved, replaced, otherMachine.
    static let relation = JSONKey("relation")
    /// What to do about it.
    static let remedy = JSONKey("remedy")
    /// How many entries are gone.
    static let removed = JSONKey("removed")
    /// How many were renamed.
    static let renamed = JSONKey("renamed")
    /// How many of them were captured.
    static let repaired = JSONKey("repaired")
    /// How many paths were replaced.
    static let replaced = JSONKey("replaced")
    /// A replica's name.
    static let replica = JSONKey("replica")
    /// The replicas.
    static let replicas = JSONKey("replicas")
    /// Paths of repositories that were left alone.
    static let repositories = JSONKey("repositories")
    /// Space that is reserved for a full disk.
    static let reservedBytes = JSONKey("reservedBytes")
    /// Whether it finishes an interrupted one.
    static let resumed = JSONKey("resumed")
    /// Since when no watcher is expected.
    static let retired = JSONKey("retired")
    /// The operation that is undone or redone.
    static let reverts = JSONKey("reverts")
    /// The later side.
    static let right = JSONKey("right")
    /// The size of what differs, on the later side.
    static let rightBytes = JSONKey("rightBytes")
    /// Free space that would let it continue.
    static let roomNeededBytes = JSONKey("roomNeededBytes")
    /// The absolute path of the root.
    static let root = JSONKey("root")
    /// How many roots.
    static let rootCount = JSONKey("rootCount")
    /// The roots.
    static let roots = JSONKey("roots")
    /// How often the command was run.
    static let runs = JSONKey("runs")
    /// How long it took.
    static let seconds = JSONKey("seconds")
    /// How many segments.
    static let segments = JSONKey("segments")
    /// Segments that others are using.
    static let segmentsInUse = JSONKey("segmentsInUse")
    /// Segments that stay because a replica lacks them.
    static let segmentsNotReplicated = JSONKey("segmentsNotReplicated")
    /// Segments that stay for lack of room.
    static let segmentsWithoutRoom = JSONKey("segmentsWithoutRoom")
    /// What was missing in a replica and was sent again.
    static let sentAgain = JSONKey("sentAgain")
    /// The number of a snapshot in its root.
    static let sequence = JSONKey("sequence")
    /// How the service starts.
    static let service = JSONKey("service")
    /// The timing of a root.
    static let settings = JSONKey("settings")
    /// How long nothing must change before a capture.
    static let settleSeconds = JSONKey("settleSeconds")
    /// The public key that signs a replica.
    static let signer = JSONKey("signer")
    /// Since when.
    static let since = JSONKey("since")
    /// The size of a file in bytes.
    static let size = JSONKey("size")
    /// How many paths were right already.
    static let skipped = JSONKey("skipped")
    /// The snapshot, or its id.
    static let snapshot = JSONKey("snapshot")
    /// How many snapshots; of a purge, those that were replaced.
    static let snapshots = JSONKey("snapshots")
    /// The number of the line in the version that introduced it.
    static let sourceLine = JSONKey("sourceLine")
    /// Damaged copies of data that is intact elsewhere.
    static let spareDamage = JSONKey("spareDamage")
    /// How many such copies there are.
    static let spareDamageCount = JSONKey("spareDamageCount")
    /// When it began.
    static let start = JSONKey("start")
    /// The value of a saved state.
    static let state = JSONKey("state")
    /// The space that saved states take.
    static let stateStoredBytes = JSONKey("stateStoredBytes")
    /// How many saved states.
    static let states = JSONKey("states")
    /// The exit status of the command.
    static let status = JSONKey("status")
    /// The operations that were undone or redone.
    static let steps = JSONKey("steps")
    /// Purged paths that still exist on disk.
    static let stillThere = JSONKey("stillThere")
    /// The space that it added to the archive.
    static let storedBytes = JSONKey("storedBytes")
    /// The space that the last day added.
    static let storedInLastDay = JSONKey("storedInLastDay")
    /// Snapshots of which one is the first bad one.
    static let suspects = JSONKey("suspects")
    /// The target of a link; of an undo, the operation.
    static let target = JSONKey("target")
    /// A line, or the text of a note.
    static let text = JSONKey("text")
    /// What 'keep --usual' would free.
    static let thinningBytes = JSONKey("thinningBytes")
    /// What 'keep --usual' would forget.
    static let thinningSnapshots = JSONKey("thinningSnapshots")
    /// The tiers of a policy.
    static let tiers = JSONKey("tiers")
    /// When it was made or happened.
    static let time = JSONKey("time")
    /// The title of a saved state.
    static let title = JSONKey("title")
    /// What a finding is about.
    static let topic = JSONKey("topic")
    /// The chunk of a snapshot's tree.
    static let tree = JSONKey("tree")
    /// The type of a saved state.
    static let type = JSONKey("type")
    /// The snapshot that undo restores.
    static let undo = JSONKey("undo")
    /// Whether it was undone.
    static let undone = JSONKey("undone")
    /// The operation that undid it.
    static let undoneBy = JSONKey("undoneBy")
    /// What no listed snapshot needs.
    static let unneededBytes = JSONKey("unneededBytes")
    /// Directories that cannot be read.
    static let unreadable = JSONKey("unreadable")
    /// Whether a file changed while it was read.
    static let unstable = JSONKey("unstable")
    /// When a pin ends; null for never.
    static let until = JSONKey("until")
    /// The address of the page.
    static let url = JSONKey("url")
    /// The space that the archive uses.
    static let usedBytes = JSONKey("usedBytes")
    /// A value in base64, or the value of a field.
    static let value = JSONKey("value")
    /// Good, note or bad; of a probe: good, bad, skipped.
    static let verdict = JSONKey("verdict")
    /// What was found when the archive was read again.
    static let verification = JSONKey("verification")
    /// Since when all bytes have been read and verified; null if some never were.
    static let verifiedSince = JSONKey("verifiedSince")
    /// The version of a type, or of the program.
    static let version = JSONKey("version")
    /// How many versions.
    static let versions = JSONKey("versions")
    /// What is freed later.
    static let waitingBytes = JSONKey("waitingBytes")
    /// Dropped segments that stay for now.
    static let waitingSegments = JSONKey("waitingSegments")
    /// When it is freed at the latest.
    static let waitingUntil = JSONKey("waitingUntil")
    /// What is wrong with the archive.
    static let warning = JSONKey("warning")
    /// How many warnings there are.
    static let warningCount = JSONKey("warningCount")
    /// What people should know; of an event, how many were dropped.
    static let warnings = JSONKey("warnings")
    /// Whether a watcher runs.
    static let watched = JSONKey("watched")
    /// The running watcher; null without one.
    static let watcher = JSONKey("watcher")
    /// Whether nothing is wrong.
    static let well = JSONKey("well")
    /// The span of a tier in seconds; 0 keeps all.
    static let width = JSONKey("width")
}
