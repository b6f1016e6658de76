/// How servers and proxies have been told who asks. Touched on the network's thread only.
final class AuthenticationMemory {
    private var methods: [String: Authentication.Methods] = [:]
    private static let maximumCount = 256

    /// - Parameter place: an origin, or a proxy.
    subscript(place: String) -> Authentication.Methods? {
        get { methods[place] }
        set {
            // It can be learned again.
            if methods.count >= Self.maximumCount { methods = [:] }
            methods[place] = newValue
        }
    }
}
