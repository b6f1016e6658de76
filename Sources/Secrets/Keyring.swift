import CSecret
import Dispatch
import Glibc
import Model
import Synchronization

/// The keyring of the user's desktop, where there is one.
///
///     try await Keyring().keep(signIn, for: place)
///
/// The library is loaded when it is first needed. A keyring may ask the user to unlock it, and may never answer: it is asked
/// on a queue of its own, one question at a time, and for so long only.
public final class Keyring: Sendable {
    private let library: String
    private let patience: DispatchTimeInterval
    private let queue = DispatchQueue(label: "vitrine.keyring")
    private let alarms = DispatchQueue(label: "vitrine.keyring.alarms")
    /// Once the library has been loaded.
    private let functions = Mutex<csecret?>(nil)

    /// What a question is asked with, and can be ended with from any thread: functions, and an object that GLib guards itself.
    private struct Means: @unchecked Sendable {
        let functions: csecret
        let cancellable: UnsafeMutableRawPointer?

        init(_ functions: csecret) {
            self.functions = functions
            cancellable = withUnsafePointer(to: functions) { csecret_make_cancellable($0) }
        }

        func end() { withUnsafePointer(to: functions) { csecret_cancel($0, cancellable) } }
    }

    /// Names the keyring; nothing is asked or loaded.
    ///
    /// - Parameters:
    ///   - library: as the system finds it, or a path.
    ///   - seconds: how long an answer may take. Somebody may have to unlock it.
    public init(library: String = "libsecret-1.so.0", seconds: Double = 60) {
        self.library = library
        patience = .milliseconds(Int(seconds * 1000))
    }

    /// Looks for what was kept; nil if there is nothing.
    public func signIn(for place: SignInPlace) async throws(SecretError) -> SignIn? {
        try await ask { means in
            var message: UnsafeMutablePointer<CChar>?
            let found = withUnsafePointer(to: means.functions) {
                csecret_lookup($0, place.name, means.cancellable, &message)
            }
            defer { csecret_free(found) }
            if let message = Self.take(message) { return .failure(.refused(message)) }
            return .success(found.flatMap { SecretText(String(cString: $0)).signIn })
        }
    }

    /// Keeps something, in place of what was kept for the same place.
    public func keep(_ signIn: SignIn, for place: SignInPlace) async throws(SecretError) {
        try await ask { means in
            var message: UnsafeMutablePointer<CChar>?
            let isDone = withUnsafePointer(to: means.functions) {
                csecret_store(
                    $0, place.name, "Vitrine: " + place.name, SecretText(signIn).text, means.cancellable, &message)
            }
            let reason = Self.take(message)
            return isDone != 0 ? .success(()) : .failure(.refused(reason ?? "it does not say why"))
        }
    }

    private static func take(_ message: UnsafeMutablePointer<CChar>?) -> String? {
        guard let message else { return nil }
        defer { free(message) }
        return String(cString: message)
    }

    private func ask<Answer: Sendable>(
        _ body: @escaping @Sendable (Means) -> Result<Answer, SecretError>
    ) async throws(SecretError) -> Answer {
        let result = await withCheckedContinuation { continuation in
            let alarm = DispatchSource.makeTimerSource(queue: alarms)
            alarm.schedule(deadline: .now() + patience)
            let question = KeyringQuestion<Answer>(continuation, alarm: alarm)
            queue.async { [self] in
                // It may have been given up while another one was being asked.
                guard question.isOpen else { return }
                guard let functions = load() else { return question.answer(.failure(.noKeyring)) }
                let means = Means(functions)
                guard question.begin(cancel: { means.end() }) else { return }
                question.answer(body(means))
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

/// One question to the keyring, answered once: in time, or with the word that it was not.
final class KeyringQuestion<Answer: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Answer, SecretError>, Never>?
        /// How to end it while it is being asked.
        var cancel: (@Sendable () -> Void)?
        /// What rings when it has taken too long.
        var alarm: (any DispatchSourceTimer)?

        mutating func end() {
            alarm?.cancel()
            self = State()
        }
    }

    private let state: Mutex<State>

    /// - Parameter alarm: when it rings it has taken too long. It is set here, and cancelled once there is an answer: it would
    ///   wake an idle program for nothing.
    init(
        _ continuation: CheckedContinuation<Result<Answer, SecretError>, Never>, alarm: sending any DispatchSourceTimer
    ) {
        state = Mutex(State(continuation: continuation, alarm: alarm))
        state.withLock { state in
            state.alarm?.setEventHandler { [weak self] in self?.giveUp() }
            state.alarm?.resume()
        }
    }

    /// Whether anybody waits for the answer.
    var isOpen: Bool { state.withLock { $0.continuation != nil } }

    /// It is being asked from now on. Returns false if nobody waits for the answer any more: then it is not to be asked, for
    /// nobody would end it.
    func begin(cancel: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.continuation != nil else { return false }
            state.cancel = cancel
            return true
        }
    }

    /// Gives the answer. Only the first one is heard.
    func answer(_ result: Result<Answer, SecretError>) {
        let continuation = state.withLock { state in
            defer { state.end() }
            return state.continuation
        }
        continuation?.resume(returning: result)
    }

    /// It has taken too long.
    func giveUp() {
        let (continuation, cancel) = state.withLock { state in
            defer { state.end() }
            return (state.continuation, state.cancel)
        }
        continuation?.resume(returning: .failure(.silent))
        cancel?()
    }
}
