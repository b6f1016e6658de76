import Foundation

/// A network of a test's own: a namespace with only a loopback interface, which is down.
///
///     let network = try OwnNetwork()
///     try network.ip("link", "set", "lo", "up")
///     let addresses = network.inside { … }
///
/// A thread is in one namespace, and its sockets and children stay there. So code inside runs on a thread of its own
/// while other tests run outside.
public final class OwnNetwork: Sendable {
    private let namespace: Int32

    private typealias Unshare = @convention(c) (Int32) -> Int32
    private typealias Enter = @convention(c) (Int32, Int32) -> Int32
    private typealias Mount =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafePointer<CChar>, UnsafePointer<CChar>?, UInt, UnsafeRawPointer?
        ) -> Int32
    private static let networks: Int32 = 0x4000_0000  // CLONE_NEWNET
    private static let mounts: Int32 = 0x0002_0000  // CLONE_NEWNS

    private struct NotPossible: Error {}

    /// Whether it is possible here. It takes root.
    public static var isPossible: Bool { (try? OwnNetwork()) != nil }

    /// The words before a program that runs in a network of its own with the loopback interface up; nil if that is not
    /// possible here. A plain user becomes root of the namespace.
    public static let launcher: [String]? = {
        for words in [[], ["--user", "--map-root-user"]] {
            let script = #"/usr/sbin/ip link set lo up && exec "$0" "$@""#
            let launcher = ["/usr/bin/unshare", "--net"] + words + ["/bin/sh", "-c", script]
            let probe = try? Command(launcher[0], launcher.dropFirst() + ["/bin/true"])
            if probe?.status == 0 { return launcher }
        }
        return nil
    }()

    /// Makes a network.
    public init() throws {
        let unshare: Unshare = Self.function("unshare")
        let networks = Self.networks
        namespace = Self.onThread {
            guard unshare(networks) == 0 else { return -1 }
            return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        }
        guard namespace >= 0 else { throw NotPossible() }
    }

    deinit {
        if namespace >= 0 { close(namespace) }
    }

    /// Runs code inside.
    public func inside<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        let enter: Enter = Self.function("setns")
        let (namespace, networks) = (namespace, Self.networks)
        return Self.onThread {
            precondition(enter(namespace, networks) == 0, "the namespace is gone")
            return body()
        }
    }

    /// Runs code inside with some system files replaced.
    ///
    /// - Parameter files: the replacements by path.
    public func inside<Result: Sendable>(
        with files: [(file: String, place: String)], _ body: @escaping @Sendable () -> Result
    ) -> Result {
        let (unshare, mount): (Unshare, Mount) = (Self.function("unshare"), Self.function("mount"))
        let mounts = Self.mounts
        return inside {
            // The mounts are private to this thread: MS_REC, MS_PRIVATE, and then MS_BIND.
            precondition(unshare(mounts) == 0 && mount(nil, "/", nil, 0x4_4000, nil) == 0, "no mounts of its own")
            for (file, place) in files where access(place, F_OK) == 0 {
                precondition(mount(file, place, nil, 0x1000, nil) == 0, "\(place) cannot be another file")
            }
            return body()
        }
    }

    /// Runs `ip` inside.
    public func ip(_ words: String...) throws {
        let errors = inside { () -> String? in
            do {
                let command = try Command("/usr/sbin/ip", words)
                return command.status == 0 ? nil : command.errors
            } catch {
                return "\(error)"
            }
        }
        if let errors { throw IPError(description: "ip \(words.joined(separator: " ")): \(errors)") }
    }

    private struct IPError: Error, CustomStringConvertible {
        let description: String
    }

    /// Functions of the C library that Swift does not import.
    private static func function<Function>(_ name: String) -> Function {
        unsafeBitCast(dlsym(dlopen(nil, RTLD_NOW), name), to: Function.self)
    }

    private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        let (done, box) = (DispatchSemaphore(value: 0), Box<Result>())
        Thread.detachNewThread {
            box.result = body()
            done.signal()
        }
        done.wait()
        return box.result!
    }

    /// Written before the signal and read after it.
    private final class Box<Result>: @unchecked Sendable {
        var result: Result?
    }
}
