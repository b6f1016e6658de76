import CNcurses
import Cells
import Dispatch
import Glibc
import Text

/// The user's terminal, which delivers input and displays surfaces. This class owns ncurses, the terminal's modes and
/// the signals.
///
///     let terminal = try Terminal(TerminalEnvironment())
///     terminal.onEvent = { event in … }
///     terminal.onFrame = { size in surface }
///     terminal.start()
///
/// Vitrine restores the terminal however the program ends, even after a crash.
@MainActor
public final class Terminal {
    /// Called with each input event.
    public var onEvent: (InputEvent) -> Void = { _ in }
    /// Called to draw the next frame for a number of columns and rows.
    public var onFrame: (Size) -> Surface = { Surface(size: $0) }
    /// Called with a signal when the program should end. If the terminal is gone, the signal is SIGHUP, whether a
    /// signal, a read or a write reveals the loss first.
    public var onEnd: (Int32) -> Void = { _ in }
    /// Called when the capabilities change, before a new frame.
    public var onCapabilities: (Capabilities) -> Void = { _ in }
    /// Called when there are new findings about the terminal.
    public var onFindings: (TerminalFindings) -> Void = { _ in }
    /// Whether the terminal should report mouse events.
    public var followsMouse = true {
        didSet {
            guard isActive, environment.isXtermLike, followsMouse != oldValue else { return }
            output.send(Array((followsMouse ? Self.mouseOn : Self.mouseOff).utf8))
        }
    }

    private let tty: TTY
    private let environment: TerminalEnvironment
    private var wishes: TerminalWishes
    private let screen: NcursesScreen
    private let output: OutputQueue
    private let terminfoColours: Int
    /// Whether the terminal has reverse video, according to terminfo.
    private let reverses: Bool
    private var input: InputReader?
    private var signals: SignalSources?
    private var frames: FrameLoop?
    private var interview: TerminalInterview?
    /// The queries sent since Vitrine took over the terminal.
    private var asked: Set<TerminalQuestion> = []
    private var reportedFindings: TerminalFindings?
    private var isActive = false
    /// Whether the terminal is gone.
    private var isHungUp = false
    private var pixels = PixelLayer()
    /// Shows pixels when no picture has moved or disappeared for a moment. Until then, symbols stand in for the
    /// pictures. Changes of text beside pictures cause no delay.
    private lazy var rest = RestTimer { [weak self] in self?.showPicture() }
    /// Whether no picture has moved or disappeared for a moment. In that case, further pictures follow at once.
    private var isAtRest = false
    /// Tries again later to show pictures that a slow line could not show.
    private lazy var slowLineRetry = RestTimer { [weak self] in self?.continuePictures() }
    /// Stops the job again if a shell continued it in the background.
    private lazy var backgroundStop = RestTimer { [weak self] in self?.stopInBackground() }
    /// Whether SIGCONT has followed the last stop in the background.
    private var wasContinued = true

    /// Opens the terminal without changing it.
    ///
    /// - Parameter wishes: the user's settings, which override all findings.
    public init(
        _ environment: TerminalEnvironment, wishes: TerminalWishes = TerminalWishes()
    ) throws(TerminalError) {
        self.environment = environment
        self.wishes = wishes
        tty = try TTY()
        let geometry = tty.geometry
        screen = try NcursesScreen(environment, size: geometry.size, cellAspect: geometry.cell?.aspect)
        output = OutputQueue(tty.descriptor)
        terminfoColours = Int(vitrine_terminfo_number("colors"))
        reverses = screen.reverses
        // The first frame uses the environment's information and does not wait for answers.
        let capabilities = findings.capabilities
        screen.use { $0 = capabilities }
    }

    /// The capabilities that Vitrine uses.
    public var capabilities: Capabilities { screen.used }

    /// The current findings about the terminal, with their reasons.
    public var findings: TerminalFindings {
        let geometry = tty.geometry
        let circumstances = TerminalFindings.Circumstances(
            terminfoColours: terminfoColours, isUnicode: environment.isUnicode, size: geometry.size,
            cell: geometry.cell, reverses: reverses)
        return TerminalFindings(environment, circumstances, interview?.answers ?? TerminalAnswers(), wishes)
    }

    /// Applies changed settings of the user.
    public func use(_ wishes: TerminalWishes) {
        guard wishes != self.wishes else { return }
        self.wishes = wishes
        adopt()
        redraw()
    }

