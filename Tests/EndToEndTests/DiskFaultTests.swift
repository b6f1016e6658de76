import Foundation
import Model
import TestSupport
import Testing

@testable import Cache

/// A disk that is full, or fails, at a call that changes the cache, or from one on.
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

    /// Some of the calls, by chance; `VITRINE_FAULTS=all` for each of them.
    private func calls(of count: Int, about sample: Int) -> StrideThrough<Int> {
        let isFull = ProcessInfo.processInfo.environment["VITRINE_FAULTS"] != nil
        let step = isFull ? 1 : max(1, count / sample)
        return stride(from: Int.random(in: 1...step), through: count, by: step)
    }

    @Test(
        "BEHAVIOURS 4.4: a disk that fails at any call costs nothing that was acknowledged", arguments: Fault.allCases)
    func firstUpdate(_ fault: Fault) async throws {
        let clean = try SmallGallery()
        let counting = Faults(in: clean.home.caches)
        #expect(try clean.sync(counting).text.hasSuffix(SmallGallery.everything))
        for call in calls(of: counting.calls.count, about: 5) {
            let gallery = try SmallGallery()
            try await expectNothingLost(gallery, fault, at: call, ids: [[], try SmallGallery.ids(.before)])
        }
    }

    @Test(
        "BEHAVIOURS 4.4: a disk that fails at any call of a later update costs nothing of what was here",
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
            // It did not matter, or went well the second time.
            #expect(sync.text.hasSuffix(SmallGallery.everything) && sync.errors.isEmpty, comment)
        } else {
            #expect(sync.status == 1 && !sync.errors.isEmpty, comment)
            #expect(sync.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("vitrine: ") }, comment)
            // What SQLite cannot open for writing it opens for reading, and does not say why.
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
