// Places for replicas, and the key that reads them.

internal import FoundationEssentials
internal import Glibc
internal import SystemPackage

/// An identity and its recipient.
struct ReplicaKey {
    let file: String
    let recipient: String

    /// Makes a new one.
    init(_ workshop: Workshop) throws {
        file = workshop.place("key").string
        let made = try Command(workshop.archiver.binary, "keys", "new", "--output", file).text()
        guard let first = made.split(separator: "\n").first else { throw BenchmarkError("no key was made") }
        recipient = String(first)
    }
}

/// A place in a store, as each of the programs names it.
struct ReplicaPlace {
    enum Kind {
        case directory
        /// A bucket: `http://127.0.0.1:7480/bucket`; the credentials are in the environment.
        case s3(String)

        /// A directory, and the bucket that the environment names, if it names one.
        static var all: [Kind] {
            [.directory] + (getenv("BENCH_S3").map { [.s3(String(cString: $0))] } ?? [])
        }

        var name: String {
            switch self {
            case .directory: "to a directory"
            case .s3: "to S3"
            }
        }
    }

    let url: String
    let rclone: String
    var restic: String
    var environment: [String: String] = [:]

    /// Makes a new place.
    init(_ kind: Kind, _ workshop: Workshop) throws {
        let new = workshop.place("replica")
        switch kind {
        case .directory:
            try Command("mkdir", new.string).run()
            url = "file://\(new)"
            rclone = new.string
            restic = new.string
        case .s3(let address):
            guard let slash = address.lastIndex(of: "/"), slash > address.startIndex else {
                throw BenchmarkError("BENCH_S3 is not http://HOST/BUCKET")
            }
            let (endpoint, bucket) = (address[..<slash], address[address.index(after: slash)...])
            let prefix = "\(workshop.directory.lastComponent?.string ?? "bench")/\(new.lastComponent?.string ?? "")"
            url = "s3://\(bucket)/\(prefix)?endpoint=\(endpoint)"
            rclone = ":s3:\(bucket)/\(prefix)"
            restic = "s3:\(endpoint)/\(bucket)/\(prefix)"
            environment = [
                "RCLONE_S3_PROVIDER": "Other", "RCLONE_S3_ENV_AUTH": "true", "RCLONE_S3_ENDPOINT": "\(endpoint)",
            ]
        }
    }

    /// "18 objects, 239 MiB", from the JSON of `fleet`.
    static func size(_ json: String) throws -> String {
        struct Member: Decodable {
            let objects: Int
            let storedBytes: Int
        }
        let members = try JSONDecoder().decode([Member].self, from: Data(json.utf8))
        return members.map { "\($0.objects) objects, \(Figure.bytes($0.storedBytes))" }.joined()
    }
}
