import Cache
import Model
import Text

/// `vitrine cache check`: verifies caches, and mends what can be mended.
struct CacheCheckCommand {
    let caches: CacheFolder

    /// - Parameter known: addresses that those may belong to which do not say so themselves.
    func run(_ galleries: [ClosedGalleryCache], _ known: [Address]) async -> ExitCode {
        var code = ExitCode.done
        for gallery in galleries {
            let address = gallery.record?.address ?? known.first { gallery.isOf($0) }
            let (verdict, isWell) = await verdict(gallery, address)
            Output.print("\((address?.description ?? gallery.folder).madeVisible)\t\(verdict.madeVisible)")
            if !isWell { code = .someFailed }
        }
        return code
    }

    private func verdict(_ gallery: ClosedGalleryCache, _ address: Address?) async -> (text: String, isWell: Bool) {
        guard let address else {
            return (gallery.trouble.map { "\($0)" } ?? "good, nothing in it yet", gallery.trouble == nil)
        }
        do {
            let cache = try caches.open(address)
            let check = try await cache.check()
            var findings = check.complaints
            if cache.wasSetAside {
                findings.append("was damaged; it is set aside, and “vitrine sync” fills a fresh one")
            }
            let isWell = findings.isEmpty
            if check.isIndexMended { findings.append("the index of words was damaged, and is made anew") }
            if check.brokenFiles > 0 {
                findings.append("broken, to be fetched again: " + CountText.text(check.brokenFiles, "photo"))
            }
            if check.brokenRows > 0 { findings.append(CountText.text(check.brokenRows, "row") + " put right") }
            if check.orphans > 0 { findings.append(CountText.text(check.orphans, "file") + " of nothing removed") }
            if findings.isEmpty { findings.append("good, " + CountText.text(check.goodFiles, "photo")) }
            return (findings.joined(separator: "; "), isWell)
        } catch {
            return ("\(error)", false)
        }
    }
}
