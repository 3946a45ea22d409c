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
        case good
        case bad(ContentFault)
    }

    private let store: ArchiveStore
    private let chunks: ChunkTable
    /// Lists that were read lately: a forged file may name one a million times.
    private var lists = RecentValues<ListedSlices, List>(capacity: 1 << 14)

    init(_ store: ArchiveStore, _ chunks: ChunkTable) {
        self.store = store
        self.chunks = chunks
    }

    /// What is wrong with `content`; nil where it can be read whole.
    func fault(in content: Content) -> ContentFault? {
        switch content {
        case .none, .inline, .linkTarget: return nil
        case .slices(let slices): return fault(in: slices)
        case .sliceLists(let lists):
            for listed in lists {
                if case .bad(let fault) = list(listed) { return fault }
            }
            return nil
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

    private func list(_ listed: ListedSlices) -> List {
        if let known = lists[listed] { return known }
        let list = read(listed)
        lists.insert(list, for: listed)
        return list
    }

    private func read(_ listed: ListedSlices) -> List {
        do {
            let slices = try ContentReader.slices(in: listed, of: store)
            if let fault = fault(in: slices) { return .bad(fault) }
            return .good
        } catch {
            return .bad(.lost(error.message))
        }
    }
}
