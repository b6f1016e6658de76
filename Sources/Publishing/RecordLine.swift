import Model

/// What is remembered of one file: what it was when it was looked at, and what came of it. One line of the record.
///
/// A line stands for itself and carries a digest of its own, so that one that was torn or damaged is told from a good one and
/// costs no more than looking at that file again.
struct RecordLine: Hashable, Sendable {
    enum Fate: Hashable, Sendable {
        /// It is in the gallery.
        case photo(PublishedPhoto)
        /// It is a picture of a format that is not read, or after all none; by that edition of the decoder.
        case other(format: String, decoder: String)
        /// It is a picture that cannot be decoded; why, by that edition of the decoder.
        case failed(reason: String, decoder: String)
    }

    /// The file's place: see ``PhotoPath/reference``.
    let reference: String
    let stamp: FileStamp
    let fate: Fate

    /// As much as a line may have.
    static let longest = 1 << 14

    /// The line, its end included.
    var text: String {
        let beginning = [reference, "\(stamp.size)", "\(stamp.seconds)", "\(stamp.nanoseconds)"]
        let fields = (beginning + fateFields).joined(separator: "\t")
        return Digest.text(Digest.of(fields.utf8)) + "\t" + fields + "\n"
    }

    private var fateFields: [String] {
        switch fate {
        case .photo(let photo):
            [
                "photo", photo.thumbnail.text, "\(photo.thumbnailSize)", "\(photo.date.milliseconds)",
                "\(photo.revision)", photo.isCutShort ? "cut" : "whole", PhotoPath.escaped(photo.name),
            ]
        case .other(let format, let decoder): ["other", PhotoPath.escaped(decoder), PhotoPath.escaped(format)]
        case .failed(let reason, let decoder): ["failed", PhotoPath.escaped(decoder), PhotoPath.escaped(reason)]
        }
    }
}

extension RecordLine {
    /// Reads a line without its end; nil if it is none.
    init?(_ bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count > 6, fields[0] == Digest.text(Digest.of(bytes.dropFirst(17))),
            let size = Int64(fields[2]), let seconds = Int64(fields[3]), let nanoseconds = Int64(fields[4]),
            let fate = Self.fate(fields[5], Array(fields[6...]))
        else { return nil }
        self.init(
            reference: fields[1], stamp: FileStamp(size: size, seconds: seconds, nanoseconds: nanoseconds), fate: fate)
    }

    private static func fate(_ kind: String, _ fields: [String]) -> Fate? {
        switch (kind, fields.count) {
        case ("photo", 6):
            guard let thumbnail = ThumbnailName(written: fields[0]), let size = Int64(fields[1]),
                let date = Int64(fields[2]), let revision = Int(fields[3]), revision >= 0
            else { return nil }
            return .photo(
                PublishedPhoto(
                    name: PercentEncoding.decode(fields[5]), date: Timestamp(milliseconds: date), revision: revision,
                    isCutShort: fields[4] == "cut", thumbnail: thumbnail, thumbnailSize: size))
        case ("other", 2):
            return .other(format: PercentEncoding.decode(fields[1]), decoder: PercentEncoding.decode(fields[0]))
        case ("failed", 2):
            return .failed(reason: PercentEncoding.decode(fields[1]), decoder: PercentEncoding.decode(fields[0]))
        default: return nil
        }
    }

    /// The photo, if it is one.
    var photo: PublishedPhoto? {
        if case .photo(let photo) = fate { photo } else { nil }
    }
}
