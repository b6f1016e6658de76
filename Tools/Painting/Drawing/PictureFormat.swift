/// The size of a picture in its upright form, in pixels.
struct PictureFormat: Sendable, Equatable {
    let width: Int
    let height: Int

    /// Four by three.
    static let landscape = PictureFormat(width: 1600, height: 1200)

    /// Three by four.
    static let portrait = PictureFormat(width: 1200, height: 1600)

    /// Returns the size divided by an integer, for quick tests.
    func divided(by divisor: Int) -> PictureFormat {
        PictureFormat(width: max(width / divisor, 1), height: max(height / divisor, 1))
    }
}
