import CVideo
import Glibc
import Pixels

/// Decodes a poster frame of a video, if libavformat and libavcodec are installed.
///
/// A video may be larger than the memory, so the decoder reads it from the file in pieces. The first bytes determine
/// the container's format. The library may neither try other formats nor open other files.
enum VideoDecoder: PictureDecoder {
    static var library: String? { VideoReader.version.map { "libavcodec \($0)" } }

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        VideoContainer(of: bytes) != nil
    }

    static var isLoadedAhead: Bool { false }

    static func prepare() {
        _ = VideoReader.version
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        guard let container = VideoContainer(of: bytes) else { throw .notAPicture }
        return try decode(VideoReader(container, bytes), request)
    }

    /// Decodes a frame of the video in a file.
    static func decode(
        fileOn descriptor: CInt, length: Int, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        try decode(VideoReader(fileOn: descriptor, length: length), request)
    }

    private static func decode(
        _ opened: consuming VideoReader, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        var reader = opened
        let plan = try reader.plan(request)
        guard request.wantsPixels else { return plan.reply(reader.facts) }
        return try poster(of: &reader, by: plan)
    }

    /// The mean brightness below which a frame counts as black.
    private static let darkest = 0.06
    /// The maximum number of pixels to decode for a poster. Four seconds of high-definition video have about as many
    /// pixels.
    private static let mostPixels = 1 << 28

    /// Returns the poster: an early frame, or the brightest of several dark ones.
    private static func poster(
        of reader: inout VideoReader, by plan: DecodePlan
    ) throws(DecodeFailure) -> DecodeReply {
        let length = reader.seconds ?? 10
        var time = min(length / 10, 3)
        var best: (reply: DecodeReply, brightness: Double)?
        for _ in 0..<4 where reader.work < mostPixels {
            reader.advance(to: time, atMost: mostPixels)
            // Some files can be decoded only from the beginning.
            if best == nil, !reader.hasFrame { reader.startOver() }
            guard reader.hasFrame else { break }
            let frame = try reader.frame()
            let brightness = frame.brightness
            if brightness > best?.brightness ?? -1 {
                best = (frame.reply(by: plan, reader.facts, isComplete: true), brightness)
            }
            guard brightness < darkest, time + 1 < length else { break }
            time += max(1, length / 20)
        }
        guard let best else { throw .damaged("no frame can be decoded") }
        return best.reply
    }
}

/// The format of a video's container, according to the file's first bytes.
struct VideoContainer {
    /// The format's name, as the user sees it.
    let name: String
    /// The name of the format's reader in libavformat.
    let reader: String
    /// Whether the format has no header with size and length. Then the library must search the stream for them.
    let isSearched: Bool

    /// The brands of files with videos, beside those that begin with "3g".
    private static let brands: Set<String> = [
        "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "mp71", "avc1", "av01",
        "hvc1", "M4V ", "M4VH", "M4VP", "MSNV", "dash", "mmp4", "f4v ", "XAVC", "NDSC", "NDSH", "NDSM", "NDXC", "NDXH",
    ]
    /// The brands of pictures. A picture's file may also state a brand of videos.
    private static let pictures: Set<String> = ["heic", "heix", "mif1", "msf1", "avif", "avis", "crx ", "jxl ", "jp2 "]
    /// The first boxes of QuickTime files without a brand.
    private static let boxes: Set<String> = ["moov", "mdat", "wide", "free", "skip", "pnot"]

