import Cache
import Model
import Pictures
import Pixels
import Text

/// `vitrine info`: what is known of one photo, in a file or in a gallery.
struct InfoCommand {
    let house: House

    /// Members of the answer, by name.
    private typealias Members = [(String, JSONText)]

    func run(_ target: String, json: Bool) throws -> ExitCode {
        let members: Members
        var code = ExitCode.done
        if let hash = target.lastIndex(of: "#"), !isFile(target) {
            let id = String(target[target.index(after: hash)...])
            members = try ofPhoto(id, in: try house.address(String(target[..<hash])), &code)
        } else {
            let reply = try house.decoder.facts(of: .file(target))
            members = Self.members(PhotoMetadata(reply)) + Self.fields(reply)
        }
        guard !members.isEmpty else { return .someFailed }
        if json {
            Output.print(JSONText.object(members).text)
        } else {
            Self.print(members)
        }
        return code
    }

    private func isFile(_ path: String) -> Bool {
        (try? house.decoder.facts(of: .file(path))) != nil
    }

    /// - Parameter code: set where something of it could not be found out.
    private func ofPhoto(_ id: String, in address: Address, _ code: inout ExitCode) throws -> Members {
        let caches = try house.openCaches()
        guard caches.record(of: address) != nil else {
            Output.complain("\(address) has never been fetched; “vitrine sync” fetches it.")
            return []
        }
        let cache = try caches.open(address)
        guard let photo = try cache.read({ try $0.photo(galleryID: id) }) else {
            Output.complain("\(address) has no photo “\(id)”.")
            return []
        }
        var members: Members = [
            ("gallery", .string(address.text)), ("id", .string(photo.galleryID)), ("name", .string(photo.name)),
            ("date", .string(photo.date.iso8601)), ("state", .string(PhotoFacts(photo).state)),
        ]
        let (stored, known) = try cache.read { (try $0.photoFile(of: photo.key), try $0.metadata(of: photo.key)) }
        guard let stored else { return members + (known.map { Self.members($0.metadata) } ?? []) }
        let path = cache.files.path(stored)
        members.append(("file", .string(path)))
        // What of it is kept is kept of what is held. All of its fields are in the file alone.
        let kept = known.flatMap { $0.edition == stored.edition ? Self.members($0.metadata) : nil }
        do {
            let reply = try house.decoder.facts(of: .file(path))
            return members + (kept ?? Self.members(PhotoMetadata(reply))) + Self.fields(reply)
        } catch {
            Output.complain("\(error)")
            code = .someFailed
            return members + (kept ?? [])
        }
    }

    private static func members(_ metadata: PhotoMetadata) -> Members {
        var members: Members = [
            ("format", .string(metadata.format)), ("width", .number(metadata.width)),
            ("height", .number(metadata.height)),
        ]
        func add(_ name: String, _ value: JSONText?) { if let value { members.append((name, value)) } }
        add("title", metadata.title.map { .string($0) })
        add("description", metadata.description.map { .string($0) })
        add("camera", metadata.camera.map { .string($0) })
        add("lens", metadata.lens.map { .string($0) })
        add("taken", metadata.takenAt.map { .string($0) })
        add("exposure", metadata.exposure.map { .decimal($0) })
        add("aperture", metadata.aperture.map { .decimal($0) })
        add("iso", metadata.iso.map { .number($0) })
        add("focalLength", metadata.focalLength.map { .decimal($0) })
        add("latitude", metadata.latitude.map { .decimal($0) })
        add("longitude", metadata.longitude.map { .decimal($0) })
        add("orientation", metadata.orientation.map { .number($0) })
        return members
    }

    private static func fields(_ reply: DecodeReply) -> Members {
        let fields = reply.metadata.fields
        return fields.isEmpty ? [] : [("exif", .object(fields.map { ($0.name, .string($0.value)) }))]
    }

    private static func print(_ members: Members) {
        for (name, value) in members {
            switch value {
            case .object(let fields): for (name, value) in fields { line("  " + name, value) }
            default: line(name, value)
            }
        }
    }

    /// For people: units where a number has one, and names in columns.
    private static func line(_ name: String, _ value: JSONText) {
        let text =
            switch (name, value) {
            case ("exposure", .decimal(let seconds)): exposure(seconds)
            case ("aperture", .decimal(let number)): "f/\(short(number))"
            case ("focalLength", .decimal(let millimetres)): "\(short(millimetres)) mm"
            case (_, .string(let text)): text
            default: value.text
            }
        let label = name == "focalLength" ? "focal length" : name.madeVisible
        let gap = String(repeating: " ", count: max(1, 28 - label.displayWidth))
        Output.print(label + gap + text.madeVisible)
    }

    /// `1/250 s`, as cameras show it.
    private static func exposure(_ seconds: Double) -> String {
        seconds > 1e-9 && seconds < 0.3 ? "1/\(Int((1 / seconds).rounded())) s" : "\(short(seconds)) s"
    }

    private static func short(_ number: Double) -> String {
        // What a file says of itself may be anything.
        guard abs(number) < 1e12 else { return String(number) }
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
