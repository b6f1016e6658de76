import Logging
import TestSupport
import Testing

@testable import HTTP

/// curl is loaded on demand and may be missing.
@Suite(.ownThread) struct MissingLibraryTests {
    private let missing = "libcurl-of-nobody.so.4"

    @Test func aMissingLibraryIsReported() async {
        let failure = await Probe(library: missing).failure("http://127.0.0.1:1/")
        guard case .missingLibrary(missing, "libcurl4", let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.contains(missing))
        #expect(failure?.description == "\(missing) cannot be loaded (\(reason)): install libcurl4")
        // After its installation a retry succeeds.
        #expect(failure?.isTransient == true)
    }

    /// A library of that name without the functions does not count.
    @Test func aWrongLibraryIsReported() async {
        let failure = await Probe(library: "libc.so.6").failure("http://a.org/")
        guard case .missingLibrary("libc.so.6", _, let reason) = failure else {
            Issue.record("it was taken for curl")
            return
        }
        #expect(reason.contains("curl_global_init"))
    }

    /// Every transfer fails alone, can be cancelled, and reports to its meter, and the client ends.
    @Test func aMissingLibraryFailsEachTransfer() async throws {
        let probe = Probe(library: missing)
        for _ in 0..<3 {
            var request = probe.request("https://a.org/")
            let meter = TransferMeter()
            request.meter = meter
            #expect(await probe.failure(request) != nil)
            #expect(meter.reading.outcome == .failed)
        }
        let transfer = probe.client.transfer(probe.request("https://a.org/"))
        transfer.setWeight(7)
        transfer.cancel()
        transfer.cancel()
    }

    /// Local galleries need no network.
    @Test func filesAreReadWithoutCurl() async throws {
        let folder = TestFolder()
        let probe = Probe(library: missing)
        for (name, written) in [("a b", "a%20b"), ("ü", "%C3%bc"), ("100%", "100%"), ("%zz", "%zz"), ("a%", "a%25")] {
            let path = folder.write(name, "all of it")
            var request = probe.request("file://" + path.dropLast(name.count) + written)
            request.allowsFiles = true
            #expect(try await probe.fetch(request).bytes == Array("all of it".utf8), "\(name)")
        }
    }
}
