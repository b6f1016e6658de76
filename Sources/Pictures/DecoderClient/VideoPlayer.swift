import Pixels

/// Plays a video without sound, as pictures for one request.
///
///     let player = try VideoPlayer(decoder: client, file: descriptor, request: request)
///     while let frame = try await player.frame(at: clock.elapsed) { show(frame.reply) }
///     player.end()
///
/// A process of its own decodes the video in the sandbox. No call blocks its caller. The player copies the descriptor,
/// so the caller may close the file at once.
public final class VideoPlayer: Sendable {
    /// A picture of the video.
    public struct Frame: Sendable {
        /// The picture as the answer to the player's request, ready for drawing. It always has pixels or a thumbnail.
        public let reply: DecodeReply
        /// The frame's time in the video.
        public let time: Duration
        /// Whether no other frame follows, as far as is known.
        public let isLast: Bool

        /// Creates a frame.
        public init(reply: DecodeReply, time: Duration, isLast: Bool) {
            (self.reply, self.time, self.isLast) = (reply, time, isLast)
        }
    }

    /// Starts to read a video in an open file.
    ///
    /// - Parameters:
    ///   - decoder: a client of either origin.
    ///   - request: the size and part of the pictures. `frame`, `run` and `haste` have no effect.
    public init(decoder: DecoderClient, file: Int32, request: DecodeRequest) throws(PictureError) {
        throw .cannotStart("playing is not available")
    }

    /// Returns the frame due at a time of the video, skipping the ones before it. Returns nil after the end.
    ///
    /// An earlier time than before goes back. If the decoder cannot keep up, the frame is older than wanted. Calls
    /// follow one another: a second call waits for the first one.
    public func frame(at time: Duration) async throws(PictureError) -> Frame? {
        throw .cancelled
    }

    /// Ends the process at once. A waiting call throws `cancelled`.
    public func end() {}
}
