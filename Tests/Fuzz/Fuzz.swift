// The entry point that libFuzzer calls; libFuzzer has its own main (llvm.org/docs/LibFuzzer.html).

import FuzzTargets

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(UnsafeRawBufferPointer(start: bytes, count: count))
    return 0
}
