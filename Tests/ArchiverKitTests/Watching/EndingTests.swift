// Requests to end.

import Testing

@testable import Watching

@Suite("Requests to end") struct EndingTests {
    private static let forEver = Duration.seconds(3600 * 24 * 365)

    @Test("a request ends the pauses of what it ends, also those that begin later, and nothing outside")
    func pauses() async {
        let service = Ending()
        let (first, second) = (Ending(within: service), Ending(within: service))
        async let one: Void = first.pause(EndingTests.forEver)
        async let two: Void = second.pause(EndingTests.forEver)
        first.request()
        await one
        #expect(first.isRequested && !second.isRequested && !service.isRequested)
        service.request()
        await two
        #expect(second.isRequested)
        await service.pause(EndingTests.forEver)
        let late = Ending(within: service)
        #expect(late.isRequested)
        await late.pause(EndingTests.forEver)
    }

    @Test("a pause ends by itself, and the first request counts")
    func time() async {
        let ending = Ending()
        await ending.pause(.milliseconds(1))
        #expect(ending.time == nil)
        ending.request()
        let time = ending.time
        ending.request()
        #expect(time != nil && ending.time == time)
    }
}
