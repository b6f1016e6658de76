@testable import HTTP

extension HTTPTransfer {
    /// The transfer's error; nil if it succeeded.
    func failure() async -> HTTPError? {
        do {
            for try await _ in self {}
            return nil
        } catch {
            return error as? HTTPError
        }
    }
}
