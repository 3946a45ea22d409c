// The cost of one run of a program.

/// The cost of one run of a program, or of several in sequence.
struct Measurement: Codable, Equatable {
    /// Wall time.
    var seconds: Double
    /// Processor time of the program and the programs it waited for, user and system.
    var processorSeconds: Double
    /// The peak resident memory.
    var peakBytes: Int
    /// The size of the program's store afterwards, or the bytes added to it.
    var storedBytes: Int?

    init(seconds: Double, processorSeconds: Double = 0, peakBytes: Int = 0, storedBytes: Int? = nil) {
        self.seconds = seconds
        self.processorSeconds = processorSeconds
        self.peakBytes = peakBytes
        self.storedBytes = storedBytes
    }

    /// Adds two runs; the stored bytes are those of the later one.
    static func + (first: Measurement, second: Measurement) -> Measurement {
        Measurement(
            seconds: first.seconds + second.seconds,
            processorSeconds: first.processorSeconds + second.processorSeconds,
            peakBytes: max(first.peakBytes, second.peakBytes), storedBytes: second.storedBytes ?? first.storedBytes)
    }
}
