// Compares listings with the library's paths and differences.

import ArchiverKit
import FileIO

extension TreeListing {
    /// The key of a library path: its bytes as Latin 1 characters.
    static func key(_ path: RelativePath) -> String {
        String(String.UnicodeScalarView(path.bytes.map { Unicode.Scalar($0) }))
    }

    /// The listing without the information which names are links to one file.
    var withoutLinks: TreeListing {
        var listing = self
        for path in listing.objects.keys { listing.objects[path]?.firstName = nil }
        return listing
    }

    /// The listing without `path` and everything below it.
    func without(below path: String) -> TreeListing {
        var listing = self
        listing.objects = objects.filter { !path.isEmpty && $0.key != path && !$0.key.hasPrefix(path + "/") }
        return listing
    }

    /// The listing without `paths` and everything below them.
    func without(_ paths: [RelativePath]) -> TreeListing {
        paths.reduce(self) { $0.without(below: TreeListing.key($1)) }
    }

    func kinds(ofDifferencesTo right: TreeListing) -> [String: Difference.Kind] {
        var kinds: [String: Difference.Kind] = [:]
        for (path, _) in right.withoutLinks.differences(from: withoutLinks) {
            kinds[path] = objects[path] == nil ? .added : right.objects[path] == nil ? .removed : .modified
        }
        return kinds
    }
}
