/// A test's network in which this machine has a public address beside its private ones.
///
///     let network = try PublicNetwork()
///     let server = try network.server(at: PublicNetwork.address) { _ in .answer(200) }
///     let transfer = network.inside { client.transfer(request) }
///
/// A client stays in the network of its first transfer.
public struct PublicNetwork: Sendable {
    /// The public address. Packets to it stay on this machine.
    public static let address = "8.8.8.8"

    private let network: OwnNetwork

    /// Makes a network. It takes root: see ``OwnNetwork/isPossible``.
    public init() throws {
        network = try OwnNetwork()
        try network.ip("link", "set", "lo", "up")
        try network.ip("address", "add", Self.address + "/32", "dev", "lo")
    }

    /// Starts a server inside, at an address.
    ///
    /// - Parameter port: a certain port; nil for any free one.
    public func server(
        at host: String, port: Int = 0, _ script: @escaping @Sendable (ScriptedServer.Request) -> [ScriptedServer.Step]
    ) throws -> ScriptedServer {
        try inside { Swift.Result { try ScriptedServer(at: host, port: port, script) } }.get()
    }

    /// Runs code inside.
    public func inside<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        network.inside(body)
    }
}
