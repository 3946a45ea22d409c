// Threads for tests: what blocks must not hold up Swift's cooperative pool.

import Foundation
import Glibc

/// Runs `body` on a thread of its own.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// Whether the tests run with root's powers.
let isRoot = geteuid() == 0

/// Runs `body` on a thread without root's powers; for an ordinary user, just so.
///
/// The system call changes one thread only, unlike the C library's function of the same name (setresuid(2), "C
/// library/kernel differences"). The C library offers no other way to it than `syscall`.
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

/// The change of user was not possible.
struct NoSystemCall: Error {}