    /// Takes over the terminal for the full-screen display.
    public func start() {
        let frames = FrameLoop(isReady: { [output] in output.isIdle }, draw: { [weak self] in self?.draw() })
        self.frames = frames
        output.onIdle = { [weak self, weak frames] in
            let isFrameNext = frames?.resume() ?? false
            self?.interview?.startTimeLimit()
            // A frame that waited for the terminal goes before further pictures.
            if !isFrameNext { self?.continuePictures() }
        }
        output.onGone = { [weak self] in self?.handle(.hangUp) }
        signals = SignalSources { [weak self] in self?.handle($0) }
        let input = InputReader(
            tty.descriptor, sequences: KeySequences { screen.keyString($0) }, escapeWait: environment.escapeWait)
        let interview = TerminalInterview(
            size: { [tty] in tty.geometry.size }, send: { [weak output] in output?.send($0) },
            onAnswers: { [weak self] in self?.adopt() })
        self.interview = interview
        input.onEvent = { [weak self] in self?.handle($0) }
        input.onReply = { [weak interview] in interview?.take($0) }
        input.isAnswerDue = { [weak interview] in interview?.isAnswerDue ?? false }
        input.onGone = { [weak self] in self?.handle(.hangUp) }
        input.onBackground = { [weak self] in self?.reenter() }
        self.input = input
        enterInForeground()
    }

    /// Requests a frame.
    public func setNeedsFrame() {
        if isActive { frames?.setNeedsFrame() }
    }

    /// Redraws the whole screen, for example after another program's output.
    public func redraw() {
        screen.invalidate()
        setNeedsFrame()
    }

    /// Restores the terminal, and stops the program until the user continues it.
    public func suspend() {
        guard isActive else { return }
        leave()
        signals?.stopJob()
        // The shell has continued the program, or the program never stopped because no shell could continue it.
        enterInForeground()
    }

    /// Restores the terminal for good. Further calls do nothing.
    public func end() {
        guard signals != nil else { return }
        leave()
        input?.close()
        output.close()
        signals?.close(isHungUp: isHungUp)
        signals = nil
        frames = nil
    }

    /// Copies text to the user's clipboard through the terminal (OSC 52).
    ///
    /// Does nothing if the terminal has no ``Capabilities/clipboard``, or if the text is longer than
    /// ``Capabilities/clipboardLimit``.
    public func copy(_ text: String) {
        guard isActive, capabilities.clipboard, text.utf8.count <= Capabilities.clipboardLimit else { return }
        let encoded = String(decoding: Base64.encode(Array(text.utf8)), as: UTF8.self)
        output.send(Array("\u{1B}]52;c;\(encoded)\u{7}".utf8))
    }

    private func draw() {
        guard isActive else { return }
        let surface = onFrame(tty.geometry.size)
        var update = screen.clears(for: surface.size) ? pixels.clear() : []
        update += pixels.prepare(for: surface.placements, on: surface.size, upTo: output.mostInHalfASecond)
        if let text = screen.update(to: surface, ceded: pixels.ceded, hasPictures: pixels.showsPictures) {
            update += text
        } else {
            update += pixels.clear()
            update += screen.update(to: surface)
        }
        send([update])
        if pixels.hasRemoved { isAtRest = false }
        if pixels.isComplete { rest.cancel() } else if pixels.hasRemoved { rest.begin() } else { continuePictures() }
    }

    /// Shows the next picture soon, if one is missing.
    private func continuePictures() {
        if !pixels.isComplete { rest.goOn(after: isAtRest ? .zero : RestTimer.pause) }
    }

    /// Shows the pixels of the next picture. The terminal gets one picture at a time, so that a frame waits for one
    /// picture at most. A picture that would take too long on a slow line waits.
    private func showPicture() {
        isAtRest = true
        guard isActive, output.isIdle else { return }
        guard let (pieces, ceded) = pixels.showNext(upTo: output.mostInHalfASecond) else {
            if !pixels.isComplete, let pause = output.nextIncrease {
                slowLineRetry.begin(after: .nanoseconds(Int(pause)))
            }
            return
        }
        // Save and restore the cursor and colours (DECSC, DECRC), because ncurses assumes them unchanged.
        let save = Array("\u{1B}7".utf8)
        let restore = Array("\u{1B}8".utf8)
        send([save] + pieces + [restore, ceded.map { screen.cede($0) } ?? []])
        if output.isIdle { continuePictures() }
    }

    /// Sends an update, as a synchronized update if the terminal supports that.
    private func send(_ update: [[UInt8]]) {
        guard capabilities.synchronises, update.contains(where: { !$0.isEmpty }) else { return output.send(update) }
        output.send([Array(Self.updateBegin.utf8)] + update + [Array(Self.updateEnd.utf8)])
    }

