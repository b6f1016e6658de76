import CNcurses
import Cells
import Glibc
import Text

/// The user's terminal: keys in, surfaces out. The one owner of ncurses, of the terminal's modes and of the signals that
/// speak of it.
///
///     let terminal = try Terminal(TerminalEnvironment())
///     terminal.onEvent = { event in … }
///     terminal.onFrame = { size in surface }
///     terminal.start()
///
/// On every way out, a crash too, the user's terminal is given back as it was found.
@MainActor
public final class Terminal {
    /// Called with what the user does.
    public var onEvent: (InputEvent) -> Void = { _ in }
    /// Called for the next frame.
    public var onFrame: (Size) -> Surface = { Surface(size: $0) }
    /// Called when the program should end, with the signal that says so. A terminal that is gone has hung up, whether the
    /// system's word or the error of a read or write is there first.
    public var onEnd: (Int32) -> Void = { _ in }
    /// Called when the terminal turns out to show more than was thought, or less. A frame comes by itself.
    public var onCapabilities: (Capabilities) -> Void = { _ in }
    /// Called with what was found out about the terminal, and why it is believed, whenever there is more of it.
    public var onFindings: (TerminalFindings) -> Void = { _ in }
    /// Whether the terminal is asked to say what the mouse does.
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
    private var input: InputReader?
    private var signals: SignalSources?
    private var frames: FrameLoop?
    private var interview: TerminalInterview?
    /// What the terminal has been asked since it was taken over.
    private var asked: Set<TerminalQuestion> = []
    private var told: TerminalFindings?
    private var isActive = false
    /// Whether the terminal is gone for good.
    private var isHungUp = false
    private var pixels = PixelLayer()
    /// Pictures are shown with all their pixels when they have been the same for a moment: who moves on sees symbols. Text
    /// that changes beside them, as it does while something is fetched, does not keep them waiting.
    private lazy var rest = RestTimer { [weak self] in self?.showPicture() }
    /// What a slow line has kept from being shown is tried again after a while, and then once more.
    private lazy var hope = RestTimer { [weak self] in self?.rest.goOn() }

