import Cache
import Glibc
import Model
import Pictures
import Pixels
import Text

/// `vitrine info`: prints metadata of photos in files or galleries.
struct InfoCommand {
    let services: Services

    func run(_ targets: [String], json: Bool) async -> ExitCode {
        if targets.count == 1 { return await runOnly(targets[0], json: json) }
        var code = ExitCode.done
        // Print each photo at once, so that many photos need little memory.
        if json { services.output.print("[") }
        for (number, target) in targets.enumerated() {
            var description = PhotoDescription()
            description.add("source", source(target))
            var isKnown = true
            do {
                if try await !describe(target, &description) { code.add(.someFailed) }
            } catch {
                code.add(ExitCode(error))
                isKnown = false
                Output.complain("\(target): \(error)")
                description.add(error: error)
            }
            if json {
                let text = description.json.text
                services.output.print(number < targets.count - 1 ? text + "," : text)
            } else if isKnown {
                print(description)
                if number < targets.count - 1 { services.output.print("") }
            }
        }
        if json { services.output.print("]") }
        return code
    }

    /// Returns the argument, without the password of a gallery's address.
    private func source(_ target: String) -> String {
        access(target, F_OK) == 0 ? target : Address.withoutCredentials(target)
    }

    /// Prints the metadata of a single photo. The output has no `source`.
    private func runOnly(_ target: String, json: Bool) async -> ExitCode {
        var description = PhotoDescription()
        let isWhole: Bool
        do { isWhole = try await describe(target, &description) } catch {
            Output.complain("\(target): \(error)")
            return ExitCode(error)
        }
        if json { services.output.print(description.json.text) } else { print(description) }
        return isWhole ? .done : .someFailed
    }

    /// Adds a photo's metadata to the description. Returns whether the metadata could be read.
    private func describe(_ target: String, _ description: inout PhotoDescription) async throws -> Bool {
        if let photo = try galleryPhoto(target) {
            return try await describe(photo.id, in: try services.address(photo.gallery), &description)
        }
        let reply = try services.decoderOfFew.facts(of: .file(target))
        let metadata = withTown(PhotoMetadata(reply))
        description.add(video: metadata.videoMilliseconds)
        description.add(metadata)
        description.add(bytes: Self.size(of: target))
        description.add(reply.metadata.fields)
        return true
    }

    /// Splits an argument into gallery and id. Returns nil for a file.
    ///
    /// Each of the two may contain a `#`. The shortest gallery that has a cache counts, or else the shortest that is a
    /// path of the disk, or else the text before the first `#`.
    private func galleryPhoto(_ target: String) throws -> (gallery: String, id: String)? {
        // A file's name may contain a `#`, too.
        guard access(target, F_OK) != 0 else { return nil }
        let choices = target.indices.filter { target[$0] == "#" }.map {
            (gallery: String(target[..<$0]), id: String(target[target.index(after: $0)...]))
        }
        guard choices.count > 1 else { return choices.first }
        let caches = try services.openCaches()
        let cached = choices.first { choice in
            guard let address = try? services.address(choice.gallery) else { return false }
            return caches.record(of: address) != nil
        }
        return cached ?? choices.first { access($0.gallery, F_OK) == 0 } ?? choices.first
    }

    private func describe(
        _ id: String, in address: Address, _ description: inout PhotoDescription
    ) async throws -> Bool {
        let caches = try services.openCaches()
        guard caches.record(of: address)?.hasList == true else {
            throw UnknownPhoto(
                description: "Vitrine has never fetched \(address). Run “vitrine sync” to fetch the gallery.")
        }
        let cache = try caches.open(address)
        await cache.writer.adoptRatings()
        guard let photo = try cache.read({ try $0.photo(galleryID: id) }) else {
            throw UnknownPhoto(description: "\(address) has no photo “\(id)”.")
        }
        description.add("gallery", address.textWithoutSecrets)
        description.add("kind", try cache.read { try $0.gallery().kind }?.rawValue)
        description.add("id", photo.galleryID)
        description.add("folder", photo.folder?.text)
        description.add("name", photo.name)
        description.add("date", PhotoFacts(photo).date)
        description.add("state", PhotoFacts(photo).state)
        description.add(video: photo.videoMilliseconds)
        description.add(photo.rating)
        description.add(try cache.read { try $0.annotations(of: photo.key) })
        let (stored, known) = try cache.read { (try $0.photoFile(of: photo.key), try $0.metadata(of: photo.key)) }
        guard let stored else {
            if let known { description.add(withTown(known.metadata)) }
            return true
        }
        let path = cache.files.path(stored)
        description.add("file", path)
        // Prefer the cached metadata if they are of this version of the file. Read the file too, because only the file
        // has all fields.
        let kept = known.flatMap { $0.edition == stored.edition ? $0.metadata : nil }
        do {
            let file = try cache.files.open(stored)
            defer { close(file) }
            let reply = try services.decoderOfFew.facts(of: .open(file))
            description.add(withTown(kept ?? PhotoMetadata(reply)))
            description.add(bytes: stored.size)
            description.add(reply.metadata.fields)
            return true
        } catch {
            Output.complain("\(error)")
            if let kept { description.add(withTown(kept)) }
            description.add(error: error)
            return false
        }
    }

