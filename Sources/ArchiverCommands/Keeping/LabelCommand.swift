// `archiver label`: sets or removes the label of a snapshot or saved state.

internal import ArchiveFormat
internal import ArchiveStorage
internal import ArchiverKit
internal import ArgumentParser

struct LabelCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "label",
        abstract: "Set or remove the label of a snapshot or saved state.",
        discussion: """
            A label names a snapshot in other commands and protects it from thinning. A snapshot has at most one \
            label: a new one replaces the old one.

            Examples:
              archiver label @yesterday before-upgrade
              archiver label 3fa9c2 --remove
            """)

    @Argument(
        help: ArgumentHelp("A snapshot or a saved state (id, latest, @10m, label).", valueName: "selector"),
        completion: .selector)
    var selector: ByteArgument

    @Argument(help: ArgumentHelp("The label.", valueName: "name"))
    var name: String?

    @Flag(help: "Remove it instead of adding it.")
    var remove = false

    @Option(help: .state) var state: String?
    @OptionGroup var place: RootOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if remove && name != nil { throw ValidationError("give a label, or --remove, not both") }
        if !remove && name == nil { throw ValidationError("give a label, or --remove") }
    }

    func run() throws {
        let console = Console(global)
        let context = try RootContext(global.openArchive(), place)
        let selected = try context.whole(selector, titled: state)
        if let name {
            try context.archive.label(selected, as: name)
        } else {
            try context.archive.removeLabel(of: selected)
        }
        if console.isJSON {
            return try console.output.line(JSONText.of(LabelJSON(id: selected.id.hex, label: name)))
        }
        try console.summary(
            name.map { "labelled \(selected.name) '\(Escaping.text($0))'" } ?? "removed the label of \(selected.name)")
    }
}