    /// Recognises a container. Returns nil for other files.
    init?(of bytes: UnsafeRawBufferPointer) {
        let file = FileBytes(bytes)
        func word(at offset: Int) -> String {
            offset + 4 <= bytes.count ? String(decoding: bytes[offset..<offset + 4], as: UTF8.self) : ""
        }
        func isTransport(from offset: Int, every length: Int) -> Bool {
            bytes.count > offset + 2 * length && (0..<3).allSatisfy { bytes[offset + $0 * length] == 0x47 }
        }
        if word(at: 4) == "ftyp" {
            let end = min(max(file.number(at: 0, length: 4, isBigEndian: true) ?? 0, 16), 256)
            let brands = [word(at: 8)] + stride(from: 16, to: end, by: 4).map { word(at: $0) }
            if brands.contains(where: Self.pictures.contains) {
                return nil
            } else if brands.first == "qt  " {
                self.init("QuickTime", "mov")
            } else if brands.contains(where: { $0.hasPrefix("3g") }) {
                self.init("3GP", "mov")
            } else if brands.contains(where: Self.brands.contains) {
                self.init("MP4", "mov")
            } else {
                return nil
            }
        } else if Self.boxes.contains(word(at: 4)), bytes[0] < 0x20 {
            self.init("QuickTime", "mov")
        } else if bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            let isWeb = (4..<60).contains { word(at: $0) == "webm" }
            self.init(isWeb ? "WebM" : "Matroska", "matroska")
        } else if word(at: 0) == "RIFF", word(at: 8) == "AVI " {
            self.init("AVI", "avi")
        } else if isTransport(from: 0, every: 188) || isTransport(from: 4, every: 192) {
            self.init("MPEG-TS", "mpegts", isSearched: true)
        } else if bytes.starts(with: [0, 0, 1, 0xBA]) {
            self.init("MPEG", "mpeg", isSearched: true)
        } else {
            return nil
        }
    }

    private init(_ name: String, _ reader: String, isSearched: Bool = false) {
        (self.name, self.reader, self.isSearched) = (name, reader, isSearched)
    }
}

/// Reads a video's file. Holds the frame to show and the next frame.
struct VideoReader: ~Copyable {
    private let reader: UnsafeMutablePointer<cvideo_reader>
    private let container: VideoContainer
    private var numbers: cvideo_facts
    /// The time of the first frame on the file's own clock, in seconds. If the file does not state it, the value is NaN
    /// until the first frame is decoded.
    private var start: Double

    /// Whether the codec is open.
    private var isOpen = false
    /// Whether there is a frame to show.
    private(set) var hasFrame = false
    /// The time of the frame to show, in seconds after the first frame.
    private(set) var time = 0.0
    /// The time of the next frame; nil if it is not decoded yet.
    private var timeAhead: Double?
    /// Whether there are no more frames.
    private var hasEnded = false
    /// The time passed to the last call of `advance`.
    private var wanted = 0.0
    /// Whether `advance` may jump ahead even if the index has no key frame there.
    private var jumpsUnguided = true
    /// The number of pixels decoded so far.
    private(set) var work = 0

    /// libavcodec's version; nil if a library is not installed.
    static var version: String? {
        guard let library else { return nil }
        let number = library.version()
        return "\(number >> 16).\(number >> 8 & 0xFF).\(number & 0xFF)"
    }

    private static var library: cvideo_library? {
        var library = cvideo_library()
        return cvideo_load(&library) != 0 ? library : nil
    }

    /// Opens bytes in memory, which must outlive the reader.
    init(_ container: VideoContainer, _ bytes: UnsafeRawBufferPointer) throws(DecodeFailure) {
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        try self.init(container, descriptor: -1, start, length: bytes.count)
    }

    /// Opens a file, which must stay open. The file's position does not matter.
    init(fileOn descriptor: CInt, length: Int) throws(DecodeFailure) {
        guard let container = Decoder.withSignature(ofFileOn: descriptor, { VideoContainer(of: $0) }) else {
            throw .notAPicture
        }
        try self.init(container, descriptor: descriptor, nil, length: length)
    }

    private init(
        _ container: VideoContainer, descriptor: CInt, _ bytes: UnsafePointer<UInt8>?, length: Int
    ) throws(DecodeFailure) {
        guard var library = Self.library else {
            throw .missingLibrary(
                format: container.name, library: "libavformat", package: String(cString: cvideo_package))
        }
        guard let reader = cvideo_new(&library, descriptor, bytes, Int64(length)) else { throw .outOfMemory }
        let outcome = cvideo_open(reader, container.reader, container.isSearched ? 1 : 0)
        guard outcome == cvideo_done else {
            defer { cvideo_free(reader) }
            throw Self.failure(outcome, container, reader)
        }
        self.reader = reader
        self.container = container
        numbers = cvideo_read_facts(reader)
        start = cvideo_start(reader)
    }