    /// Takes over the terminal. In the background, stops the job first, because the terminal belongs to the shell.
    private func enterInForeground() {
        guard TTY.isInBackground(tty.descriptor) else { return enter() }
        output.close()
        interview?.stop()
        input?.pause()
        vitrine_rescue_disarm()
        // Signals that a shell sent before SIGCONT, such as SIGTERM, arrive meanwhile and end the program.
        backgroundStop.begin(after: .milliseconds(100))
    }

    private func stopInBackground() {
        guard !isActive, let signals else { return }
        if TTY.isInBackground(tty.descriptor) {
            // Without a shell that could continue the job, the system discards the stop, so Vitrine ends.
            guard wasContinued else { return onEnd(SIGHUP) }
            wasContinued = false
            signals.stopJob()
        }
        enterInForeground()
    }

    private func enter() {
        guard !isActive else { return }
        isActive = true
        tty.makeRaw()
        input?.discardPending()
        input?.resume()
        var modes = tty.originalModes
        // A frame may have been cut off; CAN ends an incomplete sequence.
        let rescue = [0x18] + Array(leavingSequence)
        vitrine_rescue_arm(tty.descriptor, &modes, rescue, rescue.count)
        askEverything()
        // Leaving may have dropped a frame without a call of `onIdle`.
        frames?.resume()
        redraw()
    }

    /// Takes over the terminal again after a stop without warning, such as SIGSTOP. The shell has changed the
    /// terminal's modes meanwhile.
    private func reenter() {
        guard isActive else { return }
        isActive = false
        // The stop has left Vitrine's screen to the shell. If the shell has the terminal now, it gets its own screen.
        if TTY.isInBackground(tty.descriptor) { sendLeaving() } else { _ = screen.leave() }
        enterInForeground()
    }

    /// Restores the terminal's screen and all modes but those of its device.
    private func sendLeaving() {
        let modesOff = pixels.clear() + (environment.isXtermLike ? Array(Self.modesOff.utf8) : [])
        output.sendAndWait(modesOff + screen.leave(), short: leavingSequence)
    }

    private func leave() {
        guard isActive else { return }
        isActive = false
        rest.cancel()
        slowLineRetry.cancel()
        // Answers to recent queries must not reach the shell. Read them before leaving, while typed input still belongs
        // to this program.
        interview?.hold()
        input?.drain(milliseconds: 200)
        interview?.stop()
        sendLeaving()
        tty.makeOriginal()
        vitrine_rescue_disarm()
    }

    private func handle(_ event: InputEvent) {
        if case .focus(true) = event {
            askAboutCells(hasFocus: true)
            resendPictures()
        }
        frames?.inputArrived()
        onEvent(event)
    }

    /// Sends all pictures again, because tmux may now be attached to another terminal.
    private func resendPictures() {
        guard isActive, pixels.isThroughTmux, !pixels.isEmpty else { return }
        output.send(pixels.clear())
        setNeedsFrame()
    }

    private func handle(_ event: SignalSources.Event) {
        switch event {
        case .resize:
            adopt()
            askAboutCells(hasFocus: false)
            setNeedsFrame()
        case .stop: suspend()
        case .goOn:
            wasContinued = true
            reenter()
        case .interrupt, .terminate: onEnd(event.number)
        case .hangUp:
            isHungUp = true
            onEnd(event.number)
        }
    }

    /// The bytes that the crash handler sends.
    private var leavingSequence: [UInt8] {
        (environment.isXtermLike ? Array(Self.modesOff.utf8) : []) + screen.leavingSequence
    }

    private var modesOn: String { followsMouse ? Self.modesOn + Self.mouseOn : Self.modesOn }

    /// Turns on bracketed paste and focus events.
    private static let modesOn = "\u{1B}[?2004h\u{1B}[?1004h"
    /// Turns off bracketed paste, focus events and mouse reports. First ends a synchronized update that may be
    /// incomplete.
    private static let modesOff = updateEnd + mouseOff + "\u{1B}[?1004l\u{1B}[?2004l"
    /// Begins a synchronized update.
    private static let updateBegin = "\u{1B}[?2026h"
    private static let updateEnd = "\u{1B}[?2026l"
    /// Turns on reports of mouse buttons, and of movement with a pressed button, in SGR form.
    private static let mouseOn = "\u{1B}[?1002h\u{1B}[?1006h"
    private static let mouseOff = "\u{1B}[?1006l\u{1B}[?1002l"
}

