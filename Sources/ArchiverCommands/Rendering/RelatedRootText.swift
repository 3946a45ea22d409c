// How a new root is related to one that the archive has already, as text and as JSON.

internal import ArchiveFormat
internal import ArchiverKit
internal import FileIO
internal import SystemPackage

/// Texts about related roots.
enum RelatedRootText {
    /// What the first capture of `path` found out.
    static func text(_ related: RelatedRoot, _ path: FilePath) -> String {
        let (old, new) = (Escaping.text(related.root.path.bytes), Escaping.text(path.bytes))
        let (oldWord, newWord) = (ShellWord.text(related.root.path.bytes), ShellWord.text(path.bytes))
        switch related.relation {
        case .moved:
            return "\(new) was at \(old) before: its history goes on here"
        case .replaced:
            return "\(new) was at \(old) before, where another directory is now; "
                + "'archiver roots move \(oldWord) \(newWord)' joins their snapshots"
        case .otherMachine:
            let machine = related.root.machine.short
            return "the archive has snapshots of \(old) from the machine \(Escaping.text(related.root.host)) "
                + "(\(machine)). If it is this one, such as a container that gets a new machine id at each start, set "
                + "$ARCHIVER_MACHINE_ID; 'archiver roots move --host \(machine) \(oldWord) \(newWord)' joins them"
        }
    }
}
