// The programs and goals for each corpus.

/// The peers, floors and goals of the lines that work on one corpus.
struct CorpusTerms: Sendable {
    /// The programs that capture it, besides archiver.
    let peers: [any StoreProgram]
    let firstGoals: [Goal]
    let changeGoals: [Goal]
    let restoreGoals: [Goal]
    /// The bytes on disk of the corpus, and of all its stores.
    let corpusBytes: Int
    let storeBytes: Int

    /// A copy of a real tree of a few hundred megabytes.
    static let ofTree = CorpusTerms(
        peers: [Restic(), Borg()],
        firstGoals: [.time(times: 0.33, of: "restic"), .stored(times: 0.95, of: "restic")],
        changeGoals: [],
        restoreGoals: [.time(times: 0.6, of: "restic"), .memory(bytes: 150 << 20)],
        corpusBytes: 1 << 30, storeBytes: 2 << 30)

    /// A million small files.
    static let ofMillion = CorpusTerms(
        peers: [Restic(), Git()],
        firstGoals: [.time(times: 2, of: Floors.walkName), .memory(bytes: 80 << 20)],
        changeGoals: [.time(times: 1.5, of: Floors.findName)],
        restoreGoals: [.time(times: 1.2, of: Floors.copyName), .memory(bytes: 150 << 20)],
        corpusBytes: 5 << 30, storeBytes: 10 << 30)
}
