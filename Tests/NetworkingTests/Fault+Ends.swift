import TestSupport

/// How a connection can end while it is not known whether all has come.
extension Fault {
    static let ends = [
        Fault(
            "close: never, of a body without a length", "the server has stopped sending", .passing,
            .answers([.send(ok + "\r\n<album/>"), .hold(Gate())])
        ).slow
    ]
}
