// Functions of the C library that Glibc's module map does not export to Swift, looked up by name.

internal import Glibc

enum LateCalls {
    /// copy_file_range(2) at both files' positions.
    static func copyFileRange(_ source: CInt, _ target: CInt, _ length: Int) throws -> Int {
        typealias Function =
            @convention(c) (CInt, UnsafeMutablePointer<Int>?, CInt, UnsafeMutablePointer<Int>?, Int, CUnsignedInt) ->
            Int
        return try unsafeBitCast(address(of: "copy_file_range"), to: Function.self)(source, nil, target, nil, length, 0)
    }

    /// fallocate(2).
    static func allocate(_ file: CInt, _ mode: CInt, _ offset: Int, _ length: Int) throws -> CInt {
        typealias Function = @convention(c) (CInt, CInt, Int, Int) -> CInt
        return try unsafeBitCast(address(of: "fallocate"), to: Function.self)(file, mode, offset, length)
    }

    private static func address(of name: String) throws -> UnsafeMutableRawPointer {
        guard let address = dlsym(nil, name) else { throw ScriptError(name, "is not in the C library") }
        return address
    }
}
