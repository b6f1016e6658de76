import Cells

/// What the terminal can do: it is asked, and drawn on accordingly.
extension Terminal {
    /// Asks the terminal who it is and what it can do, if it is of a kind that knows such questions.
    func askEverything() {
        guard environment.isXtermLike, let interview else { return }
        interview.stop()
        asked = TerminalIdentity(environment, TerminalAnswers()).questions.filter { !$0.isForOuter }
        // Who prints what he does not understand does so behind the cursor, where there is nothing yet, and it is erased
        // (DECSC, DECRC, EL).
        interview.ask(asked) { Array("\(modesOn)\u{1B}7".utf8) + $0 + Array("\u{1B}8\u{1B}[K".utf8) }
    }

    /// Asks again what may have become another matter, in another window or on another screen, if it answers at all.
    func askAboutCells() {
        guard isActive, let interview, interview.answers.attributes != nil else { return }
        interview.ask(asked.intersection([.cellSize, .areaSize, .background, .outerVersion, .outerKitty]))
    }

    /// Draws with what has been found out, if that makes a difference.
    func adopt() {
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
    func askFurther() {
        guard isActive, let interview, interview.answers.attributes != nil else { return }
        let questions = TerminalIdentity(environment, interview.answers).questions.subtracting(asked)
        asked.formUnion(questions)
        interview.ask(questions)
    }
}
