// Instants as pages count them.

package import FileIO

extension Timestamp {
    /// - Parameter milliseconds: since 1970.
    package init(milliseconds: Int64) {
        let rest = milliseconds % 1000
        let fraction = rest < 0 ? rest + 1000 : rest
        self.init(seconds: (milliseconds - fraction) / 1000, nanoseconds: UInt32(fraction) * 1_000_000)
    }

    /// Milliseconds since 1970.
    package var milliseconds: Int64 {
        let (product, isOver) = seconds.multipliedReportingOverflow(by: 1000)
        if isOver { return seconds < 0 ? .min : .max }
        return product.addingReportingOverflow(Int64(nanoseconds / 1_000_000)).partialValue
    }
}
