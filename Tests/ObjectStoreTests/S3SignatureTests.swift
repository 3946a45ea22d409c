// The examples of signatures in Amazon's documentation.

import Testing

@testable import ObjectStore

@Suite struct S3SignatureTests {
    private let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private func signature(
        _ method: String, _ path: String, _ query: [(name: String, value: String)] = [],
        _ headers: [String: String] = [:], _ payload: String
    ) -> Substring? {
        let credentials = S3Credentials(key: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        let signature = S3Signature(credentials: credentials, region: "us-east-1", time: 1_369_353_600)
        let all = [
            "host": "examplebucket.s3.amazonaws.com", "x-amz-date": signature.timestamp,
            "x-amz-content-sha256": payload,
        ].merging(headers) { $1 }
        return signature.authorization(method: method, path: path, query: query, headers: all, payload: payload)
            .split(separator: "=").last
    }

    @Test("requests are signed as in Amazon's examples")
    func examples() {
        #expect(
            signature("GET", "/test.txt", [], ["range": "bytes=0-9"], empty)
                == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        #expect(
            signature(
                "PUT", "/" + S3Signature.encoded("test$file.text"), [],
                ["date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
                "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
                == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
        #expect(
            signature("GET", "/", [("lifecycle", "")], [:], empty)
                == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
        #expect(
            signature("GET", "/", [("prefix", "J"), ("max-keys", "2")], [:], empty)
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test("the files in ~/.aws are read as other programs do")
    func profiles() throws {
        let text = """
            # comment
            [default]
            aws_access_key_id=A
            aws_secret_access_key = a=b/c \r
            s3 =
                endpoint_url = http://nested
            [ profile work ]
            region = eu-central-1
            ; another
            """
        let sections = S3Settings.sections(text)
        #expect(sections["default"]?["aws_secret_access_key"] == "a=b/c")
        #expect(sections["default"]?["aws_access_key_id"] == "A")
        #expect(sections["default"]?["endpoint_url"] == nil)
        #expect(sections["profile work"]?["region"] == "eu-central-1")
    }
}
