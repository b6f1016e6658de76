/// Where a photo's element lies in ``WrittenPhotos``, or what else became of it.
struct WrittenPhoto {
    enum Kind {
        /// It lies in the bytes.
        case written
        /// It has been read, being too long to be kept as it was written; which one of those it is.
        case read(Int)
        /// It contains another photo.
        case outer
    }

    var kind: Kind
    /// Where the element begins.
    let line: Int
    /// Its attributes, and those of its images.
    var bytes: Range<Int>
    /// The lines of its images, by their places.
    var imageLines: Range<Int>
    /// Of its bytes.
    var digest: Int64?

    func moved(bytes offset: Int, imageLines lineOffset: Int) -> WrittenPhoto {
        var moved = self
        moved.bytes = bytes.lowerBound - offset..<bytes.upperBound - offset
        moved.imageLines = imageLines.lowerBound - lineOffset..<imageLines.upperBound - lineOffset
        return moved
    }
}
