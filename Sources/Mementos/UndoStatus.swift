// What a menu shows about a history.

/// The next steps that can be undone and redone.
public struct UndoStatus: Sendable, Hashable {
    /// The name of the step that ``UndoHistory/undo()`` undoes; nil if there is none.
    public internal(set) var undoName: String?
    /// The name of the step that ``UndoHistory/redo()`` redoes; nil if there is none.
    public internal(set) var redoName: String?
    /// How often the history has changed since it was created.
    public internal(set) var changeCount = 0

    /// Whether there is a step to undo.
    public var canUndo: Bool { undoName != nil }
    /// Whether there is a step to redo.
    public var canRedo: Bool { redoName != nil }
}

extension UndoStatus {
    init(_ position: UndoPosition<some Command>, changeCount: Int) {
        undoName = position.done.last?.name
        redoName = position.undone.last?.name
        self.changeCount = changeCount
    }
}
