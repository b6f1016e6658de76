import Model
import Numbers
import Session

// The values of the model that messages contain, in the order of their properties.

extension ByteCount: WireValue {
    package init(from reader: inout WireReader) throws(WireError) { self.init(try Int64(from: &reader)) }
    package func write(to writer: inout WireWriter) { writer.append(int64) }
}

extension Timestamp: WireValue {
    /// Reads a time within 285,000 years, so that no calculation overflows.
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(milliseconds: min(max(try reader.value(), -1 << 53), 1 << 53))
    }
    package func write(to writer: inout WireWriter) { writer.append(milliseconds) }
}

extension GalleryID: WireValue {
    package init(from reader: inout WireReader) throws(WireError) { self.init(rawValue: try reader.value()) }
    package func write(to writer: inout WireWriter) { writer.append(rawValue) }
}

extension PhotoKey: WireValue {
    package init(from reader: inout WireReader) throws(WireError) { self.init(try reader.value()) }
    package func write(to writer: inout WireWriter) { writer.append(rawValue) }
}

extension Rendition: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self = try Bool(from: &reader) ? .original : .thumbnail
    }
    package func write(to writer: inout WireWriter) { writer.append(self == .original) }
}

extension Importance: WireValue {}
extension Failure.Remedy: WireValue {}
extension StorageTrouble: WireValue {}

// MARK: - Wishes

extension Wish: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(try reader.value(), importance: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(subject, importance) }
}

extension Wish.Subject: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.tag() {
        case 0: self = .list(try reader.value())
        case 1: self = .picture(try reader.value(), try reader.value(), try reader.value())
        case 2: self = .everyPicture(try reader.value(), try reader.value())
        case 3: self = .albums(try reader.value())
        default: throw .malformed("unknown subject")
        }
    }
    package func write(to writer: inout WireWriter) {
        switch self {
        case .list(let gallery): writer.append(tag: 0, gallery)
        case .picture(let gallery, let key, let rendition): writer.append(tag: 1, gallery, key, rendition)
        case .everyPicture(let gallery, let rendition): writer.append(tag: 2, gallery, rendition)
        case .albums(let gallery): writer.append(tag: 3, gallery)
        }
    }
}

extension WishState.Request: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(wish: try reader.value(), number: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(wish, number) }
}

extension WishState: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(
            stated: try reader.value(), asked: try reader.value(), declined: try reader.value(),
            isPaused: try reader.value())
        retried = try reader.value()
        areAllRetried = try reader.value()
    }
    package func write(to writer: inout WireWriter) {
        writer.append(stated, asked, declined, isPaused, retried, areAllRetried)
    }
}

// MARK: - Addresses and credentials

extension Address.Credentials: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(user: try reader.value(), password: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(user, password) }
}

extension Address: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        let text = try String(from: &reader)
        guard let address = try? Address(text) else { throw .malformed("invalid address") }
        self = address.with(try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(text, credentials) }
}

extension Origin: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        guard let origin = Origin(try String(from: &reader)) else { throw .malformed("invalid origin") }
        self = origin
    }
    package func write(to writer: inout WireWriter) { writer.append(text) }
}

extension SignInPlace: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self = try Bool(from: &reader) ? .proxy(try reader.value()) : .origin(try reader.value())
    }
    package func write(to writer: inout WireWriter) {
        switch self {
        case .origin(let origin): writer.append(false, origin)
        case .proxy(let proxy): writer.append(true, proxy)
        }
    }
}

extension AccessKey: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(
            id: try reader.value(), secret: try reader.value(), sessionToken: try reader.value(),
            region: try String(from: &reader))
    }
    package func write(to writer: inout WireWriter) { writer.append(id, secret, sessionToken, region) }
}

extension SignIn: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.tag() {
        case 0: self = .password(user: try reader.value(), password: try reader.value())
        case 1: self = .token(try reader.value())
        case 2: self = .header(name: try reader.value(), value: try reader.value())
        case 3: self = .accessKey(try reader.value())
        default: throw .malformed("unknown credentials")
        }
    }
    package func write(to writer: inout WireWriter) {
        switch self {
        case .password(let user, let password): writer.append(tag: 0, user, password)
        case .token(let token): writer.append(tag: 1, token)
        case .header(let name, let value): writer.append(tag: 2, name, value)
        case .accessKey(let key): writer.append(tag: 3, key)
        }
    }
}

extension SignInQuestion: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(
            origin: try reader.value(), proxy: try reader.value(), keyHeader: try reader.value(),
            schemes: try reader.value(), realm: try reader.value(), wasRefused: try reader.value(),
            browserServer: try reader.value(), galleries: try reader.value())
        tokenName = try reader.value()
        region = try reader.value()
        isOfBucket = try reader.value()
        isDeferred = try reader.value()
    }
    package func write(to writer: inout WireWriter) {
        writer.append(
            origin, proxy, keyHeader, schemes, realm, wasRefused, browserServer, galleries, tokenName, region,
            isOfBucket, isDeferred)
    }
}

