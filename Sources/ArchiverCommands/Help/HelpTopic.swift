// Help that concerns several commands: `archiver help TOPIC`.

/// A topic of the help.
enum HelpTopic: String, CaseIterable {
    case selectors, times, json, exclusions

    /// What `archiver help` prints, at most `columns` wide.
    func text(columns: Int) -> String { TextWrap.wrapped(text, to: columns) }

    private var text: String {
        switch self {
        case .selectors: HelpTopic.selectorsText
        case .times: HelpTopic.timesText
        case .json: HelpTopic.jsonText
        case .exclusions: HelpTopic.exclusionsText
        }
    }

    private static let selectorsText = """
        How to name a snapshot, and a path in it.

          3fa9c2            the first digits of its id, as 'archiver list' shows it
          latest            the newest snapshot
          oldest            the first snapshot
          latest~2          the second one before the newest
          3fa9c2~1          the one before 3fa9c2, in the same root
          @10m              the state ten minutes ago
          @"2026-11-21 10:00"
                            the state at that time; see 'archiver help times'
          before-upgrade    the newest with this label

        A saved state of a program is named in the same way, or by its title, which means the latest. With --state TITLE, \
        latest, oldest and times mean states of that title.

        A path follows a colon:

          latest:ch1.md     relative to the current directory
          latest:../notes   the same
          latest:.          the current directory
          latest::/notes    relative to the root's top
          latest:/home/ann/thesis/notes
                            an absolute path below the root
          latest:           the root's top

        If you are outside of the root, or name it with --root or --host, paths are relative to the root's top.

        Commands use the root that contains the current directory. Name another one with --root.

        Names are printed with \\xff for a byte that cannot be shown and \\\\ for a backslash. They can be typed in \
        the same way.
        """

    private static let timesText = """
        How to name a time, after @ in a selector, or with --since and --until.

          10m, 2h30m, 3d    so long ago: ms, s, m, h, d, w, y
          "2 hours ago"     seconds, minutes, hours, days, weeks, months, years
          14:05, 14:05:09   the last time the clock showed that: today or yesterday
          today, yesterday  that day
          monday, mon       that day, one of the seven days before today
          "monday 9:00"     that time of that day
          2026-11-21        that day
          "2026-11-21 14:05", 2026-11-21T14:05:09.5Z
                            that time; local time unless Z or +02:00 follows

        A selector means the latest snapshot that was made by then. A day or a minute counts to its end: @2026-11-21 is the \
        state at the end of that day, @20:26 the state at the end of that minute. --since counts from the beginning of a \
        day or a minute, --until to its end.

        A time in the future is an error.
        """

    private static let jsonText = """
        Every command writes JSON with --json.

        Most commands write one value on one line. 'watch' writes one object a line, for each event; long lists are one array \
        with one object a line. Errors are JSON too, on standard error:

          {"error":{"code":"noSuchPath","message":"…","remedy":"…"}}

        Times are RFC 3339 in UTC, sizes are bytes, ids have 64 hex digits. A path that is not UTF-8 has a second field with \
        its bytes in base64: "path" and "pathBytes".

        Exit codes are the same as without --json. The fields of each command are documented in the article "JSON output": \
        Sources/ArchiverKit/ArchiverKit.docc/JSONOutput.md.
        """

    private static let exclusionsText = """
        What is left out of snapshots.

        A file .archiverignore in any directory lists patterns, in the syntax of .gitignore. They apply to that directory \
        and below:

          *.o               any file with this ending
          /build/           the directory build beside the file
          !keep.o           not left out after all

        The options of 'watch' and 'capture' do the same for a whole root:

          --exclude PATTERN            may be repeated
          --exclude-from FILE          patterns from a file
          --exclude-larger-than SIZE   500K, 100M, 2G
          --exclude-caches             directories with CACHEDIR.TAG
          --use-gitignore              also respect .gitignore files
          --cross-file-systems         enter mounted file systems

        The options given to 'watch' are remembered for the root and hold until others are given; --reset-exclusions forgets \
        them. 'archiver roots' shows them. Other options of 'capture' hold for that snapshot only.

        What is left out is neither read nor watched, and a restore does not touch it.
        """
}
