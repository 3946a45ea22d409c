// What a scan finds, on its way from the walk through reading to whoever asked. What is more than an entry may hold is
// told, and everything else of the object and around it is captured.

package import ArchiveFormat
package import FileIO

/// Something the walk came upon that may differ from the base tree.
package enum ScanItem: Sendable {
    /// The base tree's entry has no object any more.
    case gone(Entry)
    /// An object that is new or may have changed, to be read.
    case suspect(Suspect)
    /// An object that could not even be looked at.
    case problem(Problem)
}

/// An object that is to be read.
package struct Suspect: Sendable {
    package let path: RelativePath
    /// The directory that holds it, and its name there.
    package let directory: SharedDirectory
    package let name: CName
    /// Its status when the walk came by.
    package let status: FileStatus
    /// The base tree's entry at the path.
    package let old: Entry?
}

/// What became of a path between the base tree and now.
package struct ScanChange: Sendable {
    package let old: Entry?
    package let new: Entry?
    package var problem: Problem?
    /// Whether the object's time was set by somebody, rather than by a change of the object.
    var isTimeSet = false

    package init(old: Entry?, new: Entry?, problem: Problem? = nil, isTimeSet: Bool = false) {
        (self.old, self.new, self.problem, self.isTimeSet) = (old, new, problem, isTimeSet)
    }

    /// The path concerned; nil where there is only a problem.
    package var path: RelativePath? { new?.path ?? old?.path }

    /// Whether the two entries describe different states; new signatures alone are no difference.
    package var isDifference: Bool {
        switch (old, new) {
        case (let old?, let new?): !new.hasSameState(as: old)
        case (nil, nil): false
        default: true
        }
    }

    /// Whether a directory's time is all that differs, and nobody has set it: what every file that came and went leaves
    /// behind.
    package var isDirectoryTimeOnly: Bool {
        guard !isTimeSet, let old, var new, old.kind == .directory, new.kind == .directory else { return false }
        new.modified = old.modified
        return new.hasSameState(as: old)
    }
}

extension ScanChange {
    /// The change with an entry that keeps the limits of the format, and a problem where it did not.
    func keepingLimits() -> ScanChange {
        guard let new else { return self }
        if new.path.bytes.count > FormatLimits.pathBytes {
            return left(out: "its path has \(new.path.bytes.count) bytes, more than an archive holds")
        }
        let weight = new.weight
        if weight <= TreeShape.maximumEntryWeight { return self }
        var lighter = new
        lighter.attributes = []
        guard lighter.weight <= TreeShape.maximumEntryWeight else {
            return left(out: "it is in more parts than an archive holds")
        }
        // Without a signature it is read, and told of, again.
        lighter.signature = nil
        var change = ScanChange(old: old, new: lighter, isTimeSet: isTimeSet)
        change.problem = Problem(
            path: new.path, reason: .unreadable,
            detail: "its extended attributes have \(weight - lighter.weight) bytes, more than an archive holds")
        return change
    }

    private func left(out reason: String) -> ScanChange {
        guard var place = path else { return self }
        while place.bytes.count > FormatLimits.pathBytes, let parent = place.parent { place = parent }
        return ScanChange(
            old: old, new: old, problem: Problem(path: place, reason: .unreadable, detail: reason))
    }
}
