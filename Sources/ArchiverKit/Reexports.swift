// ArchiverKit re-exports the public API of the modules it consists of.

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

@_exported public import enum FileWatching.WatchBackend
