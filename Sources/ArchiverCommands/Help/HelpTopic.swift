// The help topics of `archiver help TOPIC`, which concern several commands.

/// A help topic.
enum HelpTopic: String, CaseIterable {
    case selectors, times, json, exclusions

    /// The text of the topic, at most `columns` wide.
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
        How to name a snapshot and a path in it.

          3fa9c2            the first digits of its id, as 'archiver list' shows it
          latest            the newest snapshot
          oldest            the first snapshot
          latest~2          the second snapshot before the newest
          3fa9c2~1          the snapshot before 3fa9c2, in the same root
          @10m              the state ten minutes ago
          @"2026-11-21 10:00"
                            the state at that time; see 'archiver help times'
          before-upgrade    the newest snapshot with this label

        A saved state is named in the same way, or by its title, which means the latest. With --state TITLE, latest, \
        oldest and times mean states with that title.

        A path follows a colon:

          latest:ch1.md     relative to the current directory
          latest:../notes   the same
          latest:.          the current directory
          latest::/notes    relative to the root's top
          latest:/home/ann/thesis/notes
                            an absolute path below the root
          latest:           the root's top
          latest:'*.md'     all names that match, at any depth

        Outside of the root, and with --root or --host, paths are relative to the root's top.

        A path chooses the root: the innermost one that holds it. Without a path, commands use the root that contains \
        the current directory, or the only one inside it. Elsewhere, name one with --root.

        In printed names, \\xff stands for a byte that cannot be shown and \\\\ for a backslash. Names can be typed in \
        the same form.
        """

    private static let timesText = """
        How to name a time, after @ in a selector, or with --since and --until.

          10m, 2h30m, 3d    this long ago: ms, s, m, h, d, w, y
          "2 hours ago"     seconds, minutes, hours, days, weeks, months, years
          14:05, 14:05:09   the latest such time, today or yesterday
          today, yesterday  that day
          monday, mon       the latest such day before today
          "monday 9:00"     that time on that day
          2026-11-21        that day
          "2026-11-21 14:05", 2026-11-21T14:05:09.5Z
                            that time; local time unless Z or +02:00 follows

        A selector means the last snapshot, in the order of the list, among those made up to that time. A day or a \
        minute includes its end: @2026-11-21 is the state at the end of that day, @20:26 the state at the end of that \
        minute. --since starts at the beginning of a day or a minute, --until ends at its end.

        A time in the future is an error.
        """

    private static let jsonText = """
        Every command writes JSON with --json.

        Most commands write one value on one line. 'watch' writes one object per line for each event. Long lists are \
        an array with one object per line. Errors are also JSON, on standard error:

          {"error":{"code":"noSuchPath","message":"…","remedy":"…"}}

        Times are RFC 3339 in UTC, sizes are in bytes, ids have 64 hex digits. For a path that is not UTF-8, a second \
        field has its bytes in base64: "path" and "pathBytes".

        Exit codes are the same as without --json. The article "JSON output" documents the fields of each command: \
        Sources/ArchiverKit/ArchiverKit.docc/JSONOutput.md.
        """

    private static let exclusionsText = """
        How to exclude files from snapshots.

        A file .archiverignore in any directory lists patterns in the syntax of .gitignore. They apply to that \
        directory and everything below it:

          *.o               any file with this extension
          /build/           the directory build next to the .archiverignore file
          !keep.o           do not exclude this after all

        These options of 'watch' and 'capture' apply to a whole root:

          --exclude PATTERN            may be repeated
          --exclude-from FILE          patterns from a file
          --exclude-larger-than SIZE   500K, 100M, 2G
          --exclude-caches             directories with CACHEDIR.TAG
          --use-gitignore              also respect .gitignore files
          --cross-file-systems         also capture mounted file systems

        Helper files of editors (.*.sw[a-p], .#*, #*#, .~lock.*#, .*.kate-swp, .goutputstream-*) are excluded \
        from new roots and whenever options are given; --no-default-exclusions captures them.

        PATTERN may also be a path: ./notes, ~/thesis/notes, or the absolute path. It is stored as /notes, relative to \
        the root. A pattern that can match nothing is refused.

        Options given to 'watch' are remembered for the root until other options are given; --reset-exclusions \
        discards them. 'archiver roots' shows them. Options given to 'capture' are remembered only for a root's first \
        snapshot or with --reset-exclusions; otherwise they apply to that snapshot only.

        Excluded files are neither read nor watched, and a restore leaves them alone unless you name one: latest:PATH.
        """
}
