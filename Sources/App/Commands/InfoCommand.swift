import Cache
import Glibc
import Model
import Pictures
import Text

/// `vitrine info`: what is known of photos, in files or in galleries.
struct InfoCommand {
    let services: Services

    func run(_ targets: [String], json: Bool) throws -> ExitCode {
        if targets.count == 1 { return try runOnly(targets[0], json: json) }
        var code = ExitCode.done
        // One photo a line, so that many need no memory: the line before is ended when it is known whether one follows.
        if json { Output.print("[") }
        for (number, target) in targets.enumerated() {
            var description = PhotoDescription()
            description.add("source", source(target))
            var isKnown = true
            do {
                if try !describe(target, &description) { code = .someFailed }
            } catch {
                (code, isKnown) = (.someFailed, false)
                Output.complain("\(target): \(error)")
                description.add("error", "\(error)")
            }
            if json {
                let text = description.json.text
                Output.print(number < targets.count - 1 ? text + "," : text)
            } else if isKnown {
                Self.print(description)
                if number < targets.count - 1 { Output.print("") }
            }
        }
        if json { Output.print("]") }
        return code
    }

    /// What a photo was asked for by; of a gallery with a password in its address that without it.
    private func source(_ target: String) -> String {
        access(target, F_OK) == 0 ? target : Address.withoutCredentials(target)
    }

    /// Of a single photo no source is said: it is the one that was asked for.
    private func runOnly(_ target: String, json: Bool) throws -> ExitCode {
        var description = PhotoDescription()
        let isWhole = try describe(target, &description)
        if json { Output.print(description.json.text) } else { Self.print(description) }
        return isWhole ? .done : .someFailed
    }

    /// Returns whether all of it could be found out.
    private func describe(_ target: String, _ description: inout PhotoDescription) throws -> Bool {
        // A file's name may have a `#` in it too.
        if let hash = target.lastIndex(of: "#"), access(target, F_OK) != 0 {
            let id = String(target[target.index(after: hash)...])
            return try describe(id, in: try services.address(String(target[..<hash])), &description)
        }
        let reply = try services.decoderOfFew.facts(of: .file(target))
        description.add(PhotoMetadata(reply))
        description.add(bytes: Self.size(of: target))
        description.add(reply.metadata.fields)
        return true
    }

    private func describe(
        _ id: String, in address: Address, _ description: inout PhotoDescription
    ) throws -> Bool {
        let caches = try services.openCaches()
        guard caches.record(of: address) != nil else {
            throw Lack(description: "\(address) has never been fetched; “vitrine sync” fetches it.")
        }
        let cache = try caches.open(address)
        guard let photo = try cache.read({ try $0.photo(galleryID: id) }) else {
            throw Lack(description: "\(address) has no photo “\(id)”.")
        }
        description.add("gallery", address.textWithoutSecrets)
        description.add("id", photo.galleryID)
        description.add("name", photo.name)
        description.add("date", photo.date.iso8601)
        description.add("state", PhotoFacts(photo).state)
        let (stored, known) = try cache.read { (try $0.photoFile(of: photo.key), try $0.metadata(of: photo.key)) }
        guard let stored else {
            if let known { description.add(known.metadata) }
            return true
        }
        let path = cache.files.path(stored)
        description.add("file", path)
        // What of it is kept is kept of what is held. All of its fields are in the file alone.
        let kept = known.flatMap { $0.edition == stored.edition ? $0.metadata : nil }
        do {
            let reply = try services.decoderOfFew.facts(of: .file(path))
            description.add(kept ?? PhotoMetadata(reply))
            description.add(bytes: Self.size(of: path))
            description.add(reply.metadata.fields)
            return true
        } catch {
            Output.complain("\(error)")
            if let kept { description.add(kept) }
            return false
        }
    }

    /// Why nothing is known of a photo.
    private struct Lack: Error, CustomStringConvertible {
        let description: String
    }

    private static func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Names in a column, and what they are of beside them.
    private static func print(_ description: PhotoDescription) {
        for line in description.lines {
            guard !line.text.isEmpty else {
                Output.print(line.label.madeVisible)
                continue
            }
            let gap = String(repeating: " ", count: max(1, 28 - line.label.displayWidth))
            Output.print(line.label.madeVisible + gap + line.text.madeVisible)
        }
    }
}
