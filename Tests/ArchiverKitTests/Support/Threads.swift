// Threads for tests: blocking work must not occupy Swift's cooperative pool.

import Foundation
import Glibc

/// Runs `body` on a thread of its own.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// Whether the tests run as root.
let isRoot = geteuid() == 0

/// Runs `body` on a thread without root's rights; if the tests do not run as root, without a change of user.
///
/// The system call changes only one thread, unlike the C library's function of the same name (setresuid(2), "C
/// library/kernel differences"). The C library offers it only through `syscall`.
func asOrdinaryUser<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await onThread {
        if isRoot {
            typealias SystemCall = @convention(c) (CLong, CLong, CLong, CLong) -> CLong
            guard let address = dlsym(nil, "syscall") else { throw NoSystemCall() }
            let systemCall = unsafeBitCast(address, to: SystemCall.self)
            #if arch(arm64)
            let setresuid = 147
            #else
            let setresuid = 117
            #endif
            guard systemCall(setresuid, nobody, nobody, nobody) == 0 else { throw NoSystemCall() }
        }
        return try body()
    }
}

/// The user id of "nobody", who owns no file.
let nobody = 65534

/// The user could not be changed.
struct NoSystemCall: Error {}
