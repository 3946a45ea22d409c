// Resolves a command's argument to a snapshot, a path in a snapshot, or a saved state.

internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// The snapshot, path or saved state that an argument names.
enum PathSelection {
    /// A snapshot, and the path after the colon if there is one.
    case snapshot(ListedSnapshot, path: RelativePath?)
    case state(ListedState)
}

extension RootContext {
    /// Resolves `argument`.
    ///
    /// - Parameter title: if given, the argument names a saved state with this title.
    func selection(_ argument: ByteArgument, titled title: String?) throws -> PathSelection {
        // As from "$(archiver pick)" if that was left without a choice.
        if argument.bytes.isEmpty {
            throw Failure.usage("no snapshot was chosen", remedy: "name one, such as 'latest'")
        }
        if let title { return .state(try state(argument, titled: title)) }
        do {
            let named = try SnapshotPath(argument)
            try requireOneRoot(for: named.selector)
            if let path = named.path {
                let snapshot = try self.snapshot(named.selector)
                let found = try paths(in: snapshot.root).path(path) { try archive.entry(at: $0, in: snapshot) != nil }
                return .snapshot(snapshot, path: found)
            }
            switch try selected(named.selector) {
            case .snapshot(let snapshot): return .snapshot(snapshot, path: nil)
            case .state(let state): return .state(state)
            }
        } catch let error as ArchiverError {
            guard error.code == .noSuchSnapshot || error.code == .malformedSelector, !isExplicit else { throw error }
            // A title may contain colons, or not be a valid selector.
            let text = String(decoding: argument.bytes, as: UTF8.self)
            if let state = try archive.state(.latest, titled: text) { return .state(state) }
            try refusePath(argument)
            if let failure = try RootContext.habit(argument) ?? pathTakenForSnapshot(argument) { throw failure }
            throw error
        }
    }

    /// Resolves the argument to compare with `left`; a relative selector names a state with the same title.
    func selection(
        _ argument: ByteArgument, titled title: String?, besides left: ListedState
    ) throws -> PathSelection {
        guard title == nil, let named = try? SnapshotPath(argument), named.path == nil,
            named.selector.isRelative
        else { return try selection(argument, titled: title) }
        return .state(try state(argument, titled: left.title))
    }

    /// The state of `title` that `argument` names.
    private func state(_ argument: ByteArgument, titled title: String) throws -> ListedState {
        guard !isExplicit else {
            throw Failure.usage(
                "--root and --state exclude each other",
                remedy: "saved states do not belong to a root: leave out --root")
        }
        let selector = try SnapshotPath(argument).withoutPath("--state")
        if let state = try archive.state(selector, titled: title) { return state }
        throw ArchiverError(
            .noSuchSnapshot, "no state is saved under the title '\(title)'",
            remedy: "'archiver list --states' lists the titles")
    }

    /// Runs `body`, and explains a selector of git in the place of its error.
    static func answeringHabits<Result>(_ argument: ByteArgument, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as ArchiverError {
            guard error.code == .noSuchSnapshot || error.code == .malformedSelector else { throw error }
            throw habit(argument) ?? error
        }
    }

    /// The failure that shows how to write a selector of git; nil if `argument` is none.
    static func habit(_ argument: ByteArgument) -> Failure? {
        let text = String(decoding: argument.bytes, as: UTF8.self)
        if let ends = text.firstMatch(of: /^([^.:\/]+)\.\.\.?([^.:\/]*)$/) {
            let words = [ends.1, ends.2].map { ShellWord.text($0.isEmpty ? "latest" : latest($0)) }.joined(
                separator: " ")
            return .usage("'\(Escaping.text(text))' is not one snapshot", remedy: "name two: \(words)")
        }
        let word = latest(text[...])
        guard word != text else { return nil }
        return .usage(
            "'\(Escaping.text(text))' is no snapshot", remedy: "the newest is 'latest': write '\(ShellWord.text(word))'"
        )
    }

    /// A selector of git's in the words of archiver: `latest~1` for `HEAD^`; anything else as it is.
    private static func latest(_ text: Substring) -> String {
        guard let head = text.wholeMatch(of: /(HEAD|@)([~^][0-9]*)?(:.*)?/) else { return String(text) }
        let back = String(head.2 ?? "").replacing("^", with: "~")
        return "latest" + (back == "~" ? "~1" : back) + String(head.3 ?? "")
    }

    /// The failure that shows how to write `argument` if it is a path instead of a snapshot; nil otherwise.
    private func pathTakenForSnapshot(_ argument: ByteArgument) throws -> Failure? {
        let holder = try root ?? archive.root(holding: FilePath(bytes: argument.bytes).absolute)
        let roots = try holder.map { [$0] } ?? archive.roots().filter(\.isHere)
        guard roots.count == 1, let only = roots.first, let latest = try? archive.snapshot(.latest, of: only),
            let path = try? paths(in: only).path(argument.bytes), !path.isRoot || holder != nil
        else { return nil }
        if try archive.entry(at: path, in: latest) == nil, try archive.unknownHistoryCount(of: only) == 0 {
            // A path of an earlier snapshot: the failure names that snapshot.
            switch try archive.whereabouts(of: path, missingFrom: latest) {
            case .deleted, .renamed: return try absence(of: path, latest)
            default: break
            }
        }
        // A `selector:path` with an unknown selector is no path, unless there is one with exactly this name.
        let isSelector = (try? SnapshotPath(argument))?.path != nil
        guard
            try !isSelector && argument.bytes.contains(UInt8(ascii: "/"))
                || archive.entry(at: path, in: latest) != nil
        else { return nil }
        let selector = ShellWord.text(Array("latest:".utf8) + argument.bytes)
        return .usage(
            "'\(Escaping.text(argument.bytes))' is a path, not a snapshot",
            remedy: "write '\(selector)' for that path in the latest snapshot; another snapshot can precede the colon")
    }

    /// Throws if `argument` names a path in a saved state.
    private func refusePath(_ argument: ByteArgument) throws {
        guard let named = try? SnapshotPath(argument), named.path != nil,
            case .state(let state)? = try? selected(named.selector)
        else { return }
        throw Failure.unsuitable(
            "\(named.selector) is a saved state of '\(state.title)', which has no paths",
            remedy: "leave out the colon and the path")
    }
}
