// A cache on saved states: album covers are fetched from a server once and then shown without it.

import ArchiverKit
import ArgumentParser
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct CoversExample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "covers", abstract: "Show album covers, each fetched from a server only once.")

    @Option(help: "The maximum size of all covers together, in bytes.")
    var budget: UInt64 = 10 << 20

    @Argument(help: "The addresses of the covers, such as http://example.org/blue-train.png.")
    var addresses: [String]

    struct NoCover: Error, CustomStringConvertible {
        let description: String
    }

    func run() async throws {
        let archive = try await Blocking.run { try Archive.forExamples() }
        let covers = StateCache<Data>("covers", in: archive, budget: budget)
        for address in addresses {
            guard let url = URL(string: address) else { throw ValidationError("'\(address)' is not an address") }
            do {
                let isKept = try await covers.value(for: address) != nil
                let cover = try await covers.value(for: address) { try await CoversExample.fetch(url) }
                print("\(url.lastPathComponent): \(cover.count) bytes, \(isKept ? "kept" : "fetched")")
            } catch {
                print("\(url.lastPathComponent): \(error)")
            }
        }
    }

    private static func fetch(_ url: URL) async throws -> Data {
        let result: (data: Data, response: URLResponse)
        do { result = try await URLSession.shared.data(from: url) } catch {
            throw NoCover(description: "the server cannot be reached")
        }
        guard (result.response as? HTTPURLResponse)?.statusCode == 200 else {
            throw NoCover(description: "the server has no such cover")
        }
        return result.data
    }
}
