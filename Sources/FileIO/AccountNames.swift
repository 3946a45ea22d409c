// Names of users and groups. Each is looked up once and then cached.

internal import Glibc
package import SystemPackage
internal import Threading

/// Translates numeric owners and groups to names and back; safe to use from several threads.
package final class AccountNames: Sendable {
    private struct Cache {
        var owners: [UInt32: String?] = [:]
        var groups: [UInt32: String?] = [:]
        var ownerNumbers: [String: UInt32?] = [:]
        var groupNumbers: [String: UInt32?] = [:]
    }

    private let cache = Locked(Cache())

    package init() {}

    /// The home directory of a user; nil if the system knows none.
    package static func home(of number: UInt32) -> FilePath? {
        var entry = passwd()
        return lookUp(&entry) {
            getpwuid_r(number, $0, $1, $2, $3)
        } read: { entry -> FilePath? in
            entry.pw_dir.map { FilePath(platformString: $0) }
        }
    }

    /// The name of a user; nil if the system knows none (or one that is not UTF-8).
    package func owner(_ number: UInt32) -> String? {
        cached(\.owners, number) { number in
            var entry = passwd()
            return Self.lookUp(&entry) {
                getpwuid_r(number, $0, $1, $2, $3)
            } read: {
                name(at: $0.pw_name)
            }
        }
    }

    /// The name of a group; nil if the system knows none (or one that is not UTF-8).
    package func group(_ number: UInt32) -> String? {
        cached(\.groups, number) { number in
            var entry = Glibc.group()
            return Self.lookUp(&entry) {
                getgrgid_r(number, $0, $1, $2, $3)
            } read: {
                name(at: $0.gr_name)
            }
        }
    }

    /// The number of the user `name`; nil if the system knows none.
    package func owner(named name: String) -> UInt32? {
        cached(\.ownerNumbers, name) { name in
            var entry = passwd()
            return Self.lookUp(&entry) {
                getpwnam_r(name, $0, $1, $2, $3)
            } read: {
                $0.pw_uid
            }
        }
    }

    /// The number of the group `name`; nil if the system knows none.
    package func group(named name: String) -> UInt32? {
        cached(\.groupNumbers, name) { name in
            var entry = Glibc.group()
            return Self.lookUp(&entry) {
                getgrnam_r(name, $0, $1, $2, $3)
            } read: {
                $0.gr_gid
            }
        }
    }

    /// Returns the cached answer, or asks without holding the lock, because a directory service may be slow.
    private func cached<Key: Hashable & Sendable, Value: Sendable>(
        _ table: any WritableKeyPath<Cache, [Key: Value?]> & Sendable, _ key: Key, ask: (Key) -> Value?
    ) -> Value? {
        if let known = cache.withLock({ $0[keyPath: table][key] }) { return known }
        let answer = ask(key)
        cache.withLock { _ = $0[keyPath: table].updateValue(answer, forKey: key) }
        return answer
    }

    /// Makes a `get…_r` call and enlarges the buffer until the entry fits (getpwnam(3), getgrnam(3)).
    private static func lookUp<Entry, Value>(
        _ entry: inout Entry,
        _ call: (
            UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
        ) -> CInt,
        read: (Entry) -> Value?
    ) -> Value? {
        var capacity = 4_096
        // Room for a group of a hundred thousand members.
        let limit = 16 << 20
        while capacity <= limit {
            var buffer = [CChar](repeating: 0, count: capacity)
            var found: UnsafeMutablePointer<Entry>?
            let value: Value?? = buffer.withUnsafeMutableBufferPointer { buffer in
                guard let start = buffer.baseAddress else { return nil }
                let code = call(&entry, start, buffer.count, &found)
                if code == ERANGE || code == EINTR { return .none }
                return .some(found == nil ? nil : read(entry))
            }
            if let value { return value }
            capacity *= 4
        }
        return nil
    }
}

/// A name in C memory; nil if it is not UTF-8.
private func name(at pointer: UnsafeMutablePointer<CChar>?) -> String? {
    pointer.flatMap { String(validatingCString: $0) }
}
