@testable import HTTP

extension HTTPTransfer {
    /// How it failed; nil if it did not.
    func failure() async -> HTTPError? {
        do {
            for try await _ in self {}
            return nil
        } catch {
            return error as? HTTPError
        }
    }
}
