import Cache
import Export
import Glibc
import Logging
import Model
import Session
import Settings
import Synchronization
import Text

/// `vitrine export`: copies photos into a folder, and fetches missing ones.
struct ExportCommand {
    let services: Services

    /// - Parameter search: the search that photos must match; nil for all photos.
    func run(_ name: String, to folder: String, _ ids: [String], matching search: String?) async throws -> Int32 {
        let address = try services.address(name)
        services.recordNamed([address])
        return try await run(address, to: folder, ids, matching: PhotoFilter(search ?? "")).code
    }

    /// Copies photos. Returns the exit code, and the result as one or two sentences.
    func run(
        _ address: Address, to folder: String, _ ids: [String], matching filter: PhotoFilter = PhotoFilter("")
    ) async throws -> (code: Int32, sentence: String) {
        let interruption = Interruption(services.output)
        let working = Task { try await export(address, to: folder, ids, matching: filter) }
        interruption.whenItComes { working.cancel() }
        do {
            let (code, sentence) = try await working.value
            return (interruption.exitCode ?? code.rawValue, sentence)
        } catch is CancellationError {
            return (interruption.exitCode ?? ExitCode.someFailed.rawValue, "Saving was interrupted.")
        }
    }

    private func export(
        _ address: Address, to folder: String, _ ids: [String], matching filter: PhotoFilter
    ) async throws -> (ExitCode, String) {
        let caches = try services.openCaches(for: [address])
        let cache = try caches.open(address)
        let isOffline = services.settings.offline
        // A list on the disk may name photos on servers.
        let mayFetch: @Sendable (PhotoKey) -> Bool = { !isOffline || cache.isLocal($0) }
        let usesFetcher = !isOffline || address.isLocal
        let fetcher = services.makeFetcher(caches, try services.launcher)
        let setup = try services.fetcherSetup(caches, mostAttempts: Services.attempts)
        let fetching = usesFetcher ? Task { await fetcher.run(setup) } : nil
        // Cleaning removes photos of other galleries first.
        services.wishes.hold(.everyPicture(cache.id, .original))
        let keeping = Task { await Housekeeping(services: services, caches: caches).keepWithinLimit() }
        defer {
            fetching?.cancel()
            keeping.cancel()
        }
        if let reason = try await reasonForNoList(of: cache, mayFetch: usesFetcher) {
            Output.complain(reason)
            return (.someFailed, reason)
        }
        await cache.writer.adoptRatings()
        let (keys, unknown) = try Self.keys(ids, filter, cache)
        for id in unknown { Output.complain("\(address) has no photo “\(id)”.") }
        if usesFetcher { await services.retryMissing([.original], of: keys.filter(mayFetch), in: cache) }
        let retries = RetryWatch(services.activity) { Timestamp(milliseconds: Log.systemTime()) }
        let export = try PhotoExport(
            keys, of: cache, to: folder, mask: services.creationMask, wishes: services.wishes, mayFetch: mayFetch,
            retries: retries
        ) {
            await !services.takeUpAnswers(of: [cache]).isEmpty
        }
        Self.showProgress(0, of: keys.count)
        let first = Mutex<(name: String?, failure: String?)>((nil, nil))
        let report: PhotoExport.Report
        do {
            defer { Output.progress("") }
            report = try await export.run { event in
                show(event, of: keys.count)
                first.withLock {
                    $0.name = $0.name ?? event.photo.map { "“\($0.name.madeVisible)”" }
                    $0.failure = event.failure(after: $0.failure)
                }
            }
        }
        fetching?.cancel()
        await fetching?.value
        await cache.writer.close()
        // The fetched photos may exceed the cache's limit.
        await Housekeeping(services: services, caches: caches).clean()
        let (photo, failure) = first.withLock { $0 }
        var sentence = report.sentence(photo ?? "A photo", of: keys.count, to: folder, failure: failure)
        if !unknown.isEmpty {
            let verb = unknown.count == 1 ? "is" : "are"
            sentence += " \(CountText.text(unknown.count, "photo")) \(verb) no longer in the gallery."
        }
        guard report.failed > 0 || report.left > 0 || !unknown.isEmpty else { return (.done, sentence) }
        let all = CountText.text(keys.count + unknown.count, "photo")
        let rest = report.left > 0 ? " \(report.left) not saved yet; run the same command to continue." : ""
        Output.complain("\(report.exported) of \(all) are in the folder \(folder).\(rest)")
        return (.someFailed, sentence)
    }

    /// Fetches a missing list, if allowed. Returns the reason if the list is still missing, or else nil.
    ///
    /// Only `vitrine sync` updates an existing list.
    private func reasonForNoList(of cache: GalleryCache, mayFetch: Bool) async throws -> String? {
        let isFetched = { try cache.read { try $0.gallery() }.lastSuccess != nil }
        if try isFetched() { return nil }
        guard mayFetch else { return "Vitrine has never fetched \(cache.address)." }
        let turns = try await services.takeTurns(of: [cache])
        defer { withExtendedLifetime(turns) {} }
        repeat {
            services.wishes.ask(for: .list(cache.id))
            await services.awaitWishes()
        } while await !services.takeUpAnswers(of: [cache]).isEmpty
        if try isFetched() { return nil }
        let record = try cache.read { try $0.gallery() }
        if case .failed(let failure) = services.activity.status(of: cache.id, recorded: record.status).state {
            return "\(cache.address): \(failure)"
        }
        try Task.checkCancellation()
        return "Vitrine could not fetch \(cache.address)."
    }

