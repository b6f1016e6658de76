import Files
import Formats
import Glibc
import HTTP
import Model
import Numbers
import Session

/// The bucket that receives a gallery, and the gallery's files already there.
///
/// The bucket's list shows which files earlier runs have sent. Vitrine compares the times in the list only with each
/// other, because the service's clock may differ from this machine's clock.
struct BucketContents: Sendable {
    /// The folder in the bucket.
    let bucket: Bucket
    /// The objects that have the names of the gallery's files, by name.
    ///
    /// Names are bytes, because a service takes two spellings of a letter for two names, but equal strings may differ
    /// in their spelling.
    private let objects: [[UInt8]: BucketObject]

    init(_ bucket: Bucket, _ objects: [[UInt8]: BucketObject]) {
        (self.bucket, self.objects) = (bucket, objects)
    }

    /// The tolerance in a comparison of two times, in seconds. A thumbnail is sent after its photo, but its time may be
    /// earlier by this much. Lists round times to seconds, and a service's clocks may differ a little.
    private static let tolerance = 3.0

    /// The actions that a photo needs.
    struct Need: Equatable {
        let original: Bool
        let thumbnail: Bool
    }

    /// Returns which files of a photo must be sent.
    ///
    /// A thumbnail's name contains a digest of the photo's path, size and time, and the thumbnail is sent after its
    /// photo. So if the bucket has the thumbnail, it has this version of the photo, unless the photo was replaced
    /// later. In other cases, Vitrine reads the photo and compares its MD5 digest with the object's tag. Neither check
    /// depends on this machine's clock.
    func need(of photo: OutgoingPhoto) -> Need {
        let thumbnail = objects[photo.thumbnail.name]
        let isThumbnailThere = thumbnail?.size == "\(photo.thumbnail.size.int)"
        guard let original = objects[photo.original.name], original.size == "\(photo.original.size.int)" else {
            return Need(original: true, thumbnail: true)
        }
        let isInOrder =
            if let first = original.date, let last = thumbnail?.date {
                first.milliseconds <= last.advanced(by: Self.tolerance).milliseconds
            } else { false }
        if isInOrder || hasContents(of: photo.original) {
            return Need(original: false, thumbnail: !isThumbnailThere)
        }
        return Need(original: true, thumbnail: true)
    }

    /// Returns whether the bucket's object for a file has the file's contents. Reads the file.
    func hasContents(of file: OutgoingFile) -> Bool {
        guard let object = objects[file.name], object.size == "\(file.size.int)",
            let (descriptor, _) = try? file.open()
        else { return false }
        defer { close(descriptor) }
        return (try? ByteDigest.md5.digits(ofFile: descriptor, length: file.size.int)) == object.tag
    }
}

/// Finds the bucket at an address and reads its list.
struct BucketFinder: Sendable {
    private let folder: Address
    private let names: Set<[UInt8]>
    private let credentials: CredentialStore
    private let client: HTTPClient
    private let clock: any NetworkClock

    /// The maximum number of bytes of a page of the list.
    private static let limit: ByteCount = 1 << 26
    /// The maximum number of requests for the first page. Vitrine repeats the request with other keys, in another
    /// region, or with another form of the address.
    private static let mostAttempts = 8

    /// - Parameters:
    ///   - folder: the address of the folder.
    ///   - names: the names of the gallery's files. The finder ignores other objects, of which there may be many.
    init(
        _ folder: Address, _ names: Set<[UInt8]>, _ credentials: CredentialStore, over client: HTTPClient,
        _ clock: any NetworkClock
    ) {
        (self.folder, self.names, self.credentials) = (folder, names, credentials)
        (self.client, self.clock) = (client, clock)
    }

    /// Finds the bucket and reads its list.
    func find() async throws -> BucketContents {
        var address = folder
        // The bucket's name is in the path or, with services like Amazon's, in the host's name.
        let isInHost = AmazonHost(folder.host)?.hasBucket
        var forms = isInHost.map { [!$0] } ?? [true, false]
        var failure: RequestError?
        for _ in 0..<Self.mostAttempts {
            guard let isInPath = forms.first else { break }
            guard let bucket = Bucket(address, isInPath: isInPath) else {
                forms.removeFirst()
                continue
            }
            let signIn = credentials.signIn(for: address, in: folder)
            do {
                return try await read(bucket, signIn)
            } catch RequestError.signIn(let question) {
                guard await credentials.hasOther(than: signIn, for: question, in: folder) else {
                    throw RequestError.signIn(question)
                }
            } catch RequestError.wrongType(let what) {
                // The service answered with the list of all its buckets.
                throw failure ?? .wrongType(what)
            } catch RequestError.bucket(let refusal) {
                if let moved = refusal.region.flatMap({ address.moved(toRegion: $0) }), moved != address {
                    address = moved
                } else {
                    // The first form is more likely, so report its refusal.
                    failure = failure ?? .bucket(refusal)
                    guard refusal.status == 404 else { throw RequestError.bucket(refusal) }
                    forms.removeFirst()
                }
            }
        }
        throw failure ?? .status(404, retryAfter: nil)
    }

    private func read(_ bucket: Bucket, _ signIn: SignIn?) async throws -> BucketContents {
        var objects: [[UInt8]: BucketObject] = [:]
        var token: String?
        var pages = PageLimit()
        repeat {
            let plan = FetchPlan(
                address: try bucket.list(page: token, isDeep: true), signIn: signIn, limit: Self.limit,
                isNamedByUser: true, refusals: .asked(isOfBucket: true))
            let page = try await page(plan, prefix: bucket.prefix)
            for object in page.objects where names.contains(object.name) { objects[object.name] = object }
            token = page.nextPage
            if let token, !pages.allows(token, isEmpty: page.objects.isEmpty) {
                throw RequestError.transfer(.malformed("its pages never end"))
            }
        } while token != nil
        return BucketContents(bucket, objects)
    }

    /// Requests a page. Tries again after a wait if the server is busy.
    private func page(
        _ plan: FetchPlan, prefix: [UInt8]
    ) async throws -> (objects: [BucketObject], nextPage: String?) {
        var patience = Patience()
        while true {
            do {
                var response = try await Response.to(plan, over: client, with: TransferPermit(.list))
                let parser = BucketParser(prefix: prefix)
                do {
                    while let bytes = try await response.nextBytes() { _ = try parser.parse(bytes) }
                    return try parser.finishObjects()
                } catch is FormatError {
                    throw RequestError.wrongType("something other than a bucket’s list")
                }
            } catch let error as RequestError where error.isRefusalOfBusyServer {
                try await clock.sleep(until: clock.now + patience.delay(after: error))
            }
        }
    }
}