    deinit {
        cvideo_free(reader)
    }

    private static func failure(
        _ outcome: cvideo_outcome, _ container: VideoContainer, _ reader: UnsafeMutablePointer<cvideo_reader>
    ) -> DecodeFailure {
        switch outcome {
        case cvideo_exhausted: .outOfMemory
        case cvideo_without_video: .unsupportedFormat("\(container.name) (no video track)")
        case cvideo_unknown_codec: .unsupportedFormat("\(String(cString: cvideo_codec_name(reader))) video")
        default: .damaged("its structure is invalid")
        }
    }

    // MARK: - Facts

    /// The length in seconds; nil if unknown.
    var seconds: Double? { numbers.seconds > 0 && numbers.seconds < 1e9 ? numbers.seconds : nil }

    /// The usual time between two frames in seconds.
    private var interval: Double { numbers.rate > 0 ? max(0.001, min(1 / numbers.rate, 1)) : 0.04 }

    /// Returns the geometry for a request, and opens the codec if the request needs it. Throws if the video has no size
    /// or is too large.
    mutating func plan(_ request: DecodeRequest) throws(DecodeFailure) -> DecodePlan {
        // A few containers leave the size to the codec.
        let isSized = numbers.width > 0 && numbers.height > 0
        if request.wantsPixels || !isSized { try openCodec() }
        if !isSized || request.wantsPixels && start.isNaN { decodeAhead(needed: -.infinity) }
        if !isSized, timeAhead != nil {
            let frame = reader.pointee.ahead.pointee
            (numbers.width, numbers.height) = (frame.width, frame.height)
            numbers.aspect = cvideo_quotient(frame.sample_aspect_ratio)
        }
        if start.isNaN { start = 0 }
        let stored = PixelSize(width: Int(numbers.width), height: Int(numbers.height))
        try PictureBounds.check(stored, isHeldWhole: true)
        // Stored pixels need not be square. The size is that of the picture in square pixels, and never smaller than
        // the stored size.
        let aspect = numbers.aspect > 0 ? max(1.0 / 16, min(numbers.aspect, 16)) : 1
        func longer(_ side: Int, _ factor: Double) -> Int {
            min(DecodeReply.largestSourceSide, Int((Double(side) * max(1, factor)).rounded()))
        }
        let square = PixelSize(width: longer(stored.width, aspect), height: longer(stored.height, 1 / aspect))
        return DecodePlan(stored: square, orientation: orientation, request: request)
    }

    private var orientation: Orientation {
        let (a, b, c, d) = numbers.matrix
        // Vitrine shows exact quarter turns, and ignores other rotations.
        if b == 0, c == 0 {
            return a >= 0 ? (d >= 0 ? .upright : .flipped) : (d >= 0 ? .mirrored : .turnedHalf)
        }
        guard a == 0, d == 0 else { return .upright }
        return b > 0 ? (c < 0 ? .turnedRight : .transposed) : (c < 0 ? .transversed : .turnedLeft)
    }

    /// The name of the container, the facts about the video, and the metadata.
    var facts: PictureFacts {
        var metadata = PictureMetadata()
        metadata.video = VideoFacts(
            codec: String(cString: cvideo_codec_name(reader)),
            durationMilliseconds: seconds.map { Int(($0 * 1_000).rounded()) },
            framesPerSecond: numbers.rate > 0 ? numbers.rate : nil)
        metadata.takenAt = creation
        let maker = word("com.apple.quicktime.make") ?? word("make")
        let model = word("com.apple.quicktime.model") ?? word("model")
        metadata.camera = model.map { model in
            maker.map { model.hasPrefix($0) ? model : "\($0) \(model)" } ?? model
        }
        metadata.title = word("title")
        metadata.description = word("description") ?? word("comment")
        if let place = word("com.apple.quicktime.location.ISO6709") ?? word("location") {
            let degrees = Self.degrees(place)
            if degrees.count >= 2 { (metadata.latitude, metadata.longitude) = (degrees[0], degrees[1]) }
        }
        return PictureFacts(format: container.name, metadata: metadata)
    }

