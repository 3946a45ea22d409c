// Checking contents: is every chunk of a file there, and as long as the file says?

internal import ArchiveFormat
internal import ArchiveStorage
internal import SnapshotTree

/// What is wrong with a content.
struct ContentFault {
    /// The end of a sentence that begins with the content's name.
    let text: String
    /// Whether bytes are lost, and a capture of the same content would bring them back.
    let isLoss: Bool

    static func lost(_ what: String) -> ContentFault { ContentFault(text: "is lost in part: \(what)", isLoss: true) }

    static func wrong(_ text: String) -> ContentFault { ContentFault(text: text, isLoss: false) }
}

/// Compares what entries and saved states say of their contents with the chunks that there are.
final class ContentCheck {
    private enum List {
        case good(length: UInt64)
        case bad(ContentFault)
    }

    private let store: ArchiveStore
    private let chunks: ChunkTable
    /// Lists that were read lately: a forged file may name one a million times.
    private var lists = RecentValues<ChunkID, List>(capacity: 1 << 14)

    init(_ store: ArchiveStore, _ chunks: ChunkTable) {
        self.store = store
        self.chunks = chunks
    }

    /// What is wrong with `content`; nil where it can be read whole.
    func fault(in content: Content) -> ContentFault? {
        switch content {
        case .none, .inline, .linkTarget: return nil
        case .slices(let slices): return fault(in: slices)
        case .sliceLists(let ids, let size):
            var sum: UInt64 = 0
            for id in ids {
                switch list(id) {
                case .bad(let fault): return fault
                case .good(let length):
                    guard length <= size - sum else { return .wrong("is longer than the \(size) bytes recorded") }
                    sum += length
                }
            }
            return sum == size ? nil : .wrong("has \(sum) bytes instead of the \(size) recorded")
        }
    }

    private func fault(in slices: [Slice]) -> ContentFault? {
        for slice in slices {
            guard let chunk = slice.chunk else { continue }
            guard let length = chunks.length(of: chunk) else { return .lost("chunk \(chunk)") }
            if length != slice.length {
                return .wrong("has a part of \(slice.length) bytes in the chunk \(chunk) of \(length) bytes")
            }
        }
        return nil
    }

    private func list(_ id: ChunkID) -> List {
        if let known = lists[id] { return known }
        let list = read(id)
        lists.keep(list, for: id)
        return list
    }

    private func read(_ id: ChunkID) -> List {
        do {
            let slices = try ContentReader.slices(in: id, of: store)
            if let fault = fault(in: slices) { return .bad(fault) }
            return .good(length: slices.reduce(0) { $0 &+ $1.length })
        } catch {
            return .bad(.lost(error.message))
        }
    }
}
