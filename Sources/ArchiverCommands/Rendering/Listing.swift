// A list in every form: a table or lines for a person, lines with tabs for programs, an array for `--json`.

internal import ArchiverKit
internal import FileIO

/// How the rows of a list are shown.
struct Listing<Row> {
    struct Column {
        /// Nil for a column that tables do not have.
        fileprivate let shape: TextTable.Column?
        fileprivate let person: (Row) -> String
        /// Nil for a column that lines in a pipe do not have.
        fileprivate let pipe: ((Row, inout LineBuffer) -> Void)?

        /// The same text for everyone.
        static func text(
            _ title: String, alignment: TextTable.Alignment = .left, mark: Style.Mark? = nil,
            dispensability: Int? = nil, isElastic: Bool = false, _ text: @escaping (Row) -> String
        ) -> Column {
            let shape = TextTable.Column(
                title: title, alignment: alignment, mark: mark, dispensability: dispensability, isElastic: isElastic)
            return Column(shape: shape, person: text, pipe: { $1.append(text($0)) })
        }

        /// A text for a person, and another one for a pipe.
        static func text(
            _ title: String, alignment: TextTable.Alignment = .left, dispensability: Int? = nil,
            isElastic: Bool = false, person: @escaping (Row) -> String, pipe: @escaping (Row) -> String
        ) -> Column {
            let shape = TextTable.Column(
                title: title, alignment: alignment, dispensability: dispensability, isElastic: isElastic)
            return Column(shape: shape, person: person, pipe: { $1.append(pipe($0)) })
        }

        /// Local time for a person, with a zone for a pipe; empty for nil.
        static func time(
            _ title: String, dispensability: Int? = nil, _ time: @escaping (Row) -> Timestamp?
        ) -> Column {
            var writer = TimeWriter(isLocal: true)
            return Column(
                shape: TextTable.Column(title: title, dispensability: dispensability),
                person: { time($0).map { LocalTime.text($0) } ?? "" },
                pipe: { row, line in if let time = time(row) { writer.append(time, to: &line) } })
        }

        /// A size for a person, the number of bytes for a pipe.
        static func bytes(_ title: String, dispensability: Int? = nil, _ bytes: @escaping (Row) -> UInt64) -> Column {
            Column(
                shape: TextTable.Column(title: title, alignment: .right, dispensability: dispensability),
                person: { ByteCount.text(bytes($0)) }, pipe: { $1.append(bytes($0)) })
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
            Column(shape: nil, person: { _ in "" }, pipe: { $1.append(text($0)) })
        }

        static func pipe(number: @escaping (Row) -> UInt64) -> Column {
            Column(shape: nil, person: { _ in "" }, pipe: { $1.append(number($0)) })
        }

        /// A column of the lines in a pipe only: bytes as they are, such as a line of a file.
        static func pipe(bytes: @escaping (Row) -> [UInt8]) -> Column {
            Column(shape: nil, person: { _ in "" }, pipe: { $1.append(bytes($0)) })
        }
    }

    /// A line that belongs to a row: across the table, and as a line of its own in a pipe; nil for none there.
    struct Line {
        let person: String?
        let pipe: [UInt8]?

        init(person: String?, pipe: String?) { (self.person, self.pipe) = (person, pipe.map { Array($0.utf8) }) }

        init(person: String?, pipe: [UInt8]) { (self.person, self.pipe) = (person, pipe) }
    }

    let columns: [Column]
    /// What is said if there are no rows; empty to say nothing.
    let emptiness: String
    let json: (Row) throws -> any Encodable
    /// The lines before and after a row.
    var before: (Row) throws -> [Line] = { _ in [] }
    var after: (Row) throws -> [Line] = { _ in [] }
    /// The lines that a person reads for a row, instead of a table; they are written as they come.
    var personLines: ((Row) throws -> [String])?
    /// Writes the same JSON as `json`, in a fraction of the time.
    var fastJSON: ((Row, inout LineBuffer) throws -> Void)?

    init(_ columns: [Column], emptiness: String, json: @escaping (Row) throws -> any Encodable) {
        self.columns = columns
        self.emptiness = emptiness
        self.json = json
    }

    /// Writes the rows in the form that the console asks for.
    ///
    /// - Parameter older: what is said if there are more rows than these; nil if there are not.
    func write(_ rows: some Sequence<Row>, _ console: Console, older: String? = nil) throws {
        try write(console, older: older) { write in for row in rows { try write(row) } }
    }

