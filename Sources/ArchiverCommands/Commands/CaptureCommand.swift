// `archiver capture`: captures directories once.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import Replicas
internal import SystemPackage

struct CaptureCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "capture",
        abstract: "Capture directories once.",
        discussion: """
            Makes a snapshot of each directory, unless nothing has changed since the latest one and no new label is \
            given. Files that cannot be read are named, everything else is captured, and the exit code is 3. The \
            archive is created on first use.

            Exclusions are remembered for each root. Other exclusions given here apply to this snapshot only, which \
            is marked as captured aside; the next capture uses the remembered ones again. With --reset-exclusions, the \
            exclusions given here are remembered instead.

            Examples:
              archiver capture ~/thesis
              archiver capture /etc --label before-upgrade
            """)

    @Argument(help: ArgumentHelp("The directories to capture.", valueName: "dir"))
    var directories: [PathArgument]

    @Option(help: "The label of the snapshots, as in 'archiver restore before-upgrade'.")
    var label: ByteArgument?

    @Flag(help: "Also wait until the replicas have everything.")
    var replicas = false

    @OptionGroup(title: "Exclusions") var exclusions: ExclusionOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        var options = CaptureOptions(
            label: try label.map { try CaptureCommand.text(ofLabel: $0) },
            exclusions: try exclusions.given(for: directories.map(\.path)),
            setsExclusions: exclusions.resetExclusions)
        options.newRootExclusions = ExclusionOptions.ofNewRoots
        let archive = try global.openArchive(capturing: directories.map(\.path))
        var results = [CaptureJSON]()
        var failures = [Failure]()
        for directory in directories.map(\.path) {
            do {
                let result = try capture(directory, options, archive, console)
                results.append(CaptureJSON(root: FilePath(bytes: result.latest.rootPath), result: result))
                if !console.isJSON {
                    try console.summary(CaptureSummary.text(result, isForPerson: console.isForPerson))
                }
                if let snapshot = result.snapshot, snapshot.parent == nil, result.related == nil,
                    console.error.isTerminal, !console.isJSON
                {
                    let name = ShellWord.text(result.latest.rootPath)
                    console.remark("'archiver watch \(name)' captures every change from now on.")
                }
                if let related = result.related {
                    console.warn("archiver: " + RelatedRootText.text(related, FilePath(bytes: result.latest.rootPath)))
                }
                if let later = result.laterPrevious { console.warn("archiver: " + CaptureSummary.wrongClock(later)) }
                if console.isVerbose, result.snapshot != nil {
                    for changed in result.changedPaths {
                        console.remark("\(changed.change.sign.rawValue) \(Escaping.text(changed.path))")
                    }
                }
                console.warn(result.problems, count: result.problemCount, \.text)
            } catch let error as ArchiverError {
                // The other directories are captured all the same.
                failures.append(Failure(error))
            }
        }
        if console.isJSON { try console.output.line(JSONText.of(results)) }
        for failure in failures.dropLast() { FailureReport(failure).write(console) }
        if replicas { _ = try ReplicaSending.send(archive.replicaNames(), of: archive, console) }
        if let last = failures.last { throw last }
        if results.contains(where: { $0.result.problemCount > 0 }) { throw ExitStatus.incomplete }
    }

    private static func text(ofLabel label: ByteArgument) throws -> String {
        guard let text = String(validating: label.bytes, as: UTF8.self) else {
            throw Failure.usage("the label '\(Escaping.text(label.bytes))' is not UTF-8", remedy: "choose another one")
        }
        try SnapshotSelector.checkLabel(text)
        return text
    }

    private func capture(
        _ directory: FilePath, _ options: CaptureOptions, _ archive: Archive, _ console: Console
    ) throws -> CaptureResult {
        let remembered = try? archive.exclusions(ofRoot: directory)
        let remark = ExclusionText.remark(
            directory.bytes, given: options.exclusions, remembered: remembered, isAside: !options.setsExclusions)
        if let remark { console.remark(remark) }
        let progress = OperationProgress()
        let line = ProgressLine("capturing \(Escaping.text(directory.bytes))", progress, console)
        defer { line.end() }
        return try archive.capture(directory, options, progress: progress)
    }
}
