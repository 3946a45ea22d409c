// The error of a failed call to an object store: what failed, why, in the store's own words, and what to do.

internal import FileIO
internal import SystemPackage

/// A call to an object store failed.
///
/// No secret is in it: neither a key nor a signature, nor a URL with a password.
package struct ObjectStoreError: Error, Sendable, Hashable {
    package enum Code: Sendable, Hashable, CaseIterable {
        /// The store has no object of that name.
        case noSuchObject
        /// The bucket or directory of the address does not exist. It never means that a store is empty.
        case noSuchBucket
        /// The credentials are right, but do not allow the call; or the file system's permissions do not.
        case notAllowed
        /// The store does not know the key, or the signature is wrong, or the token has expired.
        case wrongCredentials
        /// No credentials were found.
        case noCredentials
        /// The machine's clock differs from the store's so much that it refuses signatures.
        case wrongClock
        /// The bucket is in another region.
        case wrongRegion
        /// No space is left, or a quota is used up.
        case full
        /// No connection, or it broke, or no answer came in time.
        case unreachable
        /// The server's certificate is not trusted.
        case tlsFailed
        /// The store asks for fewer requests, or answers with an error of its own (HTTP 500 to 599).
        case busy
        /// The answer is not what the protocol says.
        case unexpectedAnswer
        /// The object is larger than the store accepts.
        case tooLarge
        /// The address is not valid.
        case badAddress
        /// This program was built without support for such a store.
        case notSupported
        /// The system refused an operation on a file.
        case failed
        /// The store was closed while the call was running, or before.
        case cancelled
    }

    package let code: Code
    /// What was tried: "read segments/x.age from s3://bucket/desk".
    package let operation: String
    /// The store's or the system's own words on one line, or empty.
    package let detail: String
    /// What to do about the refusal of a file system; nil if the code says it.
    private let fileRemedy: String?

    /// Makes an error; `detail` is cut to one line of at most 300 characters without control characters.
    package init(_ code: Code, _ operation: String, _ detail: String = "") {
        self.init(code, operation, detail, nil)
    }

    private init(_ code: Code, _ operation: String, _ detail: String, _ fileRemedy: String?) {
        self.fileRemedy = fileRemedy
        self.code = code
        self.operation = operation
        self.detail = ObjectStoreError.oneLine(detail)
    }

    init(_ error: FileError, _ operation: String) {
        let code: Code =
            switch error.code {
            case .noSpace, .diskQuotaExceeded: .full
            case .permissionDenied, .notPermitted, .readOnlyFileSystem: .notAllowed
            case .fileTooLarge: .tooLarge
            default: .failed
            }
        self.init(code, operation, "\(error)", error.remedy)
    }

    /// Whether the same call may succeed later without anybody doing anything.
    package var isTemporary: Bool {
        switch code {
        case .unreachable, .busy, .full, .failed: true
        default: false
        }
    }

    /// What a person can do about it; nil if the reason is clear enough.
    package var remedy: String? {
        if let fileRemedy { return fileRemedy }
        return switch code {
        case .noSuchBucket: "mount its disk, create it, or correct the address"
        case .notAllowed: "give these credentials the right to do it"
        case .wrongCredentials: "correct the key, the secret or the session token"
        case .noCredentials:
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE and a profile in ~/.aws/credentials"
        case .wrongClock: "set this machine's clock"
        case .wrongRegion: "set AWS_REGION, or add ?region= to the address"
        case .full: "free some space there, or raise the quota"
        case .unreachable: "check the network and the address"
        case .tlsFailed: "check the address and this machine's certificates (ca-certificates)"
        case .busy: "try again later"
        case .unexpectedAnswer: "check that the address is that of such a store"
        case .noSuchObject, .tooLarge, .badAddress, .notSupported, .failed, .cancelled: nil
        }
    }

    /// One line of text without control characters.
    static func oneLine(_ text: String) -> String {
        var line = ""
        var count = 0
        for scalar in text.unicodeScalars {
            if count == 300 { return line + "…" }
            let isControl = scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
            // Marks that change the direction of text, and line separators.
            let isInvisible =
                (0x200b...0x200f).contains(scalar.value) || (0x2028...0x202e).contains(scalar.value)
                || (0x2066...0x2069).contains(scalar.value)
            line.unicodeScalars.append(isControl || isInvisible ? " " : scalar)
            count += 1
        }
        return line
    }
}

extension ObjectStoreError: CustomStringConvertible {
    package var description: String {
        let reason: String? =
            switch code {
            case .noSuchObject: "no such object"
            case .noSuchBucket: "the bucket or directory does not exist"
            case .notAllowed: "not allowed"
            case .wrongCredentials: "the store does not accept the credentials"
            case .noCredentials: "no credentials found"
            case .wrongClock: "this machine's clock differs too much from the store's"
            case .wrongRegion: "the bucket is in another region"
            case .full: "the store is full"
            case .unreachable: "no answer"
            case .tlsFailed: "the connection is not secure"
            case .busy: "the store is busy or has a fault"
            case .unexpectedAnswer: "an unexpected answer"
            case .tooLarge: "too large"
            case .badAddress, .failed: nil
            case .notSupported: "not supported by this build"
            case .cancelled: "cancelled"
            }
        return (["cannot \(operation)"] + [reason, detail.isEmpty ? nil : detail].compactMap { $0 })
            .joined(separator: ": ")
    }
}
