import Model
import TestSupport
import Testing

/// Something that goes wrong when a thing is asked for, what the user is told of it, and whether it is tried again.
///
///     Fault("body: reset", "the connection broke", .passing, .answers([.send("HTTP/1.1 200 OK\r\n…"), .reset]))
struct Fault: CustomTestStringConvertible, Sendable {
    /// What is asked for.
    enum Thing: String, CaseIterable, Sendable {
        case list
        case thumbnail
        case photo
    }

    /// How it comes about.
    enum Cause: Sendable {
        /// The server answers in that way.
        case answers([ScriptedServer.Step])
        /// Nobody listens at the server's port.
        case silence
        /// The server leads to another place, by a redirect of that kind.
        case leads(by: Int = 302, @Sendable (NetworkTest) throws -> Elsewhere)
        /// The server leads to another, by that scheme, and a proxy on the way answers so; nil if nobody listens at its port.
        case proxied(String, [ScriptedServer.Step]?)
    }

    /// Where a redirect leads.
    struct Elsewhere {
        let url: String
        /// What has to live until the test ends.
        var resident: (any Sendable)?
    }

    /// What is to become of the thing.
    enum Fate: Sendable {
        /// It is never asked for again.
        case final
        /// It is asked for again, after so many seconds at least.
        case passing(after: Int)

        static let passing = Fate.passing(after: 0)
    }

    let testDescription: String
    /// What the user reads; where it ends with an ellipsis it goes on. `HOST` is a server with its port.
    let reason: String
    let fate: Fate
    let cause: Cause
    var things = Set(Thing.allCases)
    /// What the user may read in its place, where curl itself says now one thing and now another.
    var otherReasons: Set<String> = []
    /// Whether each attempt takes a second.
    var isSlow = false
    /// Whether a machine that is on no network blames that.
    var isBlamedOnNetwork = false
    /// Bytes of a photo that are worth keeping for the next attempt.
    var kept = 0

    init(_ name: String, _ reason: String, _ fate: Fate, _ cause: Cause) {
        (testDescription, self.reason, self.fate, self.cause) = (name, reason, fate, cause)
    }

    /// It concerns these alone.
    func only(_ things: Thing...) -> Fault {
        var fault = self
        fault.things = Set(things)
        return fault
    }

    /// Any of these may be said in its place, at each attempt.
    func or(_ reasons: String...) -> Fault {
        var fault = self
        fault.otherReasons = Set(reasons)
        return fault
    }

    /// Each attempt takes a second, and a machine that is on no network blames that.
    var slow: Fault {
        var fault = self
        (fault.isSlow, fault.isBlamedOnNetwork) = (true, true)
        return fault
    }

    /// So many bytes of a photo are kept.
    func keeping(_ bytes: Int) -> Fault {
        var fault = self.only(.photo)
        fault.kept = bytes
        return fault
    }

    /// A machine that is on no network blames that.
    var blamedOnNetwork: Fault {
        var fault = self
        fault.isBlamedOnNetwork = true
        return fault
    }

    /// The proxy that it takes; one that has ended, where there is to be none.
    var proxy: ScriptedServer? {
        get throws {
            guard case .proxied(_, let steps) = cause else { return nil }
            let proxy = try ScriptedServer { _ in steps ?? [] }
            if steps == nil { proxy.stop() }
            return proxy
        }
    }

    /// A fault, and the thing that it happens to.
    struct Case: CustomTestStringConvertible, Sendable {
        let fault: Fault
        let thing: Thing

        var testDescription: String { "\(thing.rawValue): \(fault.testDescription)" }
    }

    /// Every fault with every thing that it can happen to.
    static let cases = all.flatMap { fault in
        Thing.allCases.filter(fault.things.contains).map { Case(fault: fault, thing: $0) }
    }
}
