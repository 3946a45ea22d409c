// The `archiver` program: everything is in ArchiverCommands.

internal import ArchiverCommands
internal import Glibc

@main
struct Archiver {
    @MainActor
    static func main() async {
        exit(await ArchiverProgram.run())
    }
}
