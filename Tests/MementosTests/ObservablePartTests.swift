// Parts of an observable by key path: only real changes of a part are delivered.

import Mementos
import Testing

private struct Account: Sendable {
    struct Address: Sendable, Equatable {
        var town = "Ulm"
        var street = "Weg"
    }
    /// Not equatable.
    struct Mark: Sendable {}

    var name = "Ada"
    var address = Address()
    var nickname: String?
    var mark = Mark()
    var greeting: String { "Hello \(name)" }
}

@Suite struct ObservablePartTests {
    @Test("only real changes of a part are delivered") func realChanges() {
        let account = Observable(Account())
        let log = Log<String>()
        let subscriptions = [
            account.observing(\.name).observe([.old, .new]) { log.add("name \($0.old ?? "-")→\($0.new ?? "-")") },
            account.observing(\.address.town).observe { log.add("town \($0.new ?? "-")") },
            account.observing(\.address).observe { log.add("address \($0.new?.street ?? "-")") },
            account.observing(\.greeting).observe { log.add("greeting \($0.new ?? "-")") },
            account.observing(\.nickname).observe { log.add("nickname \(String(describing: $0.new))") },
            account.observing(\.mark).observe { _ in log.add("mark") },
        ]
        let steps: [(change: @Sendable (inout Account) -> Void, reported: [String])] = [
            ({ $0.name = "Eve" }, ["name Ada→Eve", "greeting Hello Eve", "mark"]),
            ({ $0.name = "Eve" }, ["mark"]),
            ({ $0.address.street = "Gasse" }, ["address Gasse", "mark"]),
            ({ $0.address.town = "Bonn" }, ["town Bonn", "address Gasse", "mark"]),
            ({ $0.nickname = "E" }, [#"nickname Optional(Optional("E"))"#, "mark"]),
            ({ $0.nickname = nil }, ["nickname Optional(nil)", "mark"]),
            ({ $0.nickname = nil }, ["mark"]),
        ]
        for (change, reported) in steps {
            account.update(change)
            #expect(log.items == reported)
            log.removeAll()
        }
        withExtendedLifetime(subscriptions) {}
    }

    @Test("registrations for different parts do not replace each other") func differentParts() {
        let account = Observable(Account())
        let listener = Listener<String>()
        account.observing(\.name).observe(listener) { $0.log.add("name \($1.new ?? "-")") }
        account.observing(\.address.town).observe(listener) { $0.log.add("town \($1.new ?? "-")") }
        account.observe(listener) { observer, _ in observer.log.add("account") }
        account.observing(\.name).observe(listener) { $0.log.add("again \($1.new ?? "-")") }
        account.update { account in
            account.name = "Eve"
            account.address.town = "Bonn"
        }
        #expect(listener.log.items == ["town Bonn", "account", "again Eve"])
        account.observing(\.name).observe(listener, isAdditional: true) { $0.log.add("more \($1.new ?? "-")") }
        account.update { $0.name = "Ida" }
        #expect(listener.log.items.dropFirst(3) == ["account", "again Ida", "more Ida"])
    }

    @Test("observing the value and observing its own key path are the same registration") func identity() {
        let number = Observable(1)
        let listener = Listener<String>()
        number.observe(listener) { observer, _ in observer.log.add("whole") }
        number.observing(\.self).observe(listener) { observer, _ in observer.log.add("part") }
        number.set(2)
        #expect(listener.log.items == ["part"])
    }

    @Test("a part is changed through a writable key path, and observers of the whole and of other parts get the change")
    func writing() throws {
        let account = Observable(Account())
        let log = Log<String>()
        let subscriptions = [
            account.observe { log.add("account \($0.value.address.town)") },
            account.observing(\.address).observe { log.add("address \($0.value.town)") },
            account.observing(\.name).observe { log.add("name \($0.value)") },
        ]
        let town = account.observing(\.address).observing(\.town)
        town.set("Bonn")
        town.set("Bonn")
        #expect(town.value == "Bonn")
        #expect(log.items == ["account Bonn", "address Bonn", "account Bonn"])
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try town.update { (town: inout String) throws(Refusal) in
                town = "Kiel"
                throw Refusal()
            }
        }
        #expect(town.value == "Bonn")
        let length = town.update { town in
            town += "!"
            return town.count
        }
        #expect(length == 5)
        #expect(account.value.address.town == "Bonn!")
        // A part that is not equatable can be set, too, and its parts are parts of the whole.
        account.observing(\.mark).set(Account.Mark())
        let whole: WritablePart<Account, Account> = account.observing(\.self)
        whole.observing(\.name).set("Eve")
        #expect(log.items.last == "name Eve")
        withExtendedLifetime(subscriptions) {}
    }

    @Test("a thousand changes of a part on each of several threads are all kept")
    func concurrentWriting() async {
        let counts = Observable((left: 0, right: 0))
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<1000 { counts.observing(\.left).update { $0 += 1 } } }
                group.addTask { for _ in 0..<1000 { counts.observing(\.right).update { $0 += 1 } } }
            }
        }
        let value = counts.value
        #expect(value.left == 4000 && value.right == 4000)
    }

    @Test("an observer of a part does not hold the observable") func ownership() {
        var account: Observable<Account>? = Observable(Account())
        weak let remaining = account
        let subscription = account?.observing(\.name).observe { _ in }
        let changes = account?.observing(\.name).changes()
        #expect(remaining != nil)
        account = nil
        #expect(remaining == nil)
        withExtendedLifetime((subscription, changes)) {}
    }

    @Test("parts can be read as asynchronous sequences") func sequences() async {
        var account: Observable<Account>? = Observable(Account())
        let names = account?.observing(\.name).values(buffering: .unbounded)
        let towns = account?.observing(\.address.town).changes([.initial, .old, .new])
        account?.update { $0.name = "Eve" }
        account?.update { $0.address.town = "Bonn" }
        account?.update { $0.name = "Eve" }
        #expect(account?.observing(\.name).value == "Eve")
        account = nil
        var (seen, reported): ([String], [String]) = ([], [])
        if let names { for await name in names { seen.append(name) } }
        if let towns { for await town in towns { reported.append("\(town.old ?? "-")→\(town.new ?? "-")") } }
        #expect(seen == ["Ada", "Eve"])
        #expect(reported == ["-→Ulm", "Ulm→Bonn"])
    }
}