    /// Returns the photos with these ids, and the unknown ids. Without ids, returns all photos, oldest first. Leaves
    /// out photos that do not match the filter.
    private static func keys(
        _ ids: [String], _ filter: PhotoFilter, _ cache: GalleryCache
    ) throws -> (keys: [PhotoKey], unknown: [String]) {
        var (keys, unknown): ([PhotoKey], [String]) = ([], [])
        try cache.read { reader in
            if ids.isEmpty { return try reader.forEachPhoto(matching: filter) { keys.append($0.key) } }
            let found = try reader.photos(matching: filter)
            for id in ids {
                guard let key = try reader.photo(galleryID: id)?.key else {
                    unknown.append(id)
                    continue
                }
                if found?.contains(key) != false { keys.append(key) }
            }
        }
        return (keys, unknown)
    }

    /// Prints the path of an exported photo, or the error.
    private func show(_ event: PhotoExport.Event, of count: Int) {
        Output.progress("")
        switch event.result {
        case .success(let path): services.output.print(path.madeVisible)
        case .failure(let error): Output.complain("\(event.photo?.name ?? "A photo"): \(error)")
        }
        Self.showProgress(event.number, of: count)
    }

    private static func showProgress(_ number: Int, of count: Int) {
        Output.progress("\(number) of \(CountText.text(count, "photo"))")
    }
}

/// A shell command that continues an interrupted export.
///
/// Vitrine writes the command into a script if the command is long, or contains control characters, characters that the
/// terminal cannot show, or the query of an address. A query may be a secret. Vitrine then prints a command that runs the
/// script. A script has several commands if one would be too long for the system.
struct ExportContinuation {
    let rest: ExportRest
    /// The interrupted command line. The new command repeats the settings of the interrupted command.
    let invocation: Invocation
    /// Whether the gallery needs a password, which the new command omits.
    let needsPassword: Bool
    let locations: Locations

    /// The length of the longest command that Vitrine prints, in bytes.
    private static let longest = 4_000
    /// The length of the longest command in a script, in bytes. Linux allows at least 128 KiB for all arguments and the
    /// environment, with a pointer for each, and usually 2 MiB.
    private static let longestInScript = 100_000
    /// The bytes that an argument needs beside its text.
    private static let pointer = 8

    /// Returns the advice to print, with the command as the last line.
    func lines() -> [String] {
        var lines: [String] = []
        if needsPassword {
            lines.append(
                "The command below contains no password. Before you run it, add the password for \(rest.gallery.host) "
                    + "to ~/.netrc or to the gallery’s address: \(rest.gallery.scheme.rawValue)://USER:PASSWORD@…")
        }
        let command = command(rest.gallery.text, rest.ids)
        let bytes = Array(command.utf8)
        let isPrintable =
            rest.gallery.query == nil && command == command.madeVisible
            && ASCIIFallback.bytes(bytes, for: STDERR_FILENO) == bytes
        if isPrintable, command.utf8.count <= Self.longest {
            return lines + ["To save the remaining photos, run:", command]
        }
        if let script = write(command) {
            return lines + ["To save the remaining photos, run:", "sh " + script.shellWord]
        }
        if isPrintable { return lines + ["To save the remaining photos, run:", command] }
        if rest.gallery.query != nil {
            lines.append("Replace QUERY with the text after “?” in the gallery’s address. That text may be a secret.")
        }
        let address = rest.gallery.text.prefix { $0 != "?" } + (rest.gallery.query == nil ? "" : "?QUERY")
        return lines + ["To save the remaining photos, run:", self.command(String(address), rest.ids).madeVisible]
    }

    private func command(_ address: String, _ ids: [String]) -> String {
        // After “--”, ids that begin with “-” do not count as options.
        let dashes = rest.ids.contains { $0.hasPrefix("-") } ? ["--"] : []
        let words =
            [Self.program] + invocation.settingArguments + ["export"] + dashes + [address, rest.folder] + ids
        return words.map(\.shellWord).joined(separator: " ")
    }

    /// Writes a private script with the command. Returns the path of the script, or nil on failure.
    func script() -> String? { write(command(rest.gallery.text, rest.ids)) }

    /// Writes a private script that removes itself on success. Returns the path of the script, or nil on failure.
    private func write(_ command: String) -> String? {
        let path = "\(locations.state)/export-\(getpid())-\(UInt16.random(in: 0...UInt16.max)).sh"
        let text = """
            #!/bin/sh
            # Continues an interrupted export of Vitrine. Removes itself when all photos are exported.
            \(isShort(command) ? command : severalCommands) && rm -- "$0"

            """
        return path == path.madeVisible && (try? PrivateFile.write(text, to: path)) != nil ? path : nil
    }

    private func isShort(_ command: String) -> Bool {
        command.utf8.count + rest.ids.count * Self.pointer <= Self.longestInScript
    }

    /// The lines of a script that export some of the photos each, and test whether all commands succeeded.
    private var severalCommands: String {
        var (lists, size) = ([""], 0)
        for id in rest.ids.map(\.shellWord) {
            if size > Self.longestInScript {
                lists.append("")
                size = 0
            }
            lists[lists.count - 1] += " " + id
            size += id.utf8.count + 1 + Self.pointer
        }
        return """
            status=0
            save() {
                \(command(rest.gallery.text, [])) "$@" || status=$?
                # If a signal ended the command, no other command follows.
                [ "$status" -lt 128 ] || exit "$status"
            }
            \(lists.map { "save" + $0 }.joined(separator: "\n"))
            [ "$status" = 0 ]
            """
    }

    /// The program's name if the shell found the program by name, or else its absolute path.
    private static var program: String {
        let name = CommandLine.arguments.first ?? "vitrine"
        guard name.contains("/") else { return name.isEmpty ? "vitrine" : name }
        return name.hasPrefix("/") ? name : GalleryArgument.currentFolder + "/" + name
    }
}
