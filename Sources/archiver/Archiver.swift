// The `archiver` program: everything is in ArchiverCommands.

internal import ArchiverCommands

@main
struct Archiver {
    static func main() {
        ArchiverProgram.run()
    }
}
