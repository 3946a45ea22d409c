// Checks contents: that every chunk of a file or an attribute exists and has the length that the entry records.

internal import ArchiveFormat
internal import ArchiveStorage
internal import SnapshotTree

/// A fault in a content.
struct ContentFault {
    /// The end of a sentence that begins with the content's name.
    let text: String
    /// Whether bytes are lost, so that a capture of the same content would restore them.
    let isLoss: Bool

    static func lost(_ what: String) -> ContentFault { ContentFault(text: "is partly lost: \(what)", isLoss: true) }

    static func wrong(_ text: String) -> ContentFault { ContentFault(text: text, isLoss: false) }
}

/// Compares the contents of entries and saved states with the archive's chunks.
final class ContentCheck {
    private enum List {
        case good
        case bad(ContentFault)
    }

    private let store: ArchiveStore
    private let chunks: ChunkTable
    /// Lists that were read recently: a forged file may name one list a million times.
    private var lists = RecentValues<ListedSlices, List>(capacity: 1 << 14)

    init(_ store: ArchiveStore, _ chunks: ChunkTable) {
        self.store = store
        self.chunks = chunks
    }

    /// The first fault in an entry, and the name of the part that has it; nil if all of the entry can be read.
    func fault(in entry: Entry) throws(StorageError) -> (part: String, fault: ContentFault)? {
        if let fault = try fault(in: entry.content) { return ("\(entry.path)", fault) }
        for attribute in entry.attributes {
            guard let fault = try fault(in: attribute.value) else { continue }
            return ("the attribute \(String(decoding: attribute.name, as: UTF8.self)) of \(entry.path)", fault)
        }
        return nil
    }

    /// The fault in `content`; nil if all of it can be read.
    func fault(in content: Content) throws(StorageError) -> ContentFault? {
        switch content {
        case .none, .inline, .linkTarget: return nil
        case .slices(let slices): return fault(in: slices)
        case .sliceLists(let lists):
            for listed in lists {
                if case .bad(let fault) = try list(listed) { return fault }
            }
            return nil
        }
    }

    private func fault(in slices: [Slice]) -> ContentFault? {
        for slice in slices {
            guard let chunk = slice.chunk else { continue }
            guard let length = chunks.length(of: chunk) else { return .lost("chunk \(chunk)") }
            if length != slice.length {
                return .wrong("records \(slice.length) bytes for the chunk \(chunk), which has \(length) bytes")
            }
        }
        return nil
    }

    private func list(_ listed: ListedSlices) throws(StorageError) -> List {
        if let known = lists[listed] { return known }
        let list = try read(listed)
        lists.insert(list, for: listed)
        return list
    }

    private func read(_ listed: ListedSlices) throws(StorageError) -> List {
        do throws(StorageError) {
            let slices = try ContentReader.slices(in: listed, of: store)
            if let fault = fault(in: slices) { return .bad(fault) }
            return .good
        } catch {
            guard error.isAboutBytes else { throw error }
            return .bad(.lost(error.message))
        }
    }
}
