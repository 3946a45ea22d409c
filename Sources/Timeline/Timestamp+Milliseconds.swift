// Instants as pages count them.

package import FileIO

extension Timestamp {
    /// - Parameter milliseconds: since 1970.
    package init(milliseconds: Int64) {
        let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let nanoseconds = UInt32(rest < 0 ? rest + 1000 : rest) * 1_000_000
        self.init(seconds: rest < 0 ? whole - 1 : whole, nanoseconds: nanoseconds)
    }

    /// Milliseconds since 1970.
    package var milliseconds: Int64 {
        let (product, isOver) = seconds.multipliedReportingOverflow(by: 1000)
        if isOver { return seconds < 0 ? .min : .max }
        return product.addingReportingOverflow(Int64(nanoseconds / 1_000_000)).partialValue
    }
}
