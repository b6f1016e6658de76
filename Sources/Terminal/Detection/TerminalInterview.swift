import Cells
import Dispatch

/// Asks the terminal about itself while everything else goes on, and sees to it that there is an end to that.
@MainActor
final class TerminalInterview {
    /// An answer that takes longer is none: milliseconds.
    static let usualLimit = 1_000
    /// For so many milliseconds an answer may still come from a terminal that has given none so far, and must not be read by
    /// others.
    static let overdueLimit = 10_000

    private var inquiry = Inquiry()
    /// What is asked when the present questions are done.
    private var next: Set<TerminalQuestion> = []
    /// How many times the question that ends others was asked and not answered: an answer to an earlier one does not end
    /// the later ones.
    private var owed = 0
    /// An answer that seemed to be to an earlier one. If there is no later one, it was to this.
    private var held: TerminalReply?
    /// Whether the terminal that a tmux is in has had its second chance.
    private var hasAskedOuterAgain = false
    /// Until when a terminal that has not answered in time may still do so.
    private var overdueUntil: DispatchTime?
    /// Ends questions that are not answered. There is one only as long as there are such.
    private var timer: (any DispatchSourceTimer)?
    /// Milliseconds to wait for an answer.
    private let limit: Int
    private let size: () -> Size
    private let send: ([UInt8]) -> Void
    /// Called when something has been found out, or that it cannot be.
    private let onAnswers: () -> Void

    /// - Parameter size: how many cells there are.
    init(
        limit: Int = TerminalInterview.usualLimit, size: @escaping () -> Size, send: @escaping ([UInt8]) -> Void,
        onAnswers: @escaping () -> Void
    ) {
        self.limit = limit
        self.size = size
        self.send = send
        self.onAnswers = onAnswers
    }

    /// What has been found out.
    var answers: TerminalAnswers { inquiry.answers }

    /// Whether an answer may be on its way.
    var isAnswerDue: Bool {
        if inquiry.isOpen { return true }
        guard let overdueUntil else { return false }
        return .now() < overdueUntil
    }

    /// Asks, or will when what was asked before is done. There is an end to it when ``noteSent()`` is called.
    ///
    /// - Parameter frame: adds to what is sent what has to go out in the same piece.
    func ask(_ questions: Set<TerminalQuestion>, frame: ([UInt8]) -> [UInt8] = { $0 }) {
        guard !questions.isEmpty else { return }
        guard !inquiry.isOpen else {
            next.formUnion(questions)
            return
        }
        if !isAnswerDue { owed = 0 }
        held = nil
        send(frame(inquiry.ask(questions, on: size())))
        if inquiry.open.contains(.attributes) { owed += 1 }
    }

    /// Everything that was sent is with the terminal. Only from now on it is waited for: behind a large picture, on a slow
    /// line, a question may take longer to arrive than its answer.
    func noteSent() {
        guard inquiry.isOpen, timer == nil else { return }
        let timer = DispatchSource.makeTimerSource(queue: .main)
        timer.schedule(deadline: .now() + .milliseconds(limit))
        timer.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.giveUp() } }
        timer.resume()
        self.timer = timer
    }

    /// Takes in what the terminal says.
    func take(_ reply: TerminalReply) {
        var isEnd = false
        if case .attributes = reply {
            isEnd = true
            owed = max(0, owed - 1)
            guard owed == 0 else {
                held = reply
                return
            }
            overdueUntil = nil
        }
        guard inquiry.take(reply) else { return }
        if !inquiry.isOpen {
            finish()
        } else if isEnd {
            // What the terminal itself has said is enough to draw with, whatever the one around it will say.
            onAnswers()
        }
    }

    /// Asks nothing more than what has been asked.
    func hold() {
        next = []
    }

    /// Waits for nothing any more.
    func stop() {
        next = []
        close()
    }

    private func giveUp() {
        if let held, inquiry.take(held) { owed = 0 }
        // Who does not answer is not asked again.
        if inquiry.open.contains(.attributes) {
            next = []
        } else if !hasAskedOuterAgain, inquiry.open.contains(where: \.isForOuter) {
            // A tmux that is only just starting drops what it is to pass on.
            hasAskedOuterAgain = true
            next.formUnion(inquiry.open)
        }
        close()
        finish()
    }

    private func close() {
        if inquiry.open.contains(.attributes) { overdueUntil = .now() + .milliseconds(Self.overdueLimit) }
        inquiry.giveUp()
        timer?.cancel()
        timer = nil
    }

    private func finish() {
        timer?.cancel()
        timer = nil
        onAnswers()
        let questions = next
        next = []
        ask(questions)
    }
}
