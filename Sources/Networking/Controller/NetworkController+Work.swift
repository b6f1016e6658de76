import Cache
import Session
import HTTP
import Logging
import Model
import Numbers
import Scheduling

/// Requests from their beginning to their end.
extension NetworkController {
    /// What was transferred and is still being stored is in memory, so there is not to be too much of it: when a disk is
    /// slower than the network, the network waits.
    private static let maximumUnstoredTransfers = 64

    func startWhatMayStart() {
        refillSweeps()
        let now = clock.now.seconds
        while !isPaused, operations.values.count(where: \.isThrough) < Self.maximumUnstoredTransfers,
            let (subject, candidate, way) = table.next({ governor.admit($0, at: now) })
        {
            do {
                try start(subject, candidate.importance, over: way)
            } catch {
                // The cache cannot be read. There is nothing to fetch for; the next change asks again.
                context.log.error(.cache, "\(error)")
                settle(subject)
            }
        }
        setAlarm()
        setTick()
    }

    private func start(_ subject: Wish.Subject, _ importance: Importance, over way: Admission.Way) throws {
        guard let request = try request(for: subject) else { return settle(subject) }
        let identity = request.identity
        table.noteRunning(subject, identity)
        guard operations[identity] == nil else {
            operations[identity]?.serve(subject)
            return adaptImportance(of: identity)
        }
        request.noteBegun()
        putOff[subject] = nil
        let candidate = request.candidate(importance)
        operations[identity] = Operation(
            request, candidate, begin(request, candidate, over: way), beginning: clock.now, served: subject)
    }

    /// Sends a request. How that ends is heard of under the attempt's number.
    private func begin(
        _ request: any NetworkRequest, _ candidate: TransferCandidate, over way: Admission.Way
    ) -> Attempt {
        lastNumber += 1
        let (number, identity) = (lastNumber, request.identity)
        governor.noteStart(of: number, candidate, over: way, at: clock.now.seconds)
        let permit = TransferPermit(candidate.importance, over: way, in: governor.pieces(of: number)) {
            [meterNews] in meterNews.send(MeterNews())
        }
        let step = disturbance.next()
        let task = Task { [client, clock] in
            do {
                if step.delay > .zero { try await clock.sleep(until: clock.now + step.delay) }
                if let error = step.error { throw error }
                try await request.perform(over: client, with: permit)
                await finish(identity, number, nil)
            } catch {
                await finish(identity, number, error)
            }
        }
        numbers[number] = identity
        return Attempt(number, permit, task)
    }

    /// Asks once more for what hangs. What comes first counts; the other one is given up.
    func repeatWhatHangs() {
        guard !isPaused else { return }
        for (number, way) in governor.takeHanging(at: clock.now.seconds).sorted(by: { $0.key < $1.key }) {
            // What was let go in this very moment has not ended yet. Nobody waits for it.
            guard let operation = numbers[number].flatMap({ operations[$0] }), !operation.served.isEmpty,
                operation.attempt(number)?.task.isCancelled == false
            else { continue }
            var candidate = operation.candidate
            (candidate.importance, candidate.isAgain) = (operation.importance, true)
            operation.add(begin(operation.request, candidate, over: way))
        }
    }

    /// It is as important as the most important of those whom it serves.
    func adaptImportance(of identity: RequestIdentity) {
        guard let operation = operations[identity],
            let importance = operation.served.compactMap({ table.importance(of: $0) }).max(),
            importance != operation.importance
        else { return }
        operations[identity]?.importance = importance
        for attempt in operation.attempts {
            attempt.permit.setImportance(importance)
            governor.note(.importance(importance), of: attempt.number, at: clock.now.seconds)
        }
    }