extension RefusedCredentials: WireValue {
    package init(from reader: inout WireReader) throws(WireError) { self.init(refusals: try reader.value()) }
    package func write(to writer: inout WireWriter) { writer.append(refusals) }
}

extension RefusedCredentials.Refusal: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(user: try reader.value(), digests: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(user, digests) }
}

extension EnteredCredentials.Entry: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(signIn: try reader.value(), galleries: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(signIn, galleries) }
}

extension BrowserSignIn: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(number: try reader.value(), server: try reader.value(), galleries: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(number, server, galleries) }
}

extension BrowserSignIn.Stage: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.tag() {
        case 0: self = .starting
        case 1: self = .waiting(try reader.value())
        case 2: self = .granted(try reader.value())
        case 3: self = .failed(try reader.value())
        default: throw .malformed("unknown stage of a sign-in")
        }
    }
    package func write(to writer: inout WireWriter) {
        switch self {
        case .starting: writer.append(tag: 0)
        case .waiting(let page): writer.append(tag: 1, page)
        case .granted(let signIn): writer.append(tag: 2, signIn)
        case .failed(let failure): writer.append(tag: 3, failure)
        }
    }
}

// MARK: - Work and failures

extension Progress: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(done: try reader.value(), total: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(done, total) }
}

extension Failure: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(try String(from: &reader), remedy: try reader.value(), question: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(reason, remedy, question) }
}

extension FailureReport: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(
            try reader.value(), try reader.value(), attempts: try reader.value(), first: try reader.value(),
            last: try reader.value(), next: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(subject, failure, attempts, first, last, next) }
}

extension SyncPhase: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.tag() {
        case 0: self = .getting(try reader.value(), entries: try reader.value())
        case 1: self = .waiting(try reader.value(), until: try reader.value())
        case 2: self = .parsing(entries: try reader.value())
        case 3: self = .committing
        default: throw .malformed("unknown phase")
        }
    }
    package func write(to writer: inout WireWriter) {
        switch self {
        case .getting(let progress, let entries): writer.append(tag: 0, progress, entries)
        case .waiting(let failure, let time): writer.append(tag: 1, failure, time)
        case .parsing(let entries): writer.append(tag: 2, entries)
        case .committing: writer.append(tag: 3)
        }
    }
}

extension Activity.GalleryPart: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init()
        phase = try reader.value()
        isCancelled = try reader.value()
        failure = try reader.value()
        isReadingAlbums = try reader.value()
    }
    package func write(to writer: inout WireWriter) { writer.append(phase, isCancelled, failure, isReadingAlbums) }
}

extension LinkQuality: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        guard let value = LinkQuality(rawValue: try reader.value()) else { throw .malformed("unknown quality") }
        self = value
    }
    package func write(to writer: inout WireWriter) { writer.append(rawValue) }
}

extension TrafficReport: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(
            quality: try reader.value(), isOnNetwork: try reader.value(), unreachable: try reader.value(),
            running: try reader.value(), width: try reader.value(), limit: try reader.value(),
            window: try reader.value(), bandwidth: try reader.value(), roundTrip: try reader.value(),
            received: try reader.value(), isPaused: try reader.value(), queued: try reader.value(),
            waiting: try reader.value(), transfers: try reader.value())
    }
    package func write(to writer: inout WireWriter) {
        writer.append(
            quality, isOnNetwork, unreachable, running, width, limit, window, bandwidth, roundTrip, received, isPaused,
            queued, waiting, transfers)
    }
}

extension TransferReport: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(
            try reader.value(), host: try reader.value(), importance: try reader.value(), stage: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(subject, host, importance, stage) }
}

extension TransferReport.Stage: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.tag() {
        case 0: self = .running(try reader.value(), speed: try reader.value())
        case 1: self = .queued
        case 2: self = .heldBack(try reader.value(), attempts: try reader.value())
        case 3: self = .waiting(try reader.value(), attempts: try reader.value(), until: try reader.value())
        default: throw .malformed("unknown stage of a transfer")
        }
    }
    package func write(to writer: inout WireWriter) {
        switch self {
        case .running(let progress, let speed): writer.append(tag: 0, progress, speed)
        case .queued: writer.append(tag: 1)
        case .heldBack(let failure, let attempts): writer.append(tag: 2, failure, attempts)
        case .waiting(let failure, let attempts, let time): writer.append(tag: 3, failure, attempts, time)
        }
    }
}
