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
    /// - Parameter states: if it has a title, the argument names a saved state.
    func selection(_ argument: ByteArgument, _ states: StateOptions) throws -> PathSelection {
        // As from "$(archiver pick)" if that was left without a choice.
        if argument.bytes.isEmpty {
            throw Failure.usage("no snapshot was chosen", remedy: "name one, such as 'latest'")
        }
        if let title = states.title { return .state(try state(argument, titled: title)) }
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
    func selection(_ argument: ByteArgument, _ states: StateOptions, besides left: ListedState) throws -> PathSelection
    {
        guard states.title == nil, let named = try? SnapshotPath(argument), named.path == nil,
            named.selector.isRelative
        else { return try selection(argument, states) }
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

    /// The failure that shows how to write a selector of git; nil if `argument` is none.
    private static func habit(_ argument: ByteArgument) -> Failure? {
        let text = String(decoding: argument.bytes, as: UTF8.self)
        if let ends = text.firstMatch(of: /^([^.:]+)\.\.\.?([^.:]*)$/) {
            let later = ends.2.isEmpty ? "latest" : String(ends.2)
            let words = ShellWord.text(String(ends.1)) + " " + ShellWord.text(later)
            return .usage("'\(Escaping.text(text))' is not one snapshot", remedy: "name two: \(words)")
        }
        guard let head = text.firstMatch(of: /^(HEAD|@)([~^][0-9]*)?(:.*)?$/) else { return nil }
        let back = String(head.2 ?? "").replacing("^", with: "~")
        let path = head.3.map { ":" + ShellWord.text(String($0.dropFirst())) } ?? ""
        let word = "latest" + (back == "~" ? "~1" : back) + path
        return .usage(
            "'\(Escaping.text(text))' is no snapshot", remedy: "the newest is 'latest': write '\(word)'")
    }

    /// The failure that shows how to write `argument` if it is a path instead of a snapshot; nil otherwise.
    private func pathTakenForSnapshot(_ argument: ByteArgument) throws -> Failure? {
        let holder = try root ?? archive.root(holding: FilePath(bytes: argument.bytes).absolute)
        let roots = try holder.map { [$0] } ?? archive.roots().filter(\.isHere)
        guard roots.count == 1, let only = roots.first, let latest = try? archive.snapshot(.latest, of: only),
            let path = try? paths(in: only).path(argument.bytes), !path.isRoot
        else { return nil }
        if try archive.entry(at: path, in: latest) == nil, try archive.unknownHistoryCount(of: only) == 0 {
            // A path of an earlier snapshot: the failure names that snapshot.
            switch try archive.whereabouts(of: path, missingFrom: latest) {
            case .deleted, .renamed: return try absence(of: path, latest)
            default: break
            }
        }
        guard try argument.bytes.contains(UInt8(ascii: "/")) || archive.entry(at: path, in: latest) != nil else {
            return nil
        }
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
