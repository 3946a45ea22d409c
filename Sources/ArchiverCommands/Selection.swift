// What an argument of a command names: a snapshot, a path in one, or a program's saved state.

internal import ArchiveStorage
internal import ArchiverKit
internal import FileIO

/// What was named.
enum Selection {
    /// A snapshot, and the path behind the colon where there was one.
    case snapshot(ListedSnapshot, path: RelativePath?)
    case state(ListedState)
}

extension RootContext {
    /// What `argument` names.
    ///
    /// - Parameters:
    ///   - states: says whether it is a state in any case.
    ///   - isOfOneRoot: whether `latest` must not be of any of several roots, also without a path.
    func selection(
        _ argument: ByteArgument, _ states: StateOptions, isOfOneRoot: Bool = true
    ) throws -> Selection {
        if let title = states.title { return .state(try state(argument, titled: title)) }
        do {
            let named = try SnapshotPath(argument)
            if isOfOneRoot || named.path != nil { try requireOneRoot(for: named.selector) }
            if let path = named.path {
                let record = try snapshot(named.selector)
                let found = try paths(in: record.root).path(path) { try archive.entry(at: $0, in: record) != nil }
                return .snapshot(record, path: found)
            }
            switch try selected(named.selector) {
            case .snapshot(let record): return .snapshot(record, path: nil)
            case .state(let state): return .state(state)
            }
        } catch let error as ArchiverError {
            guard error.code == .noSuchSnapshot || error.code == .malformedSelector, !isExplicit else { throw error }
            // A title may have colons, or look like no selector at all.
            let text = String(decoding: argument.bytes, as: UTF8.self)
            if let state = try archive.state(.latest, titled: text) { return .state(state) }
            try refusePath(argument)
            throw try pathTakenForSnapshot(argument) ?? error
        }
    }

    /// What is to be compared with `left`: of the same title where it is named by its place in time.
    func selection(_ argument: ByteArgument, _ states: StateOptions, besides left: ListedState) throws -> Selection {
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
                remedy: "a program's states belong to no directory: leave out --root")
        }
        let selector = try SnapshotPath(argument).withoutPath("--state")
        if let state = try archive.state(selector, titled: title) { return state }
        throw ArchiverError(
            .noSuchSnapshot, "no state is saved under the title '\(title)'",
            remedy: "'archiver list --states' shows the titles")
    }

    /// How to write `argument` where it is a path instead of a snapshot; nil where it is not.
    private func pathTakenForSnapshot(_ argument: ByteArgument) throws -> Failure? {
        let roots = try root.map { [$0] } ?? archive.roots().filter(\.isHere)
        guard roots.count == 1, let only = roots.first, let latest = try? archive.snapshot(.latest, of: only),
            let path = try? paths(in: only).path(argument.bytes), !path.isRoot,
            try argument.bytes.contains(UInt8(ascii: "/")) || archive.entry(at: path, in: latest) != nil
        else { return nil }
        let selector = ShellWord.text(Array("latest:".utf8) + argument.bytes)
        return .usage(
            "'\(Escaping.text(argument.bytes))' is a path, not a snapshot",
            remedy: "write '\(selector)' for what the latest snapshot holds there, or another snapshot before the colon"
        )
    }

    /// Says so where `argument` names a path in a state.
    private func refusePath(_ argument: ByteArgument) throws {
        guard let named = try? SnapshotPath(argument), named.path != nil,
            case .state(let state)? = try? selected(named.selector)
        else { return }
        throw Failure.unsuitable(
            "\(named.selector) is a saved state of '\(state.title)', in which there are no paths",
            remedy: "leave out what follows the colon")
    }
}