    /// Returns the metadata with the town at the photo's coordinates. The cache knows only the towns of photos that it
    /// has stored.
    private func withTown(_ metadata: PhotoMetadata) -> PhotoMetadata {
        guard metadata.town == nil, let latitude = metadata.latitude, let longitude = metadata.longitude else {
            return metadata
        }
        var metadata = metadata
        do {
            metadata.town = try services.towns?.town(latitude: latitude, longitude: longitude)
        } catch {
            Output.complain("\(error)")
        }
        return metadata
    }

    /// The error for a gallery or photo that the cache does not have.
    private struct UnknownPhoto: Error, CustomStringConvertible {
        let description: String
    }

    private static func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Prints labels in one column, and values in another.
    private func print(_ description: PhotoDescription) {
        for line in description.lines {
            guard !line.text.isEmpty else {
                services.output.print(line.label.madeVisible)
                continue
            }
            let gap = String(repeating: " ", count: max(1, 28 - line.label.displayWidth))
            services.output.print(line.label.madeVisible + gap + line.text.madeVisible)
        }
    }
}

/// The description of a photo, as JSON for programs and as lines for people.
struct PhotoDescription {
    /// The names and values of a JSON object.
    private typealias Members = [(String, JSONText)]

    private var members: Members = []
    /// Labels and values for people. The values may contain control characters.
    private(set) var lines: [(label: String, text: String)] = []

    /// The description as a JSON object, for programs.
    var json: JSONText { .object(members) }

    /// Adds a value unless the value is nil. JSON and lines use the same name.
    mutating func add(_ name: String, _ text: String?) {
        guard let text else { return }
        members.append((name, .string(text)))
        lines.append((name, text))
    }

    /// Adds the length of the video in milliseconds, unless the length is nil.
    mutating func add(video length: Int?) {
        if let length { add("video", .decimal(Double(length) / 1_000), "video", "\(Double(length) / 1_000) s") }
    }

    /// Adds the rating, unless there is none.
    mutating func add(_ rating: Rating) {
        guard rating != .none else { return }
        add("rating", .number(rating.value), "rating", rating == .rejected ? "rejected" : rating.text)
    }

    /// Adds the annotations in the gallery's list, without the rating.
    mutating func add(_ annotations: PhotoAnnotations) {
        if annotations.isFavorite { add("favorite", .flag(true), "favorite", "yes") }
        for (name, text) in [
            ("caption", annotations.description), ("placeName", annotations.place), ("author", annotations.author),
        ] where !text.isEmpty { add(name, .string(text), name == "placeName" ? "place name" : name, text) }
        for (name, texts) in [("people", annotations.people), ("tags", annotations.tags)] where !texts.isEmpty {
            add(name, .array(texts.map { .string($0) }), name, texts.joined(separator: ", "))
        }
    }

    /// Adds the reason why the photo could not be read, for programs. People read it on standard error.
    mutating func add(error: any Error) { members.append(("error", .string("\(error)"))) }

    /// Adds the photo's metadata.
    mutating func add(_ metadata: PhotoMetadata) {
        let words = MetadataText(metadata)
        add("format", metadata.format)
        members += [("width", .number(metadata.width)), ("height", .number(metadata.height))]
        lines.append(("size", words.size))
        add("title", metadata.title)
        add("description", metadata.description)
        add("camera", metadata.camera)
        add("lens", metadata.lens)
        add("taken", metadata.takenAt.map { .string($0) }, "taken", words.taken)
        add("exposure", metadata.exposure.map { .decimal($0) }, "exposure", words.exposure)
        add("aperture", metadata.aperture.map { .decimal($0) }, "aperture", words.aperture)
        add("iso", metadata.iso.map { .number($0) }, "sensitivity", words.sensitivity)
        add("focalLength", metadata.focalLength.map { .decimal($0) }, "focal length", words.focalLength)
        add("latitude", metadata.latitude.map { .decimal($0) }, "place", words.place)
        add("longitude", metadata.longitude.map { .decimal($0) }, "map", words.map)
        add("codec", metadata.codec)
        add("frameRate", metadata.frameRate.map { .decimal($0) }, "frame rate", words.frameRate)
        add(metadata.town)
        add("orientation", metadata.orientation.map { .number($0) }, "stored", words.turning)
    }

    /// Adds the town at or near the coordinates, unless the town is nil.
    private mutating func add(_ town: Town?) {
        guard let town else { return }
        add("town", .string(town.name), "town", town.text)
        members.append(("townDistance", .number(town.distance)))
    }

    /// Adds the size of the file, unless the size is nil.
    mutating func add(bytes: Int64?) {
        guard let bytes else { return }
        add("bytes", .number(Int(bytes)), "file size", ByteText.text(bytes, .plain))
    }

    /// Adds all metadata fields of the file.
    mutating func add(_ fields: [MetadataField]) {
        guard !fields.isEmpty else { return }
        members.append(("exif", .object(fields.map { ($0.name, .string($0.value)) })))
        lines.append(("exif", ""))
        lines += fields.map { ("  " + $0.name, $0.value) }
    }

    /// Adds a value unless the value is nil. JSON uses the name, and lines use the label.
    private mutating func add(_ name: String, _ value: JSONText?, _ label: String, _ text: String?) {
        if let value { members.append((name, value)) }
        if let text { lines.append((label, text)) }
    }
}
