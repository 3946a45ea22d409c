// Whoever imports ArchiverKit has the public values of the modules that it stands on.

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
