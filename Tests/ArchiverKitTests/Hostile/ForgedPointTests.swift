// Each numbered promise of the format, tried on an archive that is forged for it.

import TestTraits
import Testing

@Suite("Promises of the format", .blocking)
struct ForgedPointTests {
    @Test("what is forged is refused, reported or harmless, as the format document says", arguments: ForgedPoint.all)
    func promise(point: ForgedPoint) throws { try point.run(ForgedArchivePlace()) }
}