    /// Looks at the terminal, and leaves it as it is.
    ///
    /// - Parameter wishes: what the user insists on, whatever is found out.
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
        // The first frame does not wait for answers: it is drawn with what the environment suggests.
        let capabilities = findings.capabilities
        screen.use { $0 = capabilities }
    }

    /// What the terminal can show, as far as it is used.
    public var capabilities: Capabilities { screen.used }

    /// What is known of the terminal by now, and why it is believed.
    public var findings: TerminalFindings {
        let geometry = tty.geometry
        let circumstances = TerminalFindings.Circumstances(
            terminfoColours: terminfoColours, isUnicode: environment.isUnicode, size: geometry.size,
            cell: geometry.cell)
        return TerminalFindings(environment, circumstances, interview?.answers ?? TerminalAnswers(), wishes)
    }

    /// The user insists on something else now.
    public func use(_ wishes: TerminalWishes) {
        guard wishes != self.wishes else { return }
        self.wishes = wishes
        adopt()
        redraw()
    }

    /// Takes the terminal over.
    public func start() {
        let frames = FrameLoop(isReady: { [output] in output.isIdle }, draw: { [weak self] in self?.draw() })
        self.frames = frames
        output.onIdle = { [weak self, weak frames] in
            frames?.noteReady()
            self?.interview?.noteSent()
            if let self, !self.pixels.isComplete { self.rest.goOn() }
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
        self.input = input
        enter()
    }

    /// Asks for a frame, soon.
    public func setNeedsFrame() {
        if isActive { frames?.setNeedsFrame() }
    }

    /// Draws everything anew: something else has written to the terminal.
    public func redraw() {
        screen.forget()
        setNeedsFrame()
    }

    /// Gives the terminal back and stops the program, until the user goes on with it.
    public func suspend() {
        guard isActive else { return }
        leave()
        signals?.stopJob()
        // On again: because the shell said so, or because there is no shell that ever could, and so nothing was stopped.
        enter()
    }

    /// Gives the terminal back, for good. It can be repeated.
    public func end() {
        guard signals != nil else { return }
        leave()
        input?.close()
        output.close()
        signals?.close(isHungUp: isHungUp)
        signals = nil
        frames = nil
    }

    /// Sends text to the clipboard of the user's machine, by way of the terminal (OSC 52), if it is one that may know how.
    public func copy(_ text: String) {
        guard isActive, environment.isXtermLike else { return }
        // What terminals take at most; more would be dropped as a whole, or not.
        let encoded = String(decoding: Base64.encode(Array(text.utf8.suffix(48 << 10))), as: UTF8.self)
        output.send(Array("\u{1B}]52;c;\(encoded)\u{7}".utf8))
    }

    private func draw() {
        guard isActive else { return }
        let surface = onFrame(tty.geometry.size)
        var update = screen.clears(for: surface.size) ? pixels.clear() : []
        update += pixels.prepare(for: surface.placements, on: surface.size)
        if let text = screen.update(to: surface, ceded: pixels.ceded) {
            update += text
        } else {
            update += pixels.clear()
            update += screen.update(to: surface)
        }
        send([update])
        if pixels.isComplete { rest.cancel() } else if pixels.hasChanged { rest.begin() } else { rest.goOn() }
    }

    /// Shows the pixels of one more picture: one at a time, so that a frame never waits for more than that; and none that it
    /// would wait for long, over a slow line. How slow that is shows with each frame, and then it is looked at again.
    private func showPicture() {
        guard isActive, output.isIdle else { return }
        guard let (pieces, ceded) = pixels.showNext(upTo: output.mostInHalfASecond) else {
            if !pixels.isComplete, let pause = output.nextHope { hope.begin(after: .nanoseconds(Int(pause))) }
            return
        }
        // Save the cursor and its colours and put them back (DECSC, DECRC): ncurses believes it to be where it left it.
        let save = Array("\u{1B}7".utf8)
        let restore = Array("\u{1B}8".utf8)
        send([save] + pieces + [restore, ceded.map { screen.cede($0) } ?? []])
        if !pixels.isComplete, output.isIdle { rest.begin(after: .zero) }
    }

    /// Sends what belongs together, to be shown at once.
    private func send(_ update: [[UInt8]]) {
        guard capabilities.synchronises, update.contains(where: { !$0.isEmpty }) else { return output.send(update) }
        output.send([Array(Self.updateBegin.utf8)] + update + [Array(Self.updateEnd.utf8)])
    }

    private func enter() {
        guard !isActive else { return }
        isActive = true
        tty.makeRaw()
        input?.forget()
        var modes = tty.originalModes
        // A frame may have stopped anywhere: CAN ends a sequence that was begun.
        let rescue = [0x18] + Array(leavingSequence)
        vitrine_rescue_arm(tty.descriptor, &modes, rescue, rescue.count)
        askEverything()
        // A frame that the terminal would not take was dropped on the way out, and with it the word that it is ready.
        frames?.noteReady()
        redraw()
    }

    /// Stopped by somebody who did not ask us, we could not leave; but the shell has set up the terminal for itself.
    private func enterAgain() {
        guard isActive else { return }
        isActive = false
        _ = screen.leave()
        enter()
    }

    private func leave() {
        guard isActive else { return }
        isActive = false
        rest.cancel()
        hope.cancel()
        // What was asked a moment ago would be answered to the shell. Before the screen goes back: as long as it is ours, so
        // is what is typed.
        interview?.hold()
        input?.drain(milliseconds: 200)
        interview?.stop()
        let modesOff = pixels.clear() + (environment.isXtermLike ? Array(Self.modesOff.utf8) : [])
        output.sendAndWait(modesOff + screen.leave(), short: leavingSequence)
        tty.makeOriginal()
        vitrine_rescue_disarm()
    }

    private func handle(_ event: InputEvent) {
        if case .focus(true) = event {
            askAboutCells()
            showPicturesAnew()
        }
        onEvent(event)
    }

    /// Behind a tmux the terminal may be another by now, which was never sent what is shown.
    private func showPicturesAnew() {
        guard isActive, pixels.isThroughTmux, !pixels.isEmpty else { return }
        output.send(pixels.clear())
        setNeedsFrame()
    }

    private func handle(_ event: SignalSources.Event) {
        switch event {
        case .resize:
            adopt()
            askAboutCells()
            setNeedsFrame()
        case .stop: suspend()
        case .goOn: enterAgain()
        case .interrupt, .terminate: onEnd(event.number)
        case .hangUp:
            isHungUp = true
            onEnd(event.number)
        }
    }

    /// What a crash handler sends, since it cannot ask ncurses.
    private var leavingSequence: [UInt8] {
        var bytes = environment.isXtermLike ? Array(Self.modesOff.utf8) : []
        for name in ["sgr0", "cnorm", "rmkx", "rmcup"] { bytes += screen.keyString(name) ?? [] }
        return bytes
    }

    private var modesOn: String { followsMouse ? Self.modesOn + Self.mouseOn : Self.modesOn }

    /// Bracketed paste, and reports when the window comes to the front.
    private static let modesOn = "\u{1B}[?2004h\u{1B}[?1004h"
    /// Those no more, and whatever was held back to be shown at once: a frame may have been cut off in its middle.
    private static let modesOff = updateEnd + mouseOff + "\u{1B}[?1004l\u{1B}[?2004l"
    /// What is sent in between is shown at once (synchronised output).
    private static let updateBegin = "\u{1B}[?2026h"
    private static let updateEnd = "\u{1B}[?2026l"
    /// Reports of the mouse's buttons, and of its moves while one is down, in a form without bounds (SGR).
    private static let mouseOn = "\u{1B}[?1002h\u{1B}[?1006h"
    private static let mouseOff = "\u{1B}[?1006l\u{1B}[?1002l"
}

