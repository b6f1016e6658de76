import CSecret
import Dispatch
import Glibc
import Model
import Synchronization

/// The keyring of the user's desktop, if there is one.
///
///     try await Keyring().keep(signIn, for: place)
///
/// The first request loads the keyring library. A keyring may ask the user for a password, and may never answer. So
/// each request runs on a separate queue with a time limit.
public final class Keyring: Sendable {
    private let library: String
    private let timeLimit: DispatchTimeInterval
    private let queue = DispatchQueue(label: "vitrine.keyring")
    private let alarms = DispatchQueue(label: "vitrine.keyring.alarms")
    /// The functions of the keyring library, once the library is loaded.
    private let functions = Mutex<csecret?>(nil)

    /// The library functions and the GLib cancellable of one request. GLib makes the cancellable thread-safe.
    private struct RequestContext: @unchecked Sendable {
        let functions: csecret
        let cancellable: UnsafeMutableRawPointer?

        init(_ functions: csecret) {
            self.functions = functions
            cancellable = withUnsafePointer(to: functions) { csecret_make_cancellable($0) }
        }

        func end() { withUnsafePointer(to: functions) { csecret_cancel($0, cancellable) } }
    }

    /// Creates a client of the keyring. The first request loads the keyring library.
    ///
    /// - Parameters:
    ///   - library: the name or path of the keyring library.
    ///   - seconds: the time limit of a request, including the time in which the user unlocks the keyring.
    public init(library: String = "libsecret-1.so.0", seconds: Double = 60) {
        self.library = library
        timeLimit = .milliseconds(Int(seconds * 1000))
    }

    /// Returns the keyring's sign-in for a server or proxy, or nil.
    public func signIn(for place: SignInPlace) async throws(SecretError) -> SignIn? {
        try await ask { context in
            var message: UnsafeMutablePointer<CChar>?
            let found = withUnsafePointer(to: context.functions) {
                csecret_lookup($0, place.name, context.cancellable, &message)
            }
            defer { csecret_free(found) }
            if let message = Self.take(message) { return .failure(.refused(message)) }
            return .success(found.flatMap { SecretText(String(cString: $0)).signIn })
        }
    }

    /// Stores a sign-in. Replaces the previous sign-in for the same server or proxy.
    public func keep(_ signIn: SignIn, for place: SignInPlace) async throws(SecretError) {
        try await ask { context in
            var message: UnsafeMutablePointer<CChar>?
            let isDone = withUnsafePointer(to: context.functions) {
                csecret_store(
                    $0, place.name, "Vitrine: " + place.name, SecretText(signIn).text, context.cancellable, &message)
            }
            let reason = Self.take(message)
            return isDone != 0 ? .success(()) : .failure(.refused(reason ?? "no reason was given"))
        }
    }

    private static func take(_ message: UnsafeMutablePointer<CChar>?) -> String? {
        guard let message else { return nil }
        defer { free(message) }
        return String(cString: message)
    }

    private func ask<Answer: Sendable>(
        _ body: @escaping @Sendable (RequestContext) -> Result<Answer, SecretError>
    ) async throws(SecretError) -> Answer {
        let result = await withCheckedContinuation { continuation in
            let alarm = DispatchSource.makeTimerSource(queue: alarms)
            alarm.schedule(deadline: .now() + timeLimit)
            let question = KeyringQuestion<Answer>(continuation, alarm: alarm)
            queue.async { [self] in
                // The request may have timed out while it was queued.
                guard question.isOpen else { return }
                guard let functions = load() else { return question.answer(.failure(.noKeyring)) }
                let context = RequestContext(functions)
                guard question.begin(cancel: { context.end() }) else { return }
                question.answer(body(context))
            }
        }
        return try result.get()
    }

    private func load() -> csecret? {
        functions.withLock { functions in
            if functions == nil {
                var loaded = csecret()
                if csecret_load(library, &loaded) != 0 { functions = loaded }
            }
            return functions
        }
    }
}

/// One request to the keyring, which either succeeds in time or fails.
final class KeyringQuestion<Answer: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Answer, SecretError>, Never>?
        /// Cancels the request while the request runs.
        var cancel: (@Sendable () -> Void)?
        /// The timer that fires at the time limit.
        var alarm: (any DispatchSourceTimer)?

        mutating func end() {
            alarm?.cancel()
            self = State()
        }
    }

    private let state: Mutex<State>

    /// Creates a request that has not started.
    ///
    /// - Parameter alarm: a timer that fires at the time limit. This initialiser starts the timer and the answer
    ///   cancels it, so the timer does not wake an idle program.
    init(
        _ continuation: CheckedContinuation<Result<Answer, SecretError>, Never>, alarm: sending any DispatchSourceTimer
    ) {
        state = Mutex(State(continuation: continuation, alarm: alarm))
        state.withLock { state in
            state.alarm?.setEventHandler { [weak self] in self?.giveUp() }
            state.alarm?.resume()
        }
    }

    /// Whether the caller still waits for an answer.
    var isOpen: Bool { state.withLock { $0.continuation != nil } }

    /// Marks the request as running. Returns false after the time limit. The caller must not start a request that has
    /// timed out.
    func begin(cancel: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.continuation != nil else { return false }
            state.cancel = cancel
            return true
        }
    }

    /// Delivers the answer to the caller. Later answers have no effect.
    func answer(_ result: Result<Answer, SecretError>) {
        let continuation = state.withLock { state in
            defer { state.end() }
            return state.continuation
        }
        continuation?.resume(returning: result)
    }

    /// Cancels the request and reports that the keyring did not answer.
    func giveUp() {
        let (continuation, cancel) = state.withLock { state in
            defer { state.end() }
            return (state.continuation, state.cancel)
        }
        continuation?.resume(returning: .failure(.silent))
        cancel?()
    }
}
