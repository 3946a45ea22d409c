// Limits that figures of the benchmark should not exceed.

/// An upper limit for one figure of a row.
enum Goal: Codable, Equatable, Sendable {
    /// The time, as a multiple of another program's at the same work.
    case time(times: Double, of: String)
    case seconds(Double)
    case memory(bytes: Int)
    /// The stored bytes, as a multiple of another program's at the same work.
    case stored(times: Double, of: String)
    case storedBytes(Int)

    /// Whether `row` reaches the goal; nil if the necessary figures are missing.
    ///
    /// - Parameter rows: the rows that contain the other program.
    func isReached(by row: Row, among rows: [Row]) -> Bool? {
        switch self {
        case .time(let times, let program): row.ratio(to: program, among: rows, \.seconds).map { $0 <= times }
        case .seconds(let limit): row.seconds.map { $0 <= limit }
        case .memory(let limit): row.peakBytes.map { $0 <= limit }
        case .stored(let times, let program):
            row.ratio(to: program, among: rows) { $0.storedBytes.map(Double.init) }.map { $0 <= times }
        case .storedBytes(let limit): row.storedBytes.map { $0 <= limit }
        }
    }
}

extension Goal: CustomStringConvertible {
    var description: String {
        switch self {
        case .time(1, let program): "≤ \(program)"
        case .time(let times, let program): "≤ \(Figure.number(times)) × \(program)"
        case .seconds(let limit): "≤ \(Figure.time(limit))"
        case .memory(let limit): "≤ \(Figure.bytes(limit)) memory"
        case .stored(1, let program): "no more stored than \(program)"
        case .stored(let times, let program): "≤ \(Figure.number(times)) × stored by \(program)"
        case .storedBytes(let limit): "≤ \(Figure.bytes(limit)) stored"
        }
    }
}
