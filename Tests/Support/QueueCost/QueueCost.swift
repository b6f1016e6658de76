import Glibc

/// Says by how many KiB the program grows for what waits in the queue.
///
///     queue-cost fill GALLERY FOLDER
///     queue-cost stand GALLERY FOLDER COUNT
///     queue-cost sweep GALLERY FOLDER WIDTH
///
/// The first one fetches the gallery's list into a cache in that folder, so that what that takes is not in the way of what is
/// measured. The others wish for thumbnails: for those of so many photos, or for all, of which so many are taken up.
@main
struct QueueCost {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 3 else { _exit(2) }
        let crowd = try Crowd(arguments[2], in: arguments[3])
        switch (arguments[1], arguments.count > 4 ? Int(arguments[4]) : nil) {
        case ("fill", _): await crowd.fill()
        case ("stand", let count?): print(try await crowd.stand(count))
        case ("sweep", let width?): print(try await crowd.sweep(width))
        default: _exit(2)
        }
        // Like the program itself it does not take leave of the libraries: what was asked for is still under way on their threads.
        fflush(nil)
        _exit(0)
    }
}