    /// Writes the rows that `visit` passes on, in a pipe and as JSON row by row.
    func write(_ console: Console, older: String? = nil, _ visit: ((Row) throws -> Void) throws -> Void) throws {
        var isEmpty = true
        if console.isForPerson, personLines == nil {
            var rows: [Row] = []
            try visit { rows.append($0) }
            isEmpty = rows.isEmpty
            if !isEmpty {
                for line in try table(rows, console.style, width: console.columns) { try console.output.line(line) }
            }
        } else {
            let sink = RowSink(console.output)
            do {
                try visit { row in
                    try sink.append { try append(row, isFirst: isEmpty, console, to: &$0) }
                    isEmpty = false
                }
            } catch {
                try sink.write()
                throw error
            }
            if console.isJSON { try sink.append { $0.append(isEmpty ? "[]\n" : "\n]\n") } }
            try sink.write()
        }
        if console.isJSON { return }
        if isEmpty, !emptiness.isEmpty { console.remark(emptiness) }
        if let older, console.isForPerson {
            try console.output.flush()
            console.remark(older)
        }
    }

    private func append(_ row: Row, isFirst: Bool, _ console: Console, to buffer: inout LineBuffer) throws {
        if console.isJSON {
            buffer.append(isFirst ? "[\n" : ",\n")
            if let fastJSON { return try fastJSON(row, &buffer) }
            return buffer.append(try JSONText.of(json(row)))
        }
        guard console.isForPerson, let personLines else { return try appendPlain(row, to: &buffer) }
        for line in try personLines(row) {
            buffer.append(line)
            buffer.append(byte: "\n")
        }
    }

    /// The aligned table.
    func table(_ rows: [Row], _ style: Style, width: Int? = nil) throws -> [String] {
        let shown = columns.filter { $0.shape != nil }
        var table = TextTable(shown.compactMap(\.shape))
        for row in rows {
            for line in try before(row) { if let text = line.person { table.add(note: text) } }
            table.add(shown.map { $0.person(row) })
            for line in try after(row) { if let text = line.person { table.add(note: text) } }
        }
        return table.aligned(style, width: width)
    }

    /// The line of a row with tabs, without the lines before and after it.
    func plain(_ row: Row) -> String {
        var buffer = LineBuffer()
        appendCells(row, to: &buffer)
        return buffer.text
    }

    private func appendPlain(_ row: Row, to buffer: inout LineBuffer) throws {
        for line in try before(row) { append(line, to: &buffer) }
        appendCells(row, to: &buffer)
        buffer.append(byte: "\n")
        for line in try after(row) { append(line, to: &buffer) }
    }

    private func append(_ line: Line, to buffer: inout LineBuffer) {
        guard let bytes = line.pipe else { return }
        buffer.append(bytes)
        buffer.append(byte: "\n")
    }

    private func appendCells(_ row: Row, to buffer: inout LineBuffer) {
        var isFirst = true
        for column in columns {
            guard let pipe = column.pipe else { continue }
            if !isFirst { buffer.append(byte: "\t") }
            isFirst = false
            pipe(row, &buffer)
        }
    }
}

/// Collects rows before they are written; the first ones are written early.
private final class RowSink {
    private let output: Output
    private var buffer = LineBuffer()
    private var threshold = 4 << 10

    init(_ output: Output) { self.output = output }

    func append(_ body: (inout LineBuffer) throws -> Void) throws {
        try body(&buffer)
        guard buffer.count >= threshold else { return }
        try write()
        try output.flush()
        threshold = 64 << 10
    }

    func write() throws {
        try buffer.withBytes { try output.write($0) }
        buffer.removeAll()
    }
}

/// Lines with names and values: aligned for a person, separated by tabs for a program.
struct FieldList {
    struct Field {
        let name: String
        let person: String
        let pipe: String

        init(_ name: String, _ value: String) { self.init(name, person: value, pipe: value) }

        init(_ name: String, person: String, pipe: String) {
            (self.name, self.person, self.pipe) = (name, person, pipe)
        }

        static func time(_ name: String, _ time: Timestamp) -> Field {
            Field(name, person: LocalTime.text(time), pipe: LocalTime.plain(time))
        }

        static func bytes(_ name: String, _ bytes: UInt64) -> Field {
            Field(name, person: ByteCount.text(bytes), pipe: "\(bytes)")
        }
    }

    let fields: [Field]

    func lines(_ console: Console) -> [String] {
        let width = fields.map(\.name.count).max() ?? 0
        return fields.map { field in
            guard console.isForPerson else { return TextTable.plain([field.name, field.pipe]) }
            let blanks = String(repeating: " ", count: width - field.name.count)
            return console.style(.dim, field.name) + blanks + "  " + field.person
        }
    }
}
