import Dispatch
import Glibc

/// Signals as events on the main actor, where there is time to think about them.
@MainActor
final class SignalSources {
    /// What the outside wants.
    enum Event: CaseIterable {
        case resize, interrupt, terminate, hangUp, stop, goOn

        var number: Int32 {
            switch self {
            case .resize: SIGWINCH
            case .interrupt: SIGINT
            case .terminate: SIGTERM
            case .hangUp: SIGHUP
            case .stop: SIGTSTP
            case .goOn: SIGCONT
            }
        }
    }

    private var sources: [any DispatchSourceSignal] = []

    init(_ handler: @escaping @MainActor (Event) -> Void) {
        for event in Event.allCases {
            // Else the signal would also do what it does by default.
            signal(event.number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: event.number, queue: .main)
            source.setEventHandler { MainActor.assumeIsolated { handler(event) } }
            source.resume()
            sources.append(source)
        }
        // A pipe that nobody reads is an error of the write, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Stops the job that we belong to, as the shell sees it, and returns when it is continued.
    ///
    /// Where nobody could continue it, a terminal of its own without a shell, it returns at once: "if the process group is
    /// orphaned" the system discards this signal, unlike SIGSTOP.
    func stopJob() {
        var (nothing, plain, ours) = (sigaction(), sigaction(), sigaction())
        nothing.__sigaction_handler.sa_handler = SIG_IGN
        plain.__sigaction_handler.sa_handler = SIG_DFL
        // The others of the job first: a signal for the whole process would be taken by some thread, some time later.
        sigaction(SIGTSTP, &nothing, &ours)
        kill(0, SIGTSTP)
        sigaction(SIGTSTP, &plain, nil)
        // Then this thread, which is stopped before `raise` returns, and all others with it. Dispatch blocks signals in
        // its threads, and the main actor runs on one of them.
        var (stop, blocked) = (sigset_t(), sigset_t())
        sigemptyset(&stop)
        sigaddset(&stop, SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &stop, &blocked)
        raise(SIGTSTP)
        pthread_sigmask(SIG_SETMASK, &blocked, nil)
        sigaction(SIGTSTP, &ours, nil)
    }

    /// Lets signals do again what they do.
    ///
    /// - Parameter isHungUp: whether the terminal is gone. Its end is read before the signal comes that says so, which would end
    ///   the program before it has saved what it does then. There is nobody left to hang up another time.
    func close(isHungUp: Bool) {
        for source in sources { source.silence() }
        for event in Event.allCases where !(isHungUp && event == .hangUp) { signal(event.number, SIG_DFL) }
    }
}
