// The keys, region and endpoint of S3, from where other programs have them.
//
// AWS SDKs and Tools Reference Guide, "Shared config and credentials files": the environment first, then the profile.

internal import FileIO
internal import Glibc
internal import SystemPackage

struct S3Credentials: Sendable, Hashable {
    let key: String
    let secret: String
    var token: String?
}

/// What the environment and the files in `~/.aws` say.
struct S3Settings: Sendable {
    var credentials: S3Credentials?
    var region: String?
    var endpoint: String?
    /// A file with the certificates to trust.
    var certificates: String?

    private static let fileLimit = 1 << 20

    /// - Parameter profile: the address's, which comes before the environment's.
    init(_ environment: [String: String], profile: String?) throws(ObjectStoreError) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let name = profile ?? value("AWS_PROFILE") ?? "default"
        let folder = (value("HOME") ?? "") + "/.aws"
        let config = try S3Settings.read(value("AWS_CONFIG_FILE") ?? folder + "/config")
        let shared = try S3Settings.read(value("AWS_SHARED_CREDENTIALS_FILE") ?? folder + "/credentials")
        let configured = config[name == "default" ? name : "profile \(name)"] ?? config[name]
        if profile ?? value("AWS_PROFILE") != nil, configured == nil, shared[name] == nil {
            throw ObjectStoreError(.noCredentials, "use the profile \(name)", "~/.aws has no such profile")
        }
        func setting(_ name: String) -> String? { configured?[name].flatMap { $0.isEmpty ? nil : $0 } }
        region = value("AWS_REGION") ?? value("AWS_DEFAULT_REGION") ?? setting("region")
        endpoint = value("AWS_ENDPOINT_URL_S3") ?? value("AWS_ENDPOINT_URL") ?? setting("endpoint_url")
        certificates = value("AWS_CA_BUNDLE") ?? setting("ca_bundle")
        // A profile of the address is meant, even if the environment has keys.
        if profile == nil, let key = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") {
            credentials = S3Credentials(key: key, secret: secret, token: value("AWS_SESSION_TOKEN"))
            return
        }
        for section in [shared[name], configured] {
            if let key = section?["aws_access_key_id"], let secret = section?["aws_secret_access_key"] {
                credentials = S3Credentials(key: key, secret: secret, token: section?["aws_session_token"])
                return
            }
        }
    }

    /// The sections of a file; none if it does not exist.
    private static func read(_ path: String) throws(ObjectStoreError) -> [String: [String: String]] {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try Descriptor.openFile(FilePath(path), O_RDONLY).readToEnd(limit: fileLimit, path: FilePath(path))
        } catch {
            if error.code == .noSuchFileOrDirectory || error.code == .notDirectory { return [:] }
            throw ObjectStoreError(error, "read the credentials")
        }
        return sections(String(decoding: bytes, as: UTF8.self))
    }

    /// Parses `[section]` and `name = value`; indented lines belong to a setting that is not used here.
    static func sections(_ text: String) -> [String: [String: String]] {
        var sections: [String: [String: String]] = [:]
        var current = ""
        func trimmed(_ text: Substring) -> String {
            let start = text.drop { $0 == " " || $0 == "\t" }
            return String(start.reversed().drop { $0 == " " || $0 == "\t" || $0 == "\r" }.reversed())
        }
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("#") || line.hasPrefix(";") || line.hasPrefix(" ") || line.hasPrefix("\t") { continue }
            if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
                current = trimmed(line[line.index(after: line.startIndex)..<end])
                sections[current, default: [:]] = sections[current] ?? [:]
            } else if let equals = line.firstIndex(of: "=") {
                sections[current, default: [:]][trimmed(line[..<equals])] = trimmed(line[line.index(after: equals)...])
            }
        }
        return sections
    }
}