    private func finish(_ identity: RequestIdentity, _ number: Int, _ error: (any Error)?) async {
        if let operation = operations[identity] { readMeters(of: operation) }
        // Of what was given up for another attempt nobody wants to know.
        guard let operation = operations[identity], let attempt = operation.attempt(number) else { return }
        let failure = error is CancellationError ? nil : error.map { RequestError($0) }
        // Nor of a failure, as long as there is another attempt.
        guard error == nil || operation.attempts.count == 1 else { return giveUp(attempt, of: operation, failure) }
        for rival in operation.attempts where rival !== attempt { giveUp(rival, of: operation) }
        operations[identity] = nil
        noteEnd(of: operation, failure)
        if let failure, !operation.served.isEmpty {
            let isAsked = operation.importance >= .lookedAt || operation.request.isNamedByUser
            await fail(operation, NetworkPresence.refine(isAsked ? failure : failure.deferred))
        } else if error != nil {
            // It may have failed just as it was let go: nobody asks why.
            operation.request.noteCancelled()
            // Wanted again meanwhile, or in another edition, or interrupted for something more important.
            operation.served.forEach { table.enqueue($0) }
        } else {
            unstored = 0
            logSuccess(of: operation)
            operation.request.noteDone()
            for subject in operation.servedEver { context.activity.forgetFailure(of: subject) }
            for subject in operation.served { settle(subject) }
            if case .list(let gallery) = identity.subject { retryUnstored(of: gallery) }
            wakeOthers(waitingFor: operation.candidate.host)
        }
        look()
    }

    /// Files of this machine come over no network, and are not worth an entry each.
    private func logSuccess(of operation: Operation) {
        guard !operation.candidate.isLocal else { return }
        let time = Int(clamped: (clock.now - operation.beginning).seconds * 1000)
        context.log.info(
            .network, "\(operation.request.address): \(operation.received) bytes received in \(time) ms")
    }

    private func fail(_ operation: Operation, _ error: RequestError) async {
        let failure = error.failure
        let attempts = operation.served.map { table.countFailure($0) }.max() ?? 1
        noteStorage(error, attempts, of: operation)
        // All of a photo would come again, for a disk that does not take it: it waits for somebody to ask, if there is anybody.
        let waitsForUser = error.storageTrouble != nil && operation.request.kind == .photo
        guard failure.isTemporary, !waitsForUser || schedule.maximumAttempts == nil,
            let delay = schedule.delay(afterAttempts: attempts, retryAfter: error.retryAfter)
        else {
            report(failure, attempts, of: operation, until: nil)
            await operation.request.noteFailed(failure)
            return giveUp(operation)
        }
        let until = waitsForUser ? nil : clock.now + delay
        report(failure, attempts, of: operation, until: until)
        let wait = RequestTable.Wait(
            since: clock.now, until: until, earliest: clock.now + min(.seconds(error.retryAfter ?? 0), delay),
            host: operation.candidate.host, failure: failure, attempts: attempts)
        // First here and then in the cache: the row's change must find it waiting.
        for subject in operation.served {
            table.note(.waiting(wait), subject)
            if table.isWanted(subject) { putOff[subject] = operation.request }
            beingPutOff[subject] = false
        }
        await operation.request.notePutOff(failure)
        for subject in operation.served where beingPutOff.removeValue(forKey: subject) == true { reconsider(subject) }
        // While that was written it may have been stopped, or have been due. Then something else is to be seen of it.
        // If it waits for less by now, that is what is said.
        if let subject = operation.served.first(where: { table.isWaiting($0, since: wait) }) { announceWait(subject) }
    }

    /// So many in a row that could not be stored are no accident.
    private static let maximumUnstored = 8

    private func noteStorage(_ error: RequestError, _ attempts: Int, of operation: Operation) {
        guard let trouble = error.storageTrouble else { return }
        context.activity.report(trouble)
        unstored += 1
        if attempts > 1 || unstored > Self.maximumUnstored || operation.request.kind == .photo {
            endSweeps(of: operation.request.identity.subject.gallery)
        }
    }

    /// It has failed for good, and that is written down. Meanwhile it may have been let go, or begun anew.
    private func giveUp(_ operation: Operation) {
        let identity = operation.request.identity
        let successor = operations[identity]
        if successor == nil { operation.request.noteDone() }
        for subject in operation.served
        where table.state(of: subject) == .running(identity) && successor?.served.contains(subject) != true {
            settle(subject)
        }
    }

    /// Nothing is left to do for it. What was asked for once has thereby come true, or never will.
    func settle(_ subject: Wish.Subject) {
        putOff[subject] = nil
        table.noteSettled(subject)
        wishes.fulfil(subject)
        guard let cache = context.caches.cache(subject.gallery) else { return }
        for sweep in sweeps.keys {
            if subject == .list(subject.gallery) { sweeps[sweep]?.noteList(of: subject.gallery) }
            try? sweeps[sweep]?.noteSettled(subject, cache)
        }
    }
}
