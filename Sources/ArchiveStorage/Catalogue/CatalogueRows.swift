// Fast access to a statement's rows, without GRDB's cost for each row: lists have a hundred thousand of them.

internal import ArchiveFormat
internal import FileIO
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Glibc

/// The current row of a prepared statement, valid until the next step (sqlite.org/c3ref/column_blob.html).
struct CatalogueRow {
    let handle: OpaquePointer

    func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(handle, column) }

    func number(_ column: CInt) -> UInt64 { UInt64(clamping: integer(column)) }

    /// The integer in a column; throws if it has another type, as SQLite columns accept any type.
    func exactInteger(_ column: CInt) throws -> Int64 {
        guard sqlite3_column_type(handle, column) == SQLITE_INTEGER else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
        return integer(column)
    }

    func isNull(_ column: CInt) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// The bytes of a text or a blob.
    func bytes(_ column: CInt) -> UnsafeRawBufferPointer {
        // In this order: fetching the blob may convert the value, and change its length.
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    func id(_ column: CInt) throws -> ChunkID {
        let bytes = bytes(column)
        guard bytes.count == ChunkID.byteCount else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return ChunkID(exactly: bytes)
    }

    /// The UTF-8 text in a column, stored as a text or a blob.
    func text(_ column: CInt) throws -> String {
        guard let text = String(validating: bytes(column), as: UTF8.self) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
        return text
    }

    func time(seconds: CInt, nanoseconds: CInt) throws -> Timestamp {
        guard let fraction = UInt32(exactly: try exactInteger(nanoseconds)) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
        return Timestamp(seconds: try exactInteger(seconds), nanoseconds: fraction)
    }
}

extension Row {
    /// The value in a column; throws if it has another type, as SQLite columns accept any type.
    func value<Value: DatabaseValueConvertible>(_ column: Int) throws -> Value {
        let stored: DatabaseValue = self[column]
        guard let value = Value.fromDatabaseValue(stored) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return value
    }

    /// The value in a column; nil for NULL.
    func optional<Value: DatabaseValueConvertible>(_ column: Int) throws -> Value? {
        hasNull(atIndex: column) ? nil : try value(column)
    }

    /// The bytes in a column.
    func bytes(_ column: Int) throws -> [UInt8] { Array(try value(column) as Data) }

    func time(seconds: Int, nanoseconds: Int) throws -> Timestamp {
        Timestamp(seconds: try value(seconds), nanoseconds: try value(nanoseconds))
    }
}

/// A value for a parameter of a statement.
enum CatalogueValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case id(ChunkID)
    case null

    init(_ bytes: [UInt8]?) { self = bytes.map { .blob($0) } ?? .null }
}

extension Statement {
    /// Runs a statement that has no rows, without GRDB's cost for each value.
    func run(_ values: [CatalogueValue]) throws { _ = try firstRow(values) { _ in } }

    /// What `read` makes of the first row; nil if there is none.
    func firstRow<Value>(_ values: [CatalogueValue], _ read: (CatalogueRow) throws -> Value) throws -> Value? {
        var first: Value?
        try forEachRow(values) { row in
            first = try read(row)
            return false
        }
        return first
    }

    /// Calls `body` with each row, until it returns false.
    func forEachRow(_ values: [CatalogueValue], _ body: (CatalogueRow) throws -> Bool) throws {
        sqlite3_reset(sqliteStatement)
        // A parameter without a value would keep that of the last time.
        guard values.count == sqlite3_bind_parameter_count(sqliteStatement) else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE)
        }
        for (index, value) in values.enumerated() {
            let code = bind(value, at: CInt(index + 1))
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
        try forEachRow(body)
    }

    /// Calls `body` with each row, until it returns false.
    func forEachRow(_ arguments: StatementArguments, _ body: (CatalogueRow) throws -> Bool) throws {
        try setArguments(arguments)
        try forEachRow(body)
    }

    private func forEachRow(_ body: (CatalogueRow) throws -> Bool) throws {
        let handle = sqliteStatement
        defer { sqlite3_reset(handle) }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: guard try body(CatalogueRow(handle: handle)) else { return }
            case SQLITE_DONE: return
            case let code: throw DatabaseError(resultCode: ResultCode(rawValue: code))
            }
        }
    }

    private func bind(_ value: CatalogueValue, at index: CInt) -> CInt {
        let handle = sqliteStatement
        switch value {
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .text(var text):
            return text.withUTF8 {
                sqlite3_bind_text(handle, index, $0.baseAddress, CInt($0.count), Statement.copies)
            }
        case .blob(let bytes): return bytes.withUnsafeBytes { bind($0, at: index) }
        case .id(let id): return id.withUnsafeBytes { bind($0, at: index) }
        case .null: return sqlite3_bind_null(handle, index)
        }
    }

    private func bind(_ bytes: UnsafeRawBufferPointer, at index: CInt) -> CInt {
        // A blob at no address would be NULL (sqlite.org/c3ref/bind_blob.html).
        bytes.isEmpty
            ? sqlite3_bind_zeroblob(sqliteStatement, index, 0)
            : sqlite3_bind_blob(sqliteStatement, index, bytes.baseAddress, CInt(bytes.count), Statement.copies)
    }

    /// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
    private static var copies: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

/// Caches the last value made from bytes: neighbouring rows of a list often repeat them.
struct Repeated<Value> {
    private var bytes: [UInt8] = []
    private var value: Value?

    mutating func value(of new: UnsafeRawBufferPointer, _ make: () throws -> Value) rethrows -> Value {
        if let value, bytes.count == new.count, new.baseAddress.map({ memcmp(bytes, $0, new.count) == 0 }) ?? true {
            return value
        }
        bytes = Array(new)
        let made = try make()
        value = made
        return made
    }
}
