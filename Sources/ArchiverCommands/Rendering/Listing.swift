// A list in every form: a table for a person, lines with tabs for a pipe, an array for `--json`.

internal import FileIO

/// How the rows of a list are shown.
struct Listing<Row> {
    struct Column {
        /// Nil for a column that tables do not have.
        fileprivate let shape: TextTable.Column?
        fileprivate let person: (Row) -> String
        /// Nil for a column that lines in a pipe do not have.
        fileprivate let pipe: ((Row) -> String)?

        /// The same text for everyone.
        static func text(
            _ title: String, alignment: TextTable.Alignment = .left, mark: Style.Mark? = nil,
            dispensability: Int? = nil, isElastic: Bool = false, _ text: @escaping (Row) -> String
        ) -> Column {
            let shape = TextTable.Column(
                title: title, alignment: alignment, mark: mark, dispensability: dispensability, isElastic: isElastic)
            return Column(shape: shape, person: text, pipe: text)
        }

        /// A text for a person, and another one for a pipe.
        static func text(
            _ title: String, alignment: TextTable.Alignment = .left, dispensability: Int? = nil,
            isElastic: Bool = false, person: @escaping (Row) -> String, pipe: @escaping (Row) -> String
        ) -> Column {
            let shape = TextTable.Column(
                title: title, alignment: alignment, dispensability: dispensability, isElastic: isElastic)
            return Column(shape: shape, person: person, pipe: pipe)
        }

        /// Local time for a person, with a zone for a pipe; empty for nil.
        static func time(
            _ title: String, dispensability: Int? = nil, _ time: @escaping (Row) -> Timestamp?
        ) -> Column {
            .text(
                title, dispensability: dispensability, person: { time($0).map { LocalTime.text($0) } ?? "" },
                pipe: { time($0).map { LocalTime.plain($0) } ?? "" })
        }

        /// A size for a person, the number of bytes for a pipe.
        static func bytes(_ title: String, dispensability: Int? = nil, _ bytes: @escaping (Row) -> UInt64) -> Column {
            .text(
                title, alignment: .right, dispensability: dispensability, person: { ByteCount.text(bytes($0)) },
                pipe: { "\(bytes($0))" })
        }

        /// A column of the table only.
        static func person(
            _ title: String, alignment: TextTable.Alignment = .left, mark: Style.Mark? = nil,
            dispensability: Int? = nil, isElastic: Bool = false, _ text: @escaping (Row) -> String
        ) -> Column {
            let shape = TextTable.Column(
                title: title, alignment: alignment, mark: mark, dispensability: dispensability, isElastic: isElastic)
            return Column(shape: shape, person: text, pipe: nil)
        }

        /// A column of the lines in a pipe only.
        static func pipe(_ text: @escaping (Row) -> String) -> Column {
            Column(shape: nil, person: { _ in "" }, pipe: text)
        }
    }

    /// A line that belongs to a row: across the table, and as a line of its own in a pipe.
    struct Line {
        let person: String
        let pipe: String
    }

    let columns: [Column]
    /// What is said if there are no rows.
    let emptiness: String
    let json: (Row) throws -> any Encodable
    /// The lines before and after a row.
    var before: (Row) -> [Line] = { _ in [] }
    var after: (Row) -> [Line] = { _ in [] }

    init(_ columns: [Column], emptiness: String, json: @escaping (Row) throws -> any Encodable) {
        self.columns = columns
        self.emptiness = emptiness
        self.json = json
    }

    /// Writes the rows in the form that the console asks for.
    ///
    /// - Parameter older: what is said if there are more rows than these; nil if there are not.
    func write(_ rows: some Sequence<Row>, _ console: Console, older: String? = nil) throws {
        if console.isJSON {
            var writer = try JSONArrayWriter(console.output)
            for row in rows { try writer.append(json(row)) }
            return try writer.finish()
        }
        let rows = Array(rows)
        if rows.isEmpty { return console.remark(emptiness) }
        for line in lines(rows, console) { try console.output.line(line) }
        if let older, console.isForPerson {
            try console.output.flush()
            console.remark(older)
        }
    }

    /// The lines of a table or for a pipe.
    func lines(_ rows: [Row], _ console: Console) -> [String] {
        console.isForPerson ? table(rows, console.style, width: console.columns) : rows.flatMap(plain)
    }

    /// The aligned table.
    func table(_ rows: [Row], _ style: Style, width: Int? = nil) -> [String] {
        let shown = columns.filter { $0.shape != nil }
        var table = TextTable(shown.compactMap(\.shape))
        for row in rows {
            for line in before(row) { table.add(note: line.person) }
            table.add(shown.map { $0.person(row) })
            for line in after(row) { table.add(note: line.person) }
        }
        return table.aligned(style, width: width)
    }

    /// The lines of one row, with tabs.
    func plain(_ row: Row) -> [String] {
        before(row).map(\.pipe) + [TextTable.plain(columns.compactMap { $0.pipe?(row) })] + after(row).map(\.pipe)
    }
}
