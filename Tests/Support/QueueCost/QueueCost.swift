import Glibc

/// Prints how many KiB the program grows for waiting wishes.
///
///     queue-cost fill GALLERY FOLDER
///     queue-cost stand GALLERY FOLDER COUNT
///     queue-cost sweep GALLERY FOLDER WIDTH
///
/// `fill` fetches the gallery's list into a cache in that folder, so that this memory does not count. `stand` wishes
/// for the thumbnails of so many photos. `sweep` requests all thumbnails, of which so many are taken up.
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
        // Like the program, this exits without cleaning up libraries, because their threads still run transfers.
        fflush(nil)
        _exit(0)
    }
}
