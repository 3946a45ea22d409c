// Compares the CBOR coders with an independent implementation, the Python package cbor2.

import ArchiveFormat
import FileIO
import TestSupport
import Testing

@Suite("cbor2 agrees", .enabled(if: Python.hasCBOR2, "python3 with cbor2 is not installed"))
struct CBORInteroperabilityTests {
    /// A Python function that prints values in a notation independent of CBOR; `show` in Swift prints the same.
    private static let prelude = """
        import cbor2, math, random, struct, sys
        def show(v):
            if v is None: return "null"
            if v is True: return "true"
            if v is False: return "false"
            if isinstance(v, int): return str(v)
            if isinstance(v, float): return "f" + ("nan" if math.isnan(v) else struct.pack(">d", v).hex())
            if isinstance(v, bytes): return "b" + v.hex()
            if isinstance(v, str): return "t" + v.encode().hex()
            if isinstance(v, (list, tuple)): return "[" + ",".join(map(show, v)) + "]"
            return "{" + ",".join(sorted(show(k) + ":" + show(x) for k, x in v.items())) + "}"

        """

    private func show(_ value: CBORValue) -> String {
        switch value {
        case .unsigned(let number): "\(number)"
        case .negative(let complement): "-" + Self.successor(complement)
        case .bytes(let bytes): "b" + Hex.string(bytes)
        case .text(let text): "t" + Hex.string(Array(text.utf8))
        case .array(let items): "[" + items.map(show).joined(separator: ",") + "]"
        case .map(let pairs):
            "{" + pairs.map { show($0.key) + ":" + show($0.value) }.sorted().joined(separator: ",") + "}"
        case .boolean(let value): value ? "true" : "false"
        case .null: "null"
        case .float(let number): "f" + (number.isNaN ? "nan" : Self.bits(number))
        }
    }

    private static func bits(_ number: Double) -> String {
        let digits = String(number.bitPattern, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// `number` + 1 in decimal, which may be 2^64.
    private static func successor(_ number: UInt64) -> String {
        number == .max ? "18446744073709551616" : "\(number + 1)"
    }

    /// A random item.
    ///
    /// All keys of a map have the same type: cbor2 orders canonical keys by length first (RFC 7049 §3.9), which equals
    /// bytewise order (RFC 8949 §4.2.1) only among keys of one type.
    private func item(depth: Int, using random: inout SeededGenerator) -> CBORValue {
        switch Int.random(in: 0...(depth == 0 ? 7 : 9), using: &random) {
        case 0, 1: return .unsigned(random.number())
        case 2: return .negative(complement: random.number())
        case 3: return .bytes(random.bytes(0, 40))
        case 4: return .text(random.text())
        case 5:
            return .float(
                [
                    Double(bitPattern: random.next()), Double(Int8(truncatingIfNeeded: random.next())) / 8,
                    Double(Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))),
                ].randomElement(using: &random) ?? 0)
        case 6: return .boolean(random.oneIn(2))
        case 7: return .null
        case 8:
            return .array(
                (0..<Int.random(in: 0...30, using: &random)).map { _ in item(depth: depth - 1, using: &random) })
        default:
            let kind = random.next() % 4
            var pairs = [[UInt8]: (key: CBORValue, value: CBORValue)]()
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                let key: CBORValue =
                    switch kind {
                    case 0: .unsigned(random.number())
                    case 1: .negative(complement: random.number())
                    case 2: .bytes(random.bytes(0, 30))
                    default: .text(random.text())
                    }
                pairs[key.encoded()] = (key, item(depth: depth - 1, using: &random))
            }
            return .map(Array(pairs.values))
        }
    }

    @Test("cbor2 reads our items and writes the same bytes")
    func swiftToPython() throws {
        var random = SeededGenerator()
        let items = (0..<2000).map { _ in item(depth: 3, using: &random) }
        let script =
            Self.prelude + """
                for line in sys.stdin:
                    v = cbor2.loads(bytes.fromhex(line))
                    print(show(v), cbor2.dumps(v, canonical=True).hex())
                """
        let output = try Python.run(script, input: items.map { Hex.string($0.encoded()) }.joined(separator: "\n"))
        let lines = output.split(separator: "\n")
        #expect(lines.count == items.count)
        for (item, line) in zip(items, lines) {
            #expect(line == "\(show(item)) \(Hex.string(item.encoded()))", "seed \(random.seed)")
        }
    }

    @Test("we read cbor2's items and write the same bytes")
    func pythonToSwift() throws {
        let seed = SeededGenerator().seed
        let script =
            Self.prelude + """
                r = random.Random(int(sys.argv[1]))
                def number(): return r.getrandbits(r.randint(0, 64))
                def text(): return "".join(chr(r.choice([r.randint(0, 127), r.randint(0xa0, 0xd7ff), r.randint(0x10000, 0x10ffff)])) for _ in range(r.randint(0, 30)))
                def data(): return bytes(r.getrandbits(8) for _ in range(r.randint(0, 40)))
                def fits(f, form):
                    try: return struct.unpack(form, struct.pack(form, f))[0] == f
                    except OverflowError: return False
                # Debian 12 has a version that does not shorten the greatest halves, as RFC 8949 asks for.
                def isShortest(f):
                    best = 3 if math.isnan(f) or fits(f, ">e") else 5 if fits(f, ">f") else 9
                    return len(cbor2.dumps(f, canonical=True)) == best
                def real(form, count):
                    while True:
                        f = struct.unpack(form, r.randbytes(count))[0]
                        if isShortest(f): return f
                leaves = [number, lambda: -1 - number(), text, data, lambda: r.choice([None, True, False]),
                    lambda: real(">d", 8), lambda: real(">f", 4), lambda: real(">e", 2)]
                def value(depth):
                    kind = r.randint(0, 3) if depth else 0
                    if kind == 1: return [value(depth - 1) for _ in range(r.randint(0, 9))]
                    if kind == 2:
                        key = r.choice(leaves[:4])
                        return {key(): value(depth - 1) for _ in range(r.randint(0, 9))}
                    return r.choice(leaves)()
                for _ in range(2000):
                    v = value(3)
                    print(show(v), cbor2.dumps(v, canonical=True).hex())
                """
        let lines = try Python.run(script, ["\(seed)"], input: "").split(separator: "\n")
        #expect(lines.count == 2000)
        for line in lines {
            let parts = line.split(separator: " ")
            let bytes = try #require(Hex.bytes(parts[1]))
            let item = try bytes.withUnsafeBytes { try CBORValue(decoding: $0) }
            #expect(show(item) == parts[0], "seed \(seed)")
            #expect(item.encoded() == bytes, "seed \(seed)")
        }
    }

    @Test("cbor2 reads a snapshot")
    func snapshot() throws {
        var random = SeededGenerator()
        let snapshot = random.snapshot()
        let script =
            Self.prelude + """
                v = cbor2.loads(bytes.fromhex(sys.stdin.read()))
                print(v[0][0], v[1].hex(), v[3], v[6].hex())
                """
        let output = try Python.run(script, input: Hex.string(snapshot.encoded()))
        let expected = [
            "\(snapshot.time.seconds)", Hex.string(snapshot.rootPath), snapshot.cause.rawValue, snapshot.tree.hex,
        ]
        #expect(output == expected.joined(separator: " ") + "\n", "seed \(random.seed)")
    }
}
