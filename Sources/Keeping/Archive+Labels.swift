// Labels given after a snapshot was made: separate records, as a snapshot never changes.

internal import ArchiveFormat
package import ArchiveStorage
public import Archives
package import FileIO
public import Roots

extension Archive {
    /// Labels a snapshot or a saved state; an earlier label is replaced.
    ///
    /// Thinning keeps labelled snapshots.
    ///
    /// - Throws: `ArchiverError`: `malformedSelector` if `label` is not a valid label, `readOnly`…
    public func label(_ selected: Selection, as label: String) throws(ArchiverError) {
        try SnapshotSelector.checkLabel(label)
        if label.utf8.count > LabelRecord.limit {
            throw ArchiverError(
                .malformedSelector,
                "the label has \(label.utf8.count) bytes; at most \(LabelRecord.limit) are allowed",
                remedy: "choose a shorter label; a note may be longer")
        }
        try setLabel(label, of: selected)
    }

    /// Removes the label of a snapshot or a saved state.
    ///
    /// - Throws: `ArchiverError`: `noLabel` if it has none, `readOnly`…
    public func removeLabel(of selected: Selection) throws(ArchiverError) { try setLabel(nil, of: selected) }

    /// Returns the labelled snapshots of a root, the newest first.
    package func labelledSnapshots(
        of root: ArchivedRoot, since: Timestamp, until: Timestamp, limit: Int
    ) throws(ArchiverError) -> [ListedSnapshot] {
        try facing {
            guard let number = try number(of: root) else { return [] }
            return try store.catalogue.labelledSnapshots(root: number, since: since, until: until, limit: limit)
        }
    }

    /// Returns the labels of snapshots that begin with `text`, in byte order.
    package func labels(beginning text: String, limit: Int) throws(ArchiverError) -> [String] {
        try facing { try store.catalogue.labels(beginning: text, limit: limit) }
    }

    private func setLabel(_ label: String?, of selected: Selection) throws(ArchiverError) {
        try whileKeeping {
            try requireListed(selected)
            let present = try presentLabel(of: selected)
            if label == nil, present == nil {
                throw ArchiverError(
                    .noLabel, "\(selected.name) has no label", remedy: Advice.listLabels.text)
            }
            if label == present { return }
            let sequence = try store.catalogue.nextSequence(ofLabel: selected.id)
            try store.enter(LabelRecord(target: selected.id, time: .now, label: label, sequence: sequence))
        }
    }

    /// Returns the label as the catalogue has it now; the caller's copy may be older.
    private func presentLabel(of selected: Selection) throws -> String? {
        switch selected {
        case .snapshot(let listed):
            try store.catalogue.snapshots(.init(idPrefix: listed.id.hex, limit: 1)).first?.label
        case .state(let state):
            try store.catalogue.states(.init(idPrefix: state.id.hex, limit: 1)).first?.label
        }
    }
}
