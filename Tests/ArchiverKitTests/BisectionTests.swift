// The questions of a bisection, and their order.

import TestSupport
import Testing

@testable import History

@Suite struct BisectionTests {
    @Test(
        "a planted bug among 100,000 places is found with 17 questions",
        arguments: [1, 2, 3, 17, 49_999, 99_998, 99_999])
    func count(firstBad: Int) {
        var bisection = Bisection(good: 0, bad: 99_999)
        var questions = 0
        while let place = bisection.next {
            questions += 1
            #expect(bisection.questionsLeft >= 1)
            bisection.answer(place < firstBad ? .good : .bad, at: place)
        }
        #expect(bisection.bad == firstBad && bisection.good == firstBad - 1)
        #expect(questions <= 17)
    }

    @Test("with any places skipped, the culprit is among the suspects, and nothing is asked twice")
    func skipping() {
        var random = SeededGenerator("with any places skipped, the culprit is among the suspects")
        for _ in 0..<200 {
            let count = 2 + random.below(40)
            let firstBad = 1 + random.below(count - 1)
            let skipped = Set((0..<count).filter { _ in random.oneIn(3) })
            var bisection = Bisection(good: 0, bad: count - 1)
            var asked: Set<Int> = []
            while let place = bisection.next {
                #expect(asked.insert(place).inserted)
                bisection.answer(skipped.contains(place) ? .skipped : place < firstBad ? .good : .bad, at: place)
            }
            #expect(bisection.good < firstBad && firstBad <= bisection.bad)
            let between = (bisection.good + 1)..<bisection.bad
            #expect(between.allSatisfy(skipped.contains))
        }
    }
}
