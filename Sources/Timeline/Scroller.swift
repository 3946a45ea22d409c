// A row of views that is scrolled: one of them is selected.

/// Which position a scroller asks for.
public enum ScrollerPlace<Position> {
    /// The first one.
    case first
    /// The last one.
    case last
    /// The one right before a position.
    case before(Position)
    /// The one right after a position.
    case after(Position)
    /// A position, or the one to show if there is none there any more.
    case at(Position)
}

/// Provides the positions of a row and what is shown at each.
///
/// A row whose positions are the numbers 0, 1, 2… is a ``ScrollerList``, which needs only a count and the views. Other
/// rows, such as a ``TimelineDataSource``, can be long: a scroller never asks for all positions.
public protocol ScrollerDataSource<View> {
    /// Names a place in the row.
    associatedtype Position: Equatable
    /// What is shown: an object of a user interface, or a value.
    associatedtype View

    /// Returns the position at a place; nil if there is none.
    func position(_ place: ScrollerPlace<Position>) throws -> Position?

    /// Returns what is shown at `position`.
    func view(at position: Position) throws -> View

    /// The position that is selected first; nil for the first one.
    var initialPosition: Position? { get }
}

extension ScrollerDataSource {
    public var initialPosition: Position? { nil }
}

/// A row of `count` views.
public protocol ScrollerList<View>: ScrollerDataSource where Position == Int {
    /// The number of views.
    var count: Int { get }
}

extension ScrollerList {
    /// The index at a place; an index beyond the end is the last one.
    public func position(_ place: ScrollerPlace<Int>) -> Int? {
        let index =
            switch place {
            case .first: 0
            case .last: count - 1
            case .before(let index): index - 1
            case .after(let index): index + 1
            case .at(let index): max(0, min(index, count - 1))
            }
        return (0..<count).contains(index) ? index : nil
    }
}

/// Receives the selections of a scroller.
public protocol ScrollerDelegate<Source>: AnyObject {
    /// The row.
    associatedtype Source: ScrollerDataSource

    /// A position was selected, or the selected one was loaded again.
    func scroller(_ scroller: Scroller<Source>, didSelect position: Source.Position)

    /// There is nothing further in that direction. By default, nothing is done.
    func scrollerDidReachEnd(_ scroller: Scroller<Source>)
}

extension ScrollerDelegate {
    public func scrollerDidReachEnd(_ scroller: Scroller<Source>) {}
}

/// Scrolls through a row, and reports what is selected.
///
/// Not safe to use from several threads.
public final class Scroller<Source: ScrollerDataSource> {
    /// The row.
    public let source: Source
    /// The selected position; nil before the first `reload` or step, and in an empty row.
    public private(set) var position: Source.Position?
    /// Receives the selections.
    public weak var delegate: (any ScrollerDelegate<Source>)?

    /// A scroller through `source` in which nothing is selected yet.
    public init(_ source: Source) { self.source = source }

    /// Reads the row again: keeps the selection, or selects the initial position if nothing is selected.
    ///
    /// - Throws: any error of the data source.
    public func reload() throws {
        let wanted = position ?? source.initialPosition
        position = nil
        if !(try scroll(wanted.map { .at($0) } ?? .first)), wanted != nil { try scroll(.first) }
    }

    /// Selects the position at a place, and reports it, or that there is none, to the delegate.
    ///
    /// - Returns: whether there is one; otherwise the selection stays.
    /// - Throws: any error of the data source.
    @discardableResult
    public func scroll(_ place: ScrollerPlace<Source.Position>) throws -> Bool { select(try source.position(place)) }

    /// Selects the next position, or the initial one if nothing is selected.
    ///
    /// - Returns: whether there is one.
    /// - Throws: any error of the data source.
    @discardableResult
    public func next() throws -> Bool { try step { .after($0) } }

    /// Selects the previous position, or the initial one if nothing is selected.
    ///
    /// - Returns: whether there is one.
    /// - Throws: any error of the data source.
    @discardableResult
    public func previous() throws -> Bool { try step { .before($0) } }

    /// The selected view; nil if nothing is selected.
    ///
    /// - Throws: any error of the data source.
    public func view() throws -> Source.View? { try position.map { try source.view(at: $0) } }

    /// The views around the selected one, in order, for a row of which several are visible.
    ///
    /// - Parameter reach: how many views to return on each side at most.
    /// - Throws: any error of the data source.
    public func views(within reach: Int) throws -> [(position: Source.Position, view: Source.View)] {
        guard let position else { return [] }
        var shown = [position]
        while shown.count <= reach, let before = try source.position(.before(shown[0])) { shown.insert(before, at: 0) }
        var end = position
        for _ in 0..<max(0, reach) {
            guard let after = try source.position(.after(end)) else { break }
            shown.append(after)
            end = after
        }
        return try shown.map { ($0, try source.view(at: $0)) }
    }

    /// Selects `found`, and reports it, or that there is none.
    @discardableResult
    func select(_ found: Source.Position?) -> Bool {
        guard let found else {
            delegate?.scrollerDidReachEnd(self)
            return false
        }
        position = found
        delegate?.scroller(self, didSelect: found)
        return true
    }

    private func step(_ place: (Source.Position) -> ScrollerPlace<Source.Position>) throws -> Bool {
        guard let position else {
            try reload()
            return self.position != nil
        }
        return try scroll(place(position))
    }
}
