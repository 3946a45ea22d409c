// Labels given late: a snapshot never changes, what is said of it may.

internal import ArchiveFormat
package import ArchiveStorage
public import Archives
package import FileIO
public import Roots

extension Archive {
    /// Gives a snapshot or a saved state a label; another one that it has is replaced.
    ///
    /// Thinning keeps what has a label.
    ///
    /// - Throws: `ArchiverError`: `malformedSelector` where `label` cannot be one, `readOnly`…
    public func label(_ selected: Selected, as label: String) throws(ArchiverError) {
        try SnapshotSelector.checkLabel(label)
        if label.utf8.count > LabelRecord.limit {
            throw ArchiverError(
                .malformedSelector,
                "the label has \(label.utf8.count) bytes, and at most \(LabelRecord.limit) are possible",
                remedy: "choose a shorter label; a note may be longer")
        }
        try say(label, of: selected)
    }

    /// Takes the label from a snapshot or a saved state.
    ///
    /// - Throws: `ArchiverError`: `noLabel` where it has none, `readOnly`…
    public func removeLabel(of selected: Selected) throws(ArchiverError) { try say(nil, of: selected) }

    /// The snapshots of a root that have a label, the newest first.
    package func labelledSnapshots(
        of root: ArchivedRoot, since: Timestamp, until: Timestamp, limit: Int
    ) throws(ArchiverError) -> [ListedSnapshot] {
        try facing {
            guard let number = try number(of: root) else { return [] }
            return try store.catalogue.labelledSnapshots(root: number, since: since, until: until, limit: limit)
        }
    }

    /// Labels of snapshots that begin with `text`, by their bytes.
    package func labels(beginning text: String, limit: Int) throws(ArchiverError) -> [String] {
        try facing { try store.catalogue.labels(beginning: text, limit: limit) }
    }

    private func say(_ label: String?, of selected: Selected) throws(ArchiverError) {
        try whileKeeping {
            try requireListed(selected)
            let present = try presentLabel(of: selected)
            if label == nil, present == nil {
                throw ArchiverError(
                    .noLabel, "\(selected.name) has no label", remedy: "'archiver list' shows the labels")
            }
            if label == present { return }
            let time = Timestamp.now(after: try store.catalogue.timeOfLabel(selected.id))
            try store.enter(LabelRecord(target: selected.id, time: time, label: label))
        }
    }

    /// The label as the catalogue has it now; what the caller looked at may be older.
    private func presentLabel(of selected: Selected) throws -> String? {
        switch selected {
        case .snapshot(let record):
            try store.catalogue.snapshots(.init(idPrefix: record.id.hex, limit: 1)).first?.label
        case .state(let state):
            try store.catalogue.states(.init(idPrefix: state.id.hex, limit: 1)).first?.label
        }
    }
}
