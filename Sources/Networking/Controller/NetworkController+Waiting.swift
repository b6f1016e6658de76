import Model
import Numbers
import Concurrency

/// What waits for another attempt, and what makes it come sooner.
extension NetworkController {
    /// Tries again at once what was asked for again, and begins its retry schedule anew: the failures before the user asked
    /// say nothing about how long to wait after this one.
    ///
    /// A key that is held down asks thirty times a second, and an attempt that has only just failed would fail again. So there
    /// is at least a second between two attempts.
    func retry(_ subject: Wish.Subject) {
        table.restartSchedule(of: subject)
        guard case .waiting(let wait) = table.state(of: subject) else { return }
        governor.endSilence(of: wait.host)
        let soon = wait.since + .seconds(1)
        if clock.now >= soon {
            table.enqueue(subject)
        } else if wait.until.map({ $0 > soon }) ?? true {
            var wait = wait
            (wait.until, wait.earliest) = (soon, soon)
            table.note(.waiting(wait), subject)
            announceWait(subject)
        }
    }

    /// Tells the request until when it waits, unless its failure is still being written down.
    func announceWait(_ subject: Wish.Subject) {
        guard beingPutOff[subject] == nil, case .waiting(let wait) = table.state(of: subject) else { return }
        putOff[subject]?.noteWaiting(wait.failure, until: wait.until.map(timeOfDay))
    }

    /// Tells the requests that are due and have not begun that no time is known any more: the user may have paused, or the
    /// host may have no room.
    func announceHeldBack(_ subjects: some Sequence<Wish.Subject>) {
        for subject in subjects {
            guard table.state(of: subject) == .queued, let failure = table.setback(of: subject)?.failure else {
                continue
            }
            putOff[subject]?.noteWaiting(failure, until: nil)
        }
    }

    /// What the disk did not take may be taken by now: the gallery is updated, and that was written.
    func retryUnstored(of gallery: GalleryID) {
        for (subject, wait) in table.waiting where subject.gallery == gallery && wait.until == nil { retry(subject) }
    }

    /// A host that answers one will answer the others.
    func wakeOthers(waitingFor host: String) {
        guard !host.isEmpty else { return }
        table.wake(host, at: clock.now) { schedule.chance() }.forEach(announceWait)
    }

    /// There is a network again. It has a few seconds to come to itself, and they do not all come at once.
    func noteNetwork(_ presence: NetworkPresence) {
        self.presence = presence
        guard presence.isThere else { return reportAtOnce() }
        governor.noteNetwork(at: clock.now.seconds)
        table.wakeAll { clock.now + .seconds(clamped: 3 + schedule.chance()) }.forEach(announceWait)
        look()
    }

    /// One alarm for everything that waits, set to the first of it.
    func setAlarm() {
        let due = table.firstDue
        guard due != alarm?.time else { return }
        alarm?.task.cancel()
        alarm = due.map { time in
            (
                time,
                Task { [clock] in
                    guard (try? await clock.sleep(until: time)) != nil else { return }
                    self.ring()
                }
            )
        }
    }

    private func ring() {
        alarm = nil
        let due = table.enqueueDue(at: clock.now)
        look()
        announceHeldBack(due)
    }
}