    /// The time of recording, by the camera's clock or else in UTC. Files without a time state 1970 or 1904, the first
    /// years of their clocks.
    private var creation: String? {
        guard let text = word("com.apple.quicktime.creationdate") ?? word("creation_time"),
            !text.hasPrefix("1970"), !text.hasPrefix("1904")
        else { return nil }
        // libavformat writes an AVI's time as "2003-03-10 15:04:43".
        let words = text.prefix(19).split(separator: " ", maxSplits: 1)
        return words.joined(separator: "T") + (text.hasSuffix("Z") ? "Z" : "")
    }

    /// Reads numbers with signs, such as "+52.5163+013.3777/".
    private static func degrees(_ text: String) -> [Double] {
        var words: [String] = []
        for letter in text.prefix(40) {
            if "+-".contains(letter) {
                words.append("\(letter)")
            } else if letter == "." || letter.isASCII && letter.isNumber, let last = words.popLast() {
                words.append("\(last)\(letter)")
            }
        }
        return words.compactMap { Double($0) }
    }

    private func word(_ key: String) -> String? {
        guard let word = cvideo_word(reader, key), strnlen(word, 4_096) < 4_096 else { return nil }
        let text = String(cString: word)
        return text.isEmpty ? nil : text
    }

    // MARK: - Frames

    private mutating func openCodec() throws(DecodeFailure) {
        guard !isOpen else { return }
        isOpen = true
        let outcome = cvideo_open_codec(reader)
        guard outcome == cvideo_done else { throw Self.failure(outcome, container, reader) }
    }

    /// Whether the frame to show is known to be the last one.
    var isAtLast: Bool { hasFrame && hasEnded && timeAhead == nil }

    /// The time of the next frame in seconds; nil if unknown.
    var nextTime: Double? { hasFrame ? timeAhead : nil }

    /// Whether the video has no frame that is due at a time.
    func isOver(at time: Double) -> Bool { !hasFrame || isAtLast && time >= self.time + interval }

    /// Decodes frames up to the one that is due at a time. Stops earlier once it has decoded `pixels` pixels. Call
    /// `plan` before the first call.
    mutating func advance(to time: Double, atMost pixels: Int) {
        let position = timeAhead ?? self.time
        if time < wanted, hasFrame, time < self.time {
            enter(at: time)
        } else if time > position + 1, keyTime(before: time) > position + 0.5 {
            enter(at: time)
        } else if jumpsUnguided, time > position + (hasFrame ? 5 : 2) {
            // Some containers have no index, and others read theirs only when they jump.
            enter(at: time)
            // If the jump led back, the file has few key frames, and the next jump would lead back again. So do not
            // jump again.
            if timeAhead.map({ $0 <= position }) ?? true { jumpsUnguided = false }
        }
        wanted = time
        let most = work + pixels
        while true {
            decodeAhead(needed: time)
            guard let next = timeAhead, !hasFrame || time >= next else { return }
            cvideo_advance(reader)
            (hasFrame, self.time, timeAhead) = (true, next, nil)
            // Times in the file may be rounded, so the next frame may come a little earlier than usual.
            if time < next + interval * 0.9 || work >= most { return }
        }
    }

    /// Decodes the next frame, so that it is ready when it is due.
    mutating func decodeAhead() {
        if hasFrame { decodeAhead(needed: time) }
    }

    /// Goes to the beginning, and decodes the first frame.
    mutating func startOver() {
        enter(at: 0)
        advance(to: 0, atMost: 1)
    }

    /// Returns the frame to show. Call this method only if `hasFrame` is true.
    func frame() throws(DecodeFailure) -> RawVideoFrame {
        var picture = cvideo_picture()
        guard cvideo_read_picture(reader, &picture) != 0 else {
            throw .unsupportedFormat("\(String(cString: cvideo_codec_name(reader))) in these colours")
        }
        return RawVideoFrame(picture)
    }

