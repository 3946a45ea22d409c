// The result of a selector: a snapshot of a directory, or a program's saved state.

public import ArchiveFormat
public import ArchiveStorage
public import FileIO

/// A snapshot or a saved state.
public enum Selection: Sendable, Hashable {
    /// The state of a directory.
    case snapshot(ListedSnapshot)
    /// The state of a program.
    case state(ListedState)

    /// The id of the chunk that holds its record.
    public var id: ChunkID {
        switch self {
        case .snapshot(let snapshot): snapshot.id.chunk
        case .state(let state): state.id.chunk
        }
    }

    /// When it was made.
    public var time: Timestamp {
        switch self {
        case .snapshot(let snapshot): snapshot.time
        case .state(let state): state.time
        }
    }
}
