/// The outline of a picture as it hangs on the wall, in pixels.
struct PictureFormat: Sendable, Equatable {
    let width: Int
    let height: Int

    /// Four to three, lying.
    static let landscape = PictureFormat(width: 1600, height: 1200)

    /// Four to three, standing.
    static let portrait = PictureFormat(width: 1200, height: 1600)

    /// The same outline a whole number of times smaller, for tests that cannot wait.
    func divided(by divisor: Int) -> PictureFormat {
        PictureFormat(width: max(width / divisor, 1), height: max(height / divisor, 1))
    }
}
