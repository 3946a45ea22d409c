// Random edits of a tree, of the kinds that people and programs make.

import Glibc
import SystemPackage
import TestSupport

/// Edits a directory at random; the same seed makes the same edits.
struct RandomEdits {
    private let files: Files
    private var random: SeededGenerator
    private var nextName = 0

    init(_ files: Files, _ random: SeededGenerator) {
        self.files = files
        self.random = random
    }

    /// Makes one edit that changes something.
    ///
    /// - Returns: a description of the edit.
    mutating func edit() throws -> String {
        while true {
            let all = try paths()
            // An edit that the kernel refuses, for example because the name is taken, does not count.
            do { if let done = try attempt(all) { return done } } catch is SystemFailure {}
        }
    }

    /// Everything below the root with its type, in a deterministic order.
    private func paths() throws -> [(path: FilePath, type: mode_t)] {
        var found: [(path: FilePath, type: mode_t)] = []
        func list(_ directory: FilePath) throws {
            for name in try Files(files.full(directory)).names() {
                let path = directory.appending(name)
                let type = try files.status(path).st_mode & S_IFMT
                found.append((path, type))
                if type == S_IFDIR { try list(path) }
            }
        }
        try list("")
        return found
    }

    private mutating func attempt(_ all: [(path: FilePath, type: mode_t)]) throws -> String? {
        let file = pick(all.filter { $0.type == S_IFREG }.map(\.path))
        let directory = pick(all.filter { $0.type == S_IFDIR }.map(\.path)) ?? ""
        let any = pick(all.map(\.path))
        // Removes a part of a tree that has grown large.
        if all.count > 80 {
            try files.remove(directory)
            if directory.isEmpty { try files.makeDirectory("") }
            return "rm -r \(directory)"
        }
        switch random.below(18) {
        case 0, 1, 2:
            let path = directory.appending(name())
            try files.write(path, content())
            return "create \(path)"
        case 3:
            guard let file else { return nil }
            try files.write(file, content())
            return "write \(file)"
        case 4:
            guard let file else { return nil }
            try files.append(file, random.text(1 + random.below(3000)))
            return "append \(file)"
        case 5:
            guard let file else { return nil }
            try files.setSize(file, random.below(40_000))
            return "truncate \(file)"
        case 6:
            guard let file, try files.size(file) > 0 else { return nil }
            try files.write(file, random.noise(1 + random.below(20)), at: random.below(try files.size(file)))
            return "overwrite in \(file)"
        case 7:
            let path = directory.appending(name())
            try files.makeDirectory(path)
            return "mkdir \(path)"
        case 8:
            guard let any else { return nil }
            try files.remove(any)
            return "rm -r \(any)"
        case 9:
            guard let any else { return nil }
            let path = directory.appending(name())
            guard !path.starts(with: any) else { return nil }
            try files.rename(any, to: path)
            return "mv \(any) \(path)"
        case 10:
            guard let file, let other = pick(all.filter { $0.type != S_IFDIR }.map(\.path)), other != file else {
                return nil
            }
            try files.rename(file, to: other)
            return "mv \(file) over \(other)"
        case 11:
            guard let any, let other = pick(all.map(\.path)), !any.starts(with: other), !other.starts(with: any) else {
                return nil
            }
            try files.exchange(any, other)
            return "exchange \(any) \(other)"
        case 12:
            guard let file else { return nil }
            let path = directory.appending(name())
            try files.makeLink(path, to: file)
            return "ln \(file) \(path)"
        case 13:
            guard let any, let target = pick(all.map(\.path)) else { return nil }
            try files.remove(any)
            try files.makeSymbolicLink(any, to: target)
            return "rm -r \(any), ln -s \(target) \(any)"
        case 14:
            guard let any, try files.status(any).st_mode & S_IFMT != S_IFLNK else { return nil }
            try files.setPermissions(any, [0o700, 0o755, 0o644 | 0o700, 0o1777, 0o2750][random.below(5)])
            return "chmod \(any)"
        case 15:
            guard let file else { return nil }
            let length = random.oneIn(3) ? 513 + random.below(1500) : random.below(50)
            try files.setAttribute(file, "user.note", random.noise(length))
            return "setfattr \(file)"
        case 16:
            // Only the inode's change time differs afterwards.
            guard let file, try files.size(file) > 0 else { return nil }
            let status = try files.status(file)
            try files.write(file, random.noise(Int(status.st_size)))
            try files.setTime(file, status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
            return "rewrite \(file) at equal size and time"
        default:
            guard let any else { return nil }
            let wasDirectory = try files.status(any).st_mode & S_IFMT == S_IFDIR
            try files.remove(any)
            if wasDirectory {
                try files.write(any, content())
            } else if random.below(4) == 0 {
                try files.makeNode(any, S_IFIFO)
            } else {
                try files.makeDirectory(any.appending(name()))
            }
            return "turn \(any) into something else"
        }
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[random.below(elements.count)]
    }

    /// A new name, or one of a few, so that removed names are used again.
    private mutating func name() -> String {
        nextName += 1
        return ["new\(nextName)", "again\(random.below(6))", "again\(random.below(6))", "again.txt", "again-\n"][
            random.below(5)]
    }

    private mutating func content() -> [UInt8] {
        switch random.below(6) {
        case 0: []
        case 1: random.noise(1 + random.below(96))
        case 2: random.noise(97 + random.below(2000))
        case 3: random.text(random.below(200_000))
        case 4: [UInt8](repeating: 0, count: random.below(10_000))
        default: random.text(random.below(5000))
        }
    }
}
