import Settings
import Concurrency

extension Invocation.Command {
    /// How many file descriptors the command needs at least. With fewer it ends at once and says so.
    var descriptors: Int {
        switch self {
        case .browse: Self.most
        case .sync, .export: 40
        case .publish, .show, .info: 20
        case .list, .cache: 12
        case .man, .completions, .config, .help, .version: 0
        }
    }

    /// Whether it may fetch something.
    var fetches: Bool {
        switch self {
        case .browse, .sync, .export: true
        default: false
        }
    }

    /// The number that the most demanding command needs.
    private static let most = 52

    /// How many descriptors there are beyond that, for more transfers and more pictures at once.
    static var descriptorsToSpare: Int { max(0, ProgramDescriptors.limit - most) }
}
