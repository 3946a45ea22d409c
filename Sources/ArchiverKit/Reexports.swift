// What `import ArchiverKit` gives a program: the public API of the modules that it consists of, and of other modules the
// types that this API takes and returns.

@_exported public import Archives
@_exported public import Capturing
@_exported public import Checking
@_exported public import History
@_exported public import Keeping
@_exported public import Restoring
@_exported public import Roots
@_exported public import SavedStates
@_exported public import WatchControl
@_exported public import Watching

@_exported public import struct ArchiveFormat.Cause
@_exported public import struct ArchiveFormat.ChangeCounts
@_exported public import struct ArchiveFormat.ChangedPath
@_exported public import struct ArchiveFormat.ChunkID
@_exported public import enum ArchiveFormat.Content
@_exported public import struct ArchiveFormat.Entry
@_exported public import struct ArchiveFormat.EntryAttribute
@_exported public import struct ArchiveFormat.ForgettingReason
@_exported public import struct ArchiveFormat.GapCause
@_exported public import struct ArchiveFormat.GapRecord
@_exported public import struct ArchiveFormat.MachineID
@_exported public import struct ArchiveFormat.OperationID
@_exported public import struct ArchiveFormat.OperationKind
@_exported public import struct ArchiveFormat.OperationRecord
@_exported public import struct ArchiveFormat.Problem
@_exported public import struct ArchiveFormat.Slice
@_exported public import struct ArchiveFormat.Snapshot
@_exported public import struct ArchiveFormat.SnapshotID
@_exported public import struct ArchiveFormat.StateID
@_exported public import struct ArchiveFormat.Totals
@_exported public import struct ArchiveStorage.ArchiveFinding
@_exported public import struct ArchiveStorage.ListedSnapshot
@_exported public import struct ArchiveStorage.ListedState
@_exported public import struct ArchiveStorage.StateTitle
@_exported public import struct Exclusions.ExclusionRules
@_exported public import struct FileIO.ExtendedAttribute
@_exported public import struct FileIO.FileError
@_exported public import enum FileIO.FileKind
@_exported public import struct FileIO.RelativePath
@_exported public import struct FileIO.Timestamp
@_exported public import enum FileWatching.WatchBackend
@_exported public import class Mementos.Subject
@_exported public import class Mementos.Subscription
@_exported public import struct Replicas.ReplicaStatus
@_exported public import struct SystemPackage.FilePath
