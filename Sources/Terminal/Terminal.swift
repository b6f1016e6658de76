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
    /// Called when the program should end: the signal that says so, or nil when the terminal is gone.
    public var onEnd: (Int32?) -> Void = { _ in }

    private let tty: TTY
    private let environment: TerminalEnvironment
    private let screen: NcursesScreen
    private let output: OutputQueue
    private var input: InputReader?
    private var signals: SignalSources?
    private var frames: FrameLoop?
    private var isActive = false
    private var pixels: PixelLayer
    /// Pictures are shown with all their pixels when nothing has changed for a moment: who moves on sees symbols.
    private lazy var rest = RestTimer { [weak self] in self?.showPicture() }

    /// Looks at the terminal, and leaves it as it is.
    public init(_ environment: TerminalEnvironment) throws(TerminalError) {
        self.environment = environment
        tty = try TTY()
        let geometry = tty.geometry
        screen = try NcursesScreen(environment, size: geometry.size, cellAspect: geometry.cellAspect)
        output = OutputQueue(tty.descriptor)
        pixels = PixelLayer(isThroughTmux: false)
    }

    /// What the terminal can show, as far as it is used.
    public var capabilities: Capabilities { screen.used }

    /// Uses less, or more, than was found.
    public func use(_ change: (inout Capabilities) -> Void) {
        let bytes = pixels.clear()
        if isActive { output.send(bytes) }
        screen.use(change)
        pixels = PixelLayer(isThroughTmux: screen.used.pixels?.isThroughTmux ?? false)
        setNeedsFrame()
    }

    /// Takes the terminal over.
    public func start() {
        let frames = FrameLoop(isReady: { [output] in output.isIdle }, draw: { [weak self] in self?.draw() })
        self.frames = frames
        output.onIdle = { [weak self, weak frames] in
            frames?.noteReady()
            if let self, !self.pixels.isComplete { self.rest.begin() }
        }
        output.onGone = { [weak self] in self?.onEnd(nil) }
        signals = SignalSources { [weak self] in self?.handle($0) }
        let input = InputReader(
            tty.descriptor, sequences: KeySequences { screen.keyString($0) }, escapeWait: environment.escapeWait)
        input.onEvent = { [weak self] in self?.onEvent($0) }
        input.onGone = { [weak self] in self?.onEnd(nil) }
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
        signals?.close()
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
        var bytes = screen.clears(for: surface.size) ? pixels.clear() : []
        bytes += pixels.prepare(for: surface.placements, on: surface.size)
        if let text = screen.update(to: surface, ceded: pixels.ceded) {
            output.send(bytes + text)
        } else {
            bytes += pixels.clear()
            output.send(bytes + screen.update(to: surface))
        }
        if pixels.isComplete { rest.cancel() } else { rest.begin() }
    }

    /// Shows the pixels of one more picture: one at a time, so that a frame never waits for more than that.
    private func showPicture() {
        guard isActive, output.isIdle, let (bytes, ceded) = pixels.showNext() else { return }
        // Save the cursor and its colours and put them back (DECSC, DECRC): ncurses believes it to be where it left it.
        let save = Array("\u{1B}7".utf8)
        let restore = Array("\u{1B}8".utf8)
        output.send(save + bytes + restore + (ceded.map { screen.cede($0) } ?? []))
        if !pixels.isComplete, output.isIdle { rest.begin(after: .zero) }
    }

    private func enter() {
        guard !isActive else { return }
        isActive = true
        tty.makeRaw()
        var modes = tty.originalModes
        let rescue = Array(leavingSequence)
        vitrine_rescue_arm(tty.descriptor, &modes, rescue, rescue.count)
        output.send(environment.isXtermLike ? Array(Self.modesOn.utf8) : [])
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
        let modesOff = pixels.clear() + (environment.isXtermLike ? Array(Self.modesOff.utf8) : [])
        output.sendAndWait(modesOff + screen.leave(), short: leavingSequence)
        tty.makeOriginal()
        vitrine_rescue_disarm()
    }

    private func handle(_ event: SignalSources.Event) {
        switch event {
        case .resize: setNeedsFrame()
        case .stop: suspend()
        case .goOn: enterAgain()
        case .interrupt, .terminate, .hangUp: onEnd(event.number)
        }
    }

    /// What a crash handler sends, since it cannot ask ncurses.
    private var leavingSequence: [UInt8] {
        var bytes = environment.isXtermLike ? Array(Self.modesOff.utf8) : []
        for name in ["sgr0", "cnorm", "rmkx", "rmcup"] { bytes += screen.keyString(name) ?? [] }
        return bytes
    }

    /// Bracketed paste, and reports when the window comes to the front.
    private static let modesOn = "\u{1B}[?2004h\u{1B}[?1004h"
    private static let modesOff = "\u{1B}[?1004l\u{1B}[?2004l"
}
