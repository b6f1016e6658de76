import Foundation
import Model
import TestSupport
import Testing

@testable import Cache

/// A disk that is full or fails, at one call that changes the cache or from it on.
@Suite(.ownThread) struct DiskFaultTests {
    enum Fault: String, CaseIterable {
        case oneIsRefusedForRoom, oneFails, noneHasRoomFromThere, allFailFromThere

        func kind(_ call: Int) -> Faults.Kind {
            switch self {
            case .oneIsRefusedForRoom: .error(ENOSPC, call...call)
            case .oneFails: .error(EIO, call...call)
            case .noneHasRoomFromThere: .errorFrom(ENOSPC, call)
            case .allFailFromThere: .errorFrom(EIO, call)
            }
        }
    }

    /// A random sample of the calls; `VITRINE_FAULTS=all` for all.
    private func calls(of count: Int, about sample: Int) -> StrideThrough<Int> {
        let isFull = ProcessInfo.processInfo.environment["VITRINE_FAULTS"] != nil
        let step = isFull ? 1 : max(1, count / sample)
        return stride(from: Int.random(in: 1...step), through: count, by: step)
    }

    @Test(
        "BEHAVIOURS 4.4: a disk failure at any call loses nothing acknowledged", arguments: Fault.allCases)
    func firstUpdate(_ fault: Fault) async throws {
        let clean = try SmallGallery()
        let counting = Faults(in: clean.home.caches)
        #expect(try clean.sync(counting).text.hasSuffix(SmallGallery.everything))
        #expect(try clean.aftermath.acknowledged().mapValues(\.count) == SmallGallery.acknowledged)
        for call in calls(of: counting.calls.count, about: 5) {
            let gallery = try SmallGallery()
            try await expectNothingLost(gallery, fault, at: call, ids: [[], try SmallGallery.ids(.before)])
        }
    }

    @Test(
        "BEHAVIOURS 4.4: a disk failure at any call of a later update loses nothing stored",
        arguments: Fault.allCases)
    func laterUpdate(_ fault: Fault) async throws {
        let clean = try SmallGallery()
        _ = try clean.sync()
        try clean.serve(.after)
        let counting = Faults(in: clean.home.caches)
        #expect(try clean.sync(counting).text.hasSuffix(SmallGallery.everything))
        for call in calls(of: counting.calls.count, about: 2) {
            let gallery = try SmallGallery()
            _ = try gallery.sync()
            try? FileManager.default.removeItem(atPath: gallery.log)
            try gallery.serve(.after)
            try await expectNothingLost(
                gallery, fault, at: call, ids: [try SmallGallery.ids(.before), try SmallGallery.ids(.after)])
        }
    }

    private func expectNothingLost(
        _ gallery: SmallGallery, _ fault: Fault, at call: Int, ids: Set<Set<String>>
    ) async throws {
        let faults = Faults(in: gallery.home.caches, fault.kind(call))
        let sync = try gallery.sync(faults)
        let met = faults.calls
        let comment: Comment =
            "\(fault), call \(call), \(met.count < call ? "never made" : "\(met[call - 1])"): \(sync.errors)"
        if sync.status == 0 {
            // The failure had no effect, or a retry succeeded.
            #expect(sync.text.hasSuffix(SmallGallery.everything) && sync.errors.isEmpty, comment)
        } else {
            #expect(sync.status == 1 && !sync.errors.isEmpty, comment)
            #expect(sync.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("vitrine: ") }, comment)
            // SQLite opens unwritable files for reading and hides the reason.
            let reasons = ["disk", "No space", "Input/output", "cannot be opened", "read-only"]
            #expect(reasons.contains { sync.errors.contains($0) }, comment)
        }
        try await gallery.aftermath.expectWhole(gallery.address, ids: ids, comment)
        let next = try gallery.sync()
        #expect(
            next.status == 0 && next.errors.isEmpty && next.text.hasSuffix(SmallGallery.everything),
            "\(comment), then \(next.status): \(next.errors)\(next.text)")
    }
}
