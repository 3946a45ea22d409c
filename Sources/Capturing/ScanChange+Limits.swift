// What is more than an entry may hold is told, and everything else of the object and around it is captured.

internal import ArchiveFormat
internal import FileIO

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
