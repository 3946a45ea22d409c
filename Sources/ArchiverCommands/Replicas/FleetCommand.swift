// `archiver fleet`: the replicas of several machines in one store, without a key.

internal import ArchiverKit
internal import ArgumentParser
internal import FileIO
internal import ObjectStore
internal import Replicas

struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration.subcommand(
        commandName: "fleet",
        abstract: "List the replicas in a store, and how old they are.",
        discussion: """
            Lists every replica below the address: its machine, the time of its newest state, and its size. No key is \
            needed, and nothing is verified. A machine that changed nothing sent nothing: its newest state is old, too. \
            With --max-lag, the exit code is 3 if a replica has no newer state, or cannot be described. In a pipe each \
            replica is one line, with tabs between the columns: prefix, machine, time, bytes, problem.

            Examples:
              archiver fleet s3://backups/
              archiver fleet file:///mnt/backups --max-lag 24h --quiet
            """)

    @Argument(help: ArgumentHelp("What the addresses of the replicas begin with.", valueName: "url"))
    var url: String

    @Option(help: ArgumentHelp("Exit with 3 if the newest state is older than this.", valueName: "duration"))
    var maxLag: DurationArgument?

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let console = Console(global)
        let objects = try ReplicaStores.all.open(url)
        defer { objects.close() }
        let members = try FleetMember.all(in: objects)
        if !console.isQuiet || console.isJSON { try FleetCommand.listing.write(members, console) }
        for member in members {
            if let problem = member.problem {
                console.warn("archiver: the replica \(FleetCommand.name(member)): \(Escaping.text(problem))")
            }
        }
        guard let maxLag else { return }
        let lagging = members.filter { member in
            member.lagSeconds(at: .now).map { $0 > maxLag.duration.seconds } ?? true
        }
        for member in lagging where member.problem == nil {
            let age = member.lagSeconds(at: .now).map { "is \(Int($0)) s old" }
            console.warn(
                "archiver: the replica \(FleetCommand.name(member)) of '\(Escaping.text(member.host ?? ""))' "
                    + (age ?? "holds nothing yet"))
        }
        if !lagging.isEmpty || members.contains(where: { $0.problem != nil }) { throw ExitStatus.incomplete }
    }

    private static func name(_ member: FleetMember) -> String { member.prefix.isEmpty ? "." : member.prefix }

    static var listing: Listing<FleetMember> {
        Listing(
            [
                .text("REPLICA") { name($0) },
                .text("MACHINE") { Escaping.text($0.host ?? "") },
                .time("NEWEST STATE") { $0.newest },
                .bytes("SIZE") { $0.bytes },
                .text("PROBLEM", isElastic: true) { Escaping.text($0.problem ?? "") },
            ],
            emptiness: "There is no replica below this address.",
            json: { FleetMemberJSON($0) })
    }
}

/// A row of `fleet --json`.
struct FleetMemberJSON: Encodable {
    let member: FleetMember

    init(_ member: FleetMember) { self.member = member }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        try object.encode(member.prefix, forKey: .replica)
        try object.encode(member.host, forKey: .host)
        try object.encode(member.newest?.rfc3339, forKey: .completeUntil)
        try object.encode(member.lagSeconds(at: .now), forKey: .lagSeconds)
        try object.encode(member.objects, forKey: .objects)
        try object.encode(member.bytes, forKey: .storedBytes)
        try object.encode(member.problem.map { [$0] } ?? [], forKey: .causes)
    }
}
