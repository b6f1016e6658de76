import Model
import Streams

/// What waits for another attempt, and what makes it come sooner.
extension NetworkController {
    /// Asked for again while it was put off: it need not wait any longer. But a key that is held down asks thirty times a
    /// second, and an attempt that has only just failed would fail again: so there is a second between two of them.
    func renew(_ subject: Wish.Subject) {
        guard case .waiting(let wait) = agenda.state(of: subject) else { return }
        governor.endSilence(of: wait.host)
        let soon = wait.since + .seconds(1)
        if clock.now >= soon {
            agenda.enqueue(subject)
        } else if wait.until.map({ $0 > soon }) ?? true {
            var wait = wait
            (wait.until, wait.earliest) = (soon, soon)
            agenda.note(.waiting(wait), subject)
        }
    }

    /// What the disk did not take may be taken by now: the gallery is updated, and that was written.
    func renewUnstored(of gallery: GalleryID) {
        for (subject, wait) in agenda.waiting where subject.gallery == gallery && wait.until == nil { renew(subject) }
    }

    /// A host that answers one will answer the others.
    func wakeOthers(waitingFor host: String) {
        guard !host.isEmpty else { return }
        agenda.wake(host, at: clock.now) { schedule.chance() }
    }

    /// There is a network again. It has a few seconds to come to itself, and they do not all come at once.
    func noteNetwork(_ presence: NetworkPresence) {
        guard presence.isThere else { return }
        governor.noteNetwork(at: clock.now.seconds)
        agenda.wakeAll { clock.now + .seconds(3 + schedule.chance()) }
        look()
    }

    /// One alarm for everything that waits, set to the first of it.
    func setAlarm() {
        let due = agenda.firstDue
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
        agenda.enqueueDue(at: clock.now)
        look()
    }
}
