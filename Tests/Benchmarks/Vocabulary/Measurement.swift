// What one run of a program took.

/// What one run of a program, or several one after the other, took.
struct Measurement: Codable, Equatable {
    /// Wall time.
    var seconds: Double
    /// Processor time of the program and the programs it waited for, user and system.
    var processorSeconds: Double
    /// The most memory that was resident at once.
    var peakBytes: Int
    /// Bytes that lie in the program's store afterwards, or were added to it.
    var storedBytes: Int?

    init(seconds: Double, processorSeconds: Double = 0, peakBytes: Int = 0, storedBytes: Int? = nil) {
        self.seconds = seconds
        self.processorSeconds = processorSeconds
        self.peakBytes = peakBytes
        self.storedBytes = storedBytes
    }

    /// Both runs as one; the later one's stored bytes count.
    static func + (first: Measurement, second: Measurement) -> Measurement {
        Measurement(
            seconds: first.seconds + second.seconds,
            processorSeconds: first.processorSeconds + second.processorSeconds,
            peakBytes: max(first.peakBytes, second.peakBytes), storedBytes: second.storedBytes ?? first.storedBytes)
    }
}