    private mutating func decodeAhead(needed: Double) {
        guard timeAhead == nil, !hasEnded else { return }
        guard cvideo_decode_ahead(reader, start + needed) != 0 else {
            hasEnded = true
            return
        }
        work += Int(reader.pointee.ahead.pointee.width) * Int(reader.pointee.ahead.pointee.height)
        if start.isNaN { start = cvideo_time_ahead(reader) }
        let stated = cvideo_time_ahead(reader) - start
        let earliest = hasFrame ? time : 0
        // The file may state no time, or a time that does not fit. Then the frame comes after the usual interval.
        let isPlausible = stated >= earliest && stated < 1e9
        timeAhead = isPlausible ? stated : hasFrame ? time + interval : 0
    }

    /// Returns the time of the last key frame before a time. Uses the file's index. Returns NaN for a container without
    /// an index: the library makes an index for it, which also contains frames that are not key frames.
    private func keyTime(before time: Double) -> Double {
        container.isSearched ? .nan : cvideo_key_before(reader, start + time) - start
    }

    /// Jumps to the last key frame before a time, and decodes one frame. If no frame follows, jumps to an earlier key
    /// frame.
    private mutating func enter(at time: Double) {
        var (target, step) = (time, 10.0)
        while true {
            // Without an index, the library goes to any frame near the time. Aim a second earlier, so as not to miss
            // the key frame before the time.
            seek(to: container.isSearched ? target - 1 : target)
            decodeAhead(needed: time)
            guard timeAhead == nil, target > 0 else { return }
            (target, step) = (max(0, target - step), step * 4)
        }
    }

    private mutating func seek(to time: Double) {
        guard cvideo_seek(reader, start + time) != 0 else { return }
        (hasFrame, self.time, timeAhead, hasEnded) = (false, 0, nil, false)
    }
}

/// Plays a video. For each time that a client requests, returns the frame that is due.
public final class VideoFrameSource {
    /// The result of a request for the frame at a time.
    public enum Progress {
        /// Another frame than the one that was returned last, and its time in seconds.
        case picture(DecodeReply, seconds: Double)
        /// The frame that was returned last is still due.
        case same
        /// The video is over. Its last frame was returned before.
        case end
    }

    private var reader: VideoReader
    private let request: DecodeRequest
    private let plan: DecodePlan
    private let facts: PictureFacts
    /// The time of the frame that was returned last; nil before the first one.
    private var returned: Double?

    /// The maximum number of pixels to decode for one request. So many pixels take a fifth of a second. If a frame
    /// needs more pixels, an earlier frame is returned.
    private static let mostPixels = 1 << 26

    /// Opens a file, which must stay open.
    public init(on descriptor: CInt, length: Int, _ request: DecodeRequest) throws(DecodeFailure) {
        reader = try VideoReader(fileOn: descriptor, length: length)
        self.request = request
        plan = try reader.plan(request)
        facts = reader.facts
    }

    /// Whether the frame that was returned last is known to be the video's last frame.
    public var isAtLast: Bool { reader.isAtLast }

    /// The time of the next frame in seconds; nil if it is not decoded yet.
    public var nextTime: Double? { reader.nextTime }

    /// Returns the frame that is due at a time in seconds.
    public func picture(at wanted: Double) throws(DecodeFailure) -> Progress {
        // Times arrive in microseconds. The added microsecond ensures that a frame's time, rounded down, still means
        // that frame.
        let time = wanted + 1e-6
        reader.advance(to: time, atMost: Self.mostPixels)
        guard reader.hasFrame else { return .end }
        guard reader.time != returned else { return reader.isOver(at: time) ? .end : .same }
        let reply = try reader.frame().reply(by: plan, facts, isComplete: true)
        returned = reader.time
        return .picture(try Decoder.finished(reply, request), seconds: reader.time)
    }

    /// Decodes the next frame, while the client shows this one.
    public func prepareNext() {
        reader.decodeAhead()
    }
}
