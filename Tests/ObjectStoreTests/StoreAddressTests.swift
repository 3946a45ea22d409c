// Addresses of stores, names of objects, and errors.

import ObjectStore
import Testing

@Suite struct StoreAddressTests {
    @Test("addresses are parsed")
    func parsing() throws {
        #expect(try StoreAddress("file:///mnt/usb%20disk/") == .directory(path: "/mnt/usb disk/"))
        #expect(
            try StoreAddress("sftp://me@host/backup") == .sftp(user: "me", host: "host", port: nil, path: "/backup"))
        #expect(
            try StoreAddress("sftp://[::1]:2222/~/b") == .sftp(user: nil, host: "::1", port: 2222, path: "/~/b"))
        let plain = StoreAddress.s3(bucket: "bucket", prefix: "", endpoint: nil, region: nil, profile: nil)
        #expect(try StoreAddress("s3://bucket") == plain)
        #expect(try StoreAddress("s3://bucket/") == plain)
        #expect(
            try StoreAddress("s3://my-bucket/a/b?endpoint=http://127.0.0.1:7480&region=eu&profile=p")
                == .s3(
                    bucket: "my-bucket", prefix: "a/b/", endpoint: "http://127.0.0.1:7480", region: "eu", profile: "p"))
        #expect(StoreAddress.isAddress("s3://x") && !StoreAddress.isAddress("/archive"))
    }

    @Test(
        "an address that is none is refused with the reason and without a secret",
        arguments: [
            "", "bucket", "http://host/x", "s3:bucket", "s3://", "s3://ab", "s3://UPPER", "s3://bucket/a//b",
            "s3://bucket/ü",
            "s3://key:SECRET@bucket/x", "s3://bucket?endpoint=ftp://x", "s3://bucket?endpoint=http://key:SECRET@host",
            "s3://bucket?secret=SECRET", "s3://bucket?region", "s3://bucket?region=a&region=b", "s3://bucket/../x",
            "s3://bucket/a b", "s3://bucket/a#b", "sftp://host", "sftp://host/", "sftp://me:SECRET@host/x",
            "sftp://-oProxyCommand=x/y", "sftp://-l@host/x", "sftp://host:0/x", "sftp://host:x/x", "sftp://host/a/../b",
            "file://host/x", "file://x", "file:///x%zz", "file:///x%00", "file:///x?y=z", "sftp://ho$(x)st/y",
        ])
    func refusing(_ text: String) {
        let error = expect(.badAddress) { try StoreAddress(text) }
        #expect(error?.description.contains("SECRET") == false)
        #expect(error?.detail.isEmpty == false)
    }

    @Test("a name has no character that a store, a file system or a URL treats in its own way")
    func names() {
        for name in ["a", "archiver-replica.json", "segments/2026/11/21/x_Y.age"] { #expect(ObjectName(name) != nil) }
        for name in [
            "", "/", "/a", "a/", "a//b", ".", "..", "a/../b", ".a", "a/.b", "a b", "a\n", "ä", "a%", "a\0", "a:b",
        ] {
            #expect(ObjectName(name) == nil, "\(name)")
        }
        #expect(ObjectName(String(repeating: "a", count: 201)) == nil)
        #expect(ObjectName(String(repeating: "abcd/", count: 103) + "a") == nil)
    }

    @Test("an error's text is one line that a terminal shows as it is")
    func oneLine() {
        let error = ObjectStoreError(.failed, "read x", "a\nb\u{1b}[31m\u{202e}c" + String(repeating: "x", count: 400))
        #expect(error.detail.hasPrefix("a b [31m c") && error.detail.count == 301)
        #expect(error.description.hasPrefix("cannot read x: a b"))
    }
}
