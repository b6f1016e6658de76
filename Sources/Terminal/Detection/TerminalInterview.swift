import Cells
import Dispatch

/// Queries the terminal in the background, with a time limit.
@MainActor
final class TerminalInterview {
    /// The milliseconds to wait for an answer.
    static let usualLimit = 1_000
    /// The milliseconds during which a silent terminal may still answer. Vitrine must not take such answers for keys.
    static let overdueLimit = 10_000

    private var inquiry = Inquiry()
    /// The queries to send after the open queries.
    private var next: Set<TerminalQuestion> = []
    /// The number of attribute queries without an answer. Vitrine counts them, so that a late answer to an earlier
    /// query does not end a later inquiry.
    private var owed = 0
    /// An attributes answer that seemed to belong to an earlier query. If no other attributes answer follows in time,
    /// this answer ends the current inquiry.
    private var held: TerminalReply?
    /// Whether the open queries to the terminal around tmux repeat queries without an answer.
    private var isOuterAskedAgain = false
    /// The time until which a silent terminal may still answer.
    private var overdueUntil: DispatchTime?
    /// The timer that ends unanswered queries; nil while no time limit runs.
    private var timer: (any DispatchSourceTimer)?
    /// The milliseconds to wait for an answer.
    private let limit: Int
    private let size: () -> Size
    private let send: ([UInt8]) -> Void
    /// Called when answers have arrived, or when their time limit is over.
    private let onAnswers: () -> Void

    /// Creates an interview that has sent no queries.
    ///
    /// - Parameter size: returns the number of cells.
    init(
        limit: Int = TerminalInterview.usualLimit, size: @escaping () -> Size, send: @escaping ([UInt8]) -> Void,
        onAnswers: @escaping () -> Void
    ) {
        self.limit = limit
        self.size = size
        self.send = send
        self.onAnswers = onAnswers
    }

    /// The answers that have arrived so far.
    var answers: TerminalAnswers { inquiry.answers }

    /// Whether an answer of the terminal may still arrive.
    var isAnswerDue: Bool {
        if inquiry.isOpen { return true }
        guard let overdueUntil else { return false }
        return .now() < overdueUntil
    }

    /// Sends queries as soon as no other query is open. ``startTimeLimit()`` starts the time limit.
    ///
    /// - Parameter frame: adds bytes that must be sent in one piece with the queries.
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

    /// Starts the time limit. The caller calls this method when all bytes are sent, because a query may wait behind a
    /// large picture on a slow line.
    func startTimeLimit() {
        guard inquiry.isOpen, timer == nil else { return }
        let timer = DispatchSource.makeTimerSource(queue: .main)
        timer.schedule(deadline: .now() + .milliseconds(limit))
        timer.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.giveUp() } }
        timer.resume()
        self.timer = timer
    }

    /// Handles a reply of the terminal.
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
            isOuterAskedAgain = false
            finish()
        } else if isEnd {
            // The terminal's own answers suffice for drawing; don't wait for the outer terminal.
            onAnswers()
        }
    }

    /// Drops the queries that are not sent yet.
    func hold() {
        next = []
    }

    /// Stops the wait for answers.
    func stop() {
        next = []
        isOuterAskedAgain = false
        close()
    }

    private func giveUp() {
        if let held, inquiry.take(held) { owed = 0 }
        var isRepeating = false
        if inquiry.open.contains(.attributes) {
            // Do not query a silent terminal again.
            next = []
        } else if isOuterAskedAgain {
            // The line works, because tmux has answered. tmux may be attached to another terminal now.
            inquiry.giveUpOuter()
        } else if inquiry.open.contains(where: \.isForOuter) {
            // While tmux starts, it drops the queries that it should pass on, so repeat them once. Query tmux, too: if
            // tmux is as silent as the terminal around it, the line is slow.
            isRepeating = true
            next.formUnion(inquiry.open)
            next.insert(.attributes)
        }
        isOuterAskedAgain = isRepeating
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
