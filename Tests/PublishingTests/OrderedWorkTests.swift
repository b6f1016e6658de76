import Dispatch
import Concurrency
import TestSupport
import Testing

@testable import Publishing

@Suite(.ownThread) struct OrderedWorkTests {
    @Test func itComesBackAsItWasGiven() {
        let work = OrderedWork<Int>(Workers(name: "test", count: 2), room: 3)
        #expect(work.next() == nil && !work.isFull)
        // The first cannot end before the second has.
        let gate = DispatchSemaphore(value: 0)
        work.add {
            gate.wait()
            return 1
        }
        work.add {
            gate.signal()
            return 2
        }
        work.add(done: 3)
        #expect(work.isFull)
        #expect([work.next(), work.next(), work.next(), work.next()] == [1, 2, 3, nil])
    }
}
