// The part of a later program's snapshot, gap, operation or notice that a program of version 1 reads.

import ArchiveFormat

/// Removes the fields that version 1 skips, and replaces the values that it reads as others.
enum KnownFields {
    static func snapshot(_ item: CBORValue) -> CBORValue {
        fields(0...18, of: item) { key, value in
            switch key {
            case 7: part(0...3, of: value)
            case 8: part(0...2, of: value)
            case 9: list(value) { fields(0...1, of: $0) { $0 == 1 ? change($1) : $1 } }
            case 10: list(value) { fields(0...2, of: $0) { $0 == 1 ? reason($1) : $1 } }
            case 14: part(0...4, of: value)
            default: value
            }
        }
    }

    static func gap(_ item: CBORValue) -> CBORValue { fields(0...6, of: item) { $1 } }

    static func operation(_ item: CBORValue) -> CBORValue { fields(0...13, of: item) { $1 } }

    static func rootNotice(_ item: CBORValue) -> CBORValue { fields(0...8, of: item) { $1 } }

    /// The fields of a map whose keys are in `keys`; `known` replaces their values, or removes them by returning nil.
    private static func fields(
        _ keys: ClosedRange<UInt64>, of item: CBORValue, _ known: (UInt64, CBORValue) -> CBORValue?
    ) -> CBORValue {
        guard case .map(let pairs) = item else { return item }
        return .map(
            pairs.compactMap { pair in
                guard case .unsigned(let key) = pair.key, keys.contains(key), let value = known(key, pair.value) else {
                    return nil
                }
                return (pair.key, value)
            })
    }

    /// The map without unknown fields; nil if that leaves it empty.
    private static func part(_ keys: ClosedRange<UInt64>, of item: CBORValue) -> CBORValue? {
        let part = fields(keys, of: item) { $1 }
        if case .map(let pairs) = part, pairs.isEmpty { return nil }
        return part
    }

    private static func list(_ item: CBORValue, _ known: (CBORValue) -> CBORValue) -> CBORValue {
        guard case .array(let items) = item else { return item }
        return .array(items.map(known))
    }

    private static func change(_ item: CBORValue) -> CBORValue {
        guard case .unsigned(let number) = item, number > 2 else { return item }
        return .unsigned(1)
    }

    private static func reason(_ item: CBORValue) -> CBORValue? {
        guard case .unsigned(let number) = item, number > 2 else { return item }
        return nil
    }
}