/// What the terminal can do: it is asked, and drawn on accordingly.
extension Terminal {
    /// Asks the terminal who it is and what it can do, if it is of a kind that knows such questions.
    private func askEverything() {
        guard environment.isXtermLike, let interview else { return }
        interview.stop()
        asked = TerminalIdentity(environment, TerminalAnswers()).questions.filter { !$0.isForOuter }
        // Who prints what he does not understand does so behind the cursor, where there is nothing yet, and it is erased
        // (DECSC, DECRC, EL).
        interview.ask(asked) { Array("\(modesOn)\u{1B}7".utf8) + $0 + Array("\u{1B}8\u{1B}[K".utf8) }
    }

    /// Asks again what may have become another matter, in another window or on another screen, if it answers at all.
    private func askAboutCells() {
        guard isActive, let interview, interview.answers.attributes != nil else { return }
        interview.ask(asked.intersection([.cellSize, .areaSize, .background, .outerVersion, .outerKitty]))
    }

    /// Draws with what has been found out, if that makes a difference.
    private func adopt() {
        askFurther()
        let findings = findings
        if findings != told { onFindings(findings) }
        told = findings
        guard findings.capabilities != capabilities else { return }
        if findings.capabilities.pixels != capabilities.pixels {
            // What is shown was sent in the old way, and is removed in it.
            let removal = pixels.clear()
            if isActive { output.send(removal) }
            pixels = PixelLayer(isThroughTmux: findings.capabilities.pixels?.isThroughTmux ?? false)
        }
        screen.use { $0 = findings.capabilities }
        onCapabilities(findings.capabilities)
        setNeedsFrame()
    }

    /// Some questions are for terminals that have first said who they are.
    private func askFurther() {
        guard isActive, let interview, interview.answers.attributes != nil else { return }
        let questions = TerminalIdentity(environment, interview.answers).questions.subtracting(asked)
        asked.formUnion(questions)
        interview.ask(questions)
    }
}
