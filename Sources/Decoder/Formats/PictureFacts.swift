import Pixels

/// What a decoder found out about a picture besides its pixels.
struct PictureFacts {
    /// The format's name, for the user.
    let format: String
    /// What the picture says of itself.
    var metadata = PictureMetadata()
    /// How many pictures the file shows one after the other.
    var frameCount = 1
    /// How long the one that was asked for is shown, in milliseconds.
    var duration = 0
    /// Whether the pixels were made of less than there is.
    var isCoarse = false
}
