// The findings of a scan, from the walk through reading to the caller. Data beyond the format's limits is reported as a
// problem, and the rest of the object is captured.

package import ArchiveFormat
package import FileIO

/// A place that may differ from the base tree.
package enum ScanItem: Sendable {
    /// The object of this base tree entry no longer exists.
    case gone(Entry)
    /// An object that is new or may have changed, and must be read.
    case suspect(Suspect)
    /// An object whose status could not be read.
    case problem(Problem)
}

/// An object that must be read.
package struct Suspect: Sendable {
    package let path: RelativePath
    /// Its directory.
    package let directory: SharedDirectory
    /// Its name in the directory.
    package let name: CName
    /// Its status when the walk visited it.
    package let status: FileStatus
    /// The base tree's entry at the path.
    package let old: Entry?
}

/// The change of one path between the base tree and now.
package struct ScanChange: Sendable {
    package let old: Entry?
    package let new: Entry?
    package var problem: Problem?
    /// Whether a program set the object's time, rather than a change of the object.
    var isTimeSet = false

    package init(old: Entry?, new: Entry?, problem: Problem? = nil, isTimeSet: Bool = false) {
        (self.old, self.new, self.problem, self.isTimeSet) = (old, new, problem, isTimeSet)
    }

    /// The path concerned; nil if there is only a problem.
    package var path: RelativePath? { new?.path ?? old?.path }

    /// Whether the two entries have different states; signatures alone do not count.
    package var isDifference: Bool {
        switch (old, new) {
        case (let old?, let new?): !new.hasSameState(as: old)
        case (nil, nil): false
        default: true
        }
    }

    /// Whether only a directory's time differs, and no program set it: every added or removed file causes that.
    package var isDirectoryTimeOnly: Bool {
        guard !isTimeSet, let old, var new, old.kind == .directory, new.kind == .directory else { return false }
        new.modified = old.modified
        return new.hasSameState(as: old)
    }
}

extension ScanChange {
    /// Returns the change; if its entry exceeds the limits of the format, the old entry stays, with a problem.
    func keepingLimits() -> ScanChange {
        guard let new else { return self }
        if new.path.bytes.count > FormatLimits.pathBytes {
            return left(out: "its path has \(new.path.bytes.count) bytes, more than an archive can hold")
        }
        if new.weight > TreeShape.maximumEntryWeight {
            return left(out: "its content has more parts than an archive can hold")
        }
        return self
    }

    private func left(out reason: String) -> ScanChange {
        guard var place = path else { return self }
        while place.bytes.count > FormatLimits.pathBytes, let parent = place.parent { place = parent }
        return ScanChange(
            old: old, new: old, problem: Problem(path: place, reason: .unreadable, detail: reason))
    }
}
