// The remedies of the library as commands and options: the only place that knows how the command line carries them out.

internal import ArchiveStorage
internal import Archives
internal import FileIO
internal import SystemPackage

/// Words the library's remedies for the command line.
enum CommandRemedy {
    /// A remedy as the command line words it; remedies that name nothing of the library stay as they are.
    ///
    /// - Parameter path: the file or directory concerned, for commands that take it.
    static func text(_ remedy: String?, path: FilePath? = nil) -> String? {
        guard let remedy else { return nil }
        if let advice = Advice(rawValue: remedy) { return text(advice, path.map { ShellWord.text($0.bytes) } ?? "DIR") }
        // One remedy after another, as of an operation that stopped half-way.
        guard let end = remedy.firstRange(of: ", then ") else { return remedy }
        return [remedy[..<end.lowerBound], remedy[end.upperBound...]]
            .compactMap { text(String($0), path: path) }.joined(separator: ", then ")
    }

    private static func text(_ advice: Advice, _ place: String) -> String {
        switch advice {
        case .nameArchive: "name an archive with --archive"
        case .mountDisk: "is its disk mounted? otherwise name the archive with --archive"
        case .putBack: "is its disk mounted? put the archive back, and run the command again"
        case .repairArchive: "run 'archiver repair', or put the file back from a copy of the archive"
        case .nameEmptyDirectory: "name an empty or new directory with --archive"
        case .nameDirectory: "name a directory with --archive"
        case .makeWritable: "make its directory writable, or use another one with --archive"
        case .seeWhatIsGood: "run 'archiver check' to see what is still good"
        case .seeWhatIsGoodElsewhere: "run 'archiver check' to see what is still good; other snapshots stay usable"
        case .repairFile: "repair or move the file; 'archiver check' shows what is good"
        case .rebuildAndCheck: "run 'archiver repair --catalogue', then 'archiver check'"
        case .rebuildCatalogue: "run 'archiver repair --catalogue'"
        case .rebuildIfThisPersists: "run 'archiver repair --catalogue' if this persists"
        case .moveNamedFiles: "run 'archiver check', and move the files that it names out of the archive"
        case .checkArchive: "run 'archiver check'"
        case .watchOrCapture: "'archiver watch \(place)' watches it, 'archiver capture \(place)' captures it now"
        case .readSelectors: "'archiver list' shows the ids, 'archiver help selectors' explains selectors"
        case .nameArchiveWithoutHome: "name the archive with --archive or $ARCHIVER_ARCHIVE"
        case .createArchive:
            "make one with 'archiver watch DIR' or 'archiver capture DIR', or name another with --archive"
        case .listEntries: "'archiver show --entries' lists what it holds"
        case .watchToCapture: "'archiver watch' makes them"
        case .waitForMark: "changes made until then belong to the state before the turn; 'archiver mark --wait' waits"
        case .watchOrWaitForMark: "run 'archiver watch', or 'archiver mark --wait' to capture it now"
        case .restoreElsewhere:
            "restore it elsewhere with '--target DIR', or that directory itself with '--root \(place)'"
        case .listMarks: "'archiver turns' lists the marks"
        case .restoreCopy: "nothing was changed; 'archiver restore --target DIR' writes it elsewhere"
        case .restoreAnother: "restore another snapshot; 'archiver list' shows them"
        case .listOperations: "'archiver operations' lists what was done"
        case .listStates: "'archiver list --states' shows all states"
        case .captureFirst: "make one with 'archiver capture \(place)'"
        case .listAll: "'archiver list' shows the snapshots, 'archiver list --states' the states"
        case .listLabels: "'archiver list' shows the labels"
        case .listIDs: "'archiver list' shows the ids"
        case .listSnapshots: "'archiver list' shows all snapshots"
        case .watchDirectory: "run 'archiver watch DIR'"
        case .watchRoot: "run 'archiver watch \(place)'"
        case .captureForReadable: "run 'archiver capture' for it to get a readable latest snapshot"
        case .askAgain: "wait, and run 'archiver status' again"
        case .giveAccess: "give the watcher's user access, or exclude the path with --exclude"
        case .raiseLimitOrPin: "raise the limit with 'archiver keep --max-size', or pin what must stay"
        case .raiseLimitOrPurge:
            "raise the limit with 'archiver keep --max-size', or remove large files with 'archiver purge'"
        case .raiseLimitOrSee:
            "run 'archiver prune --dry-run' to see which, or raise the limit: 'archiver keep --max-size'"
        case .freeSpaceOrPrune: "free some space, or run 'archiver prune' to forget old snapshots"
        case .readAsOther: "run the watcher as a user who may read them, or exclude them with --exclude"
        case .poll: "use 'archiver watch --backend poll' here"
        case .otherPlace: "choose another place with --archive"
        case .makeRoom: "free some space, choose another place with --archive, or exclude files with --exclude"
        case .setClock:
            "set the clock if it is wrong now; if it was wrong then, 'archiver forget' removes that snapshot"
        case .orderIsRight:
            "'archiver list' marks them; the order is right, and 'archiver forget' removes such a snapshot"
        case .captureEverything:
            "run 'archiver check', then capture everything, which rebuilds the state from the directory"
        case .restoreListed: "it cannot be undone; restore a snapshot that 'archiver list' names instead"
        case .listInOrder: "'archiver list' shows the snapshots in their order"
        case .nameGood: "fix the test, or name a good snapshot with --good"
        case .moveUnread: "'archiver check' names them: move the ones that are not read out of the archive"
        case .searchNames: "'archiver find' searches all names of all snapshots, 'archiver grep' the contents"
        case .forgetAndPrune: "'archiver forget' forgets snapshots, 'archiver prune --now' removes what is forgotten"
        case .checkClock: "check the clock; 'archiver keep --dry-run' shows them, 'archiver keep --now' forgets them"
        case .listForgotten: "'archiver list --forgotten' shows what is forgotten"
        case .forgetRoot: "'archiver roots forget --with-history' forgets the whole root"
        case .putBackSegments: "run 'archiver check' and put back the segments it names, or forget what is lost"
        case .widen: "a wider span needs a longer time than a narrower one: --minutely 48h --hourly 30d"
        case .listRoots: "'archiver roots' shows the directories"
        case .listPins: "'archiver pin' lists what is pinned"
        case .unpin: "unpin it first with 'archiver unpin'"
        case .otherFileSystem: "this file system cannot hold it: restore it to another one with '--target DIR'"
        case .checkData: "run 'archiver check --data' to find other damage"
        case .finishOrUndo: "run it again to finish it, or 'archiver undo' to reverse it"
        case .restoreDirectory: "restore \(place) instead, or elsewhere with '--target'"
        case .unmount: "unmount it and restore again, or restore elsewhere with '--target DIR'"
        case .useGood: "use another snapshot; 'archiver check' shows which are good"
        case .captureElsewhere: "capture another directory, or use another archive with --archive"
        case .startWatching: "run 'archiver watch'"
        case .giveBothTimes: "give --settle and --max-delay together"
        case .waitForRoot: "check the spelling, or wait for it with --wait"
        case .addReplica: "remove it with 'archiver replica remove', then add it with 'archiver replica add'"
        case .listReplicas: "'archiver replica list' shows the replicas"
        case .nameRecipient:
            "make a key with 'archiver keys new', and name it with --recipient; or leave it unencrypted: --no-encryption"
        case .sendToReplica: "run 'archiver watch', or 'archiver replica sync'"
        case .nameIdentity: "name the file with --identity"
        case .checkReplica: "run 'archiver replica check', which sends again what is missing"
        case .cloneToWrite: "'archiver replica clone' makes an archive of it that can be changed"
        case .replicaOfOther:
            "run 'archiver replica remove' here, and 'archiver replica add' with a new address"
        case .cloneReplica:
            "'archiver replica clone' gets what it has beyond this archive; then 'archiver replica remove' it, and add "
                + "one with a new address"
        case .fetchSegments: "bring them back with 'archiver replica fetch'"
        case .automaticBackend: "use '--backend auto', which uses what is available"
        }
    }
}