/// Queries to the terminal, and the use of its answers.
extension Terminal {
    /// Queries the terminal's identity and capabilities, if the terminal is similar to xterm.
    private func askEverything() {
        guard environment.isXtermLike, let interview else { return }
        interview.stop()
        asked = TerminalIdentity(environment, TerminalAnswers()).questions.filter { !$0.isForOuter }
        // Some terminals print unknown queries. This text appears after the cursor, where the line is empty. Erase the
        // text afterwards (DECSC, DECRC, EL).
        interview.ask(asked) { Array("\(modesOn)\u{1B}7".utf8) + $0 + Array("\u{1B}8\u{1B}[K".utf8) }
    }

    /// Repeats the queries whose answers may change with the window, if the terminal answers queries.
    ///
    /// - Parameter hasFocus: whether Vitrine has the focus for sure. tmux gives the answers of the terminal around it to
    ///   the active pane. If that is a shell's, the shell would take them for typed text.
    private func askAboutCells(hasFocus: Bool) {
        guard isActive, let interview, interview.answers.attributes != nil else { return }
        let questions = asked.intersection([.cellSize, .areaSize, .background, .outerVersion, .outerKitty])
        interview.ask(hasFocus ? questions : questions.filter { !$0.isForOuter })
    }

    /// Applies new findings about the terminal.
    private func adopt() {
        askFurther()
        let findings = findings
        if findings != reportedFindings { onFindings(findings) }
        reportedFindings = findings
        guard findings.capabilities != capabilities else { return }
        if findings.capabilities.pixels != capabilities.pixels {
            // Remove the pictures with the protocol that showed them.
            let removal = pixels.clear()
            if isActive { output.send(removal) }
            pixels = PixelLayer(isThroughTmux: findings.capabilities.pixels?.isThroughTmux ?? false)
        }
        screen.use { $0 = findings.capabilities }
        onCapabilities(findings.capabilities)
        setNeedsFrame()
    }

    /// Sends the queries that depend on the terminal's identity.
    private func askFurther() {
        guard isActive, let interview, interview.answers.attributes != nil else { return }
        let questions = TerminalIdentity(environment, interview.answers).questions.subtracting(asked)
        asked.formUnion(questions)
        interview.ask(questions)
    }
}

extension DispatchTimeInterval {
    static let zero = DispatchTimeInterval.nanoseconds(0)
}

/// Schedules frames, each only after the terminal has received the previous one.
///
/// One frame shows all changes since the previous frame. The user's input causes at most 60 frames a second, and all
/// other changes also cause at most 60. The two limits are separate, so a video does not delay the response to keys.
@MainActor
final class FrameLoop {
    /// The shortest time between two frames, in nanoseconds.
    static let interval: UInt64 = 16_666_667

    private enum State {
        /// No frame is needed. No timer runs, so that the program sleeps.
        case clean
        /// A frame is scheduled.
        case scheduled
        /// A frame is needed, but the terminal has not received the previous frame yet.
        case blocked
    }

    private var state = State.clean
    private var lastFrame: UInt64 = 0
    /// The time of the last frame that followed the user's input.
    private var lastAnswer: UInt64 = 0
    /// Whether the next frame follows the user's input.
    private var isAnswer = false
    /// The number of the latest scheduled frame. If a sooner frame replaces it, the timer of the replaced frame has no
    /// effect.
    private var number = 0
    private let isReady: () -> Bool
    private let draw: () -> Void

    init(isReady: @escaping () -> Bool, draw: @escaping () -> Void) {
        self.isReady = isReady
        self.draw = draw
    }

    /// Requests a frame, because something has changed.
    func setNeedsFrame() {
        guard case .clean = state else { return }
        schedule()
    }

    /// Draws the next frame sooner, because the user's input may have caused it.
    func inputArrived() {
        isAnswer = true
        if case .scheduled = state { schedule() }
    }

    /// Continues after the terminal has received everything. Returns whether a frame has waited for that.
    @discardableResult
    func resume() -> Bool {
        guard case .blocked = state else { return false }
        schedule()
        return true
    }

    private func schedule() {
        state = .scheduled
        number &+= 1
        let due = DispatchTime(uptimeNanoseconds: (isAnswer ? lastAnswer : lastFrame) &+ Self.interval)
        // Always draw asynchronously, so that other changes in this turn of the main queue are in the same frame.
        DispatchQueue.main.asyncAfter(deadline: max(.now(), due)) { [weak self, number] in
            MainActor.assumeIsolated { self?.frame(number) }
        }
    }

    private func frame(_ number: Int) {
        guard case .scheduled = state, number == self.number else { return }
        guard isReady() else {
            state = .blocked
            return
        }
        state = .clean
        lastFrame = DispatchTime.now().uptimeNanoseconds
        if isAnswer { (lastAnswer, isAnswer) = (lastFrame, false) }
        draw()
    }
}
