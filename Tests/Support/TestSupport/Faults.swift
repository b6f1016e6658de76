import Foundation

/// Disk faults for a program that a test starts.
///
/// The calls that change a folder are numbered, over all threads. Chosen calls fail, or the program is killed there.
///
///     let faults = Faults(in: home.caches, .error(ENOSPC, 17...17))
///     try home.vitrine("sync", environment: faults.environment)
///     print(faults.calls.count)
public final class Faults: Sendable {
    /// The effect on calls, by their numbers from 1.
    public enum Kind: Sendable {
        /// The calls are only counted.
        case none
        /// The program is killed before this call.
        case kill(at: Int)
        /// These calls do nothing and return an error.
        case error(Int32, ClosedRange<Int>)
        /// This call and all later ones do nothing and return an error.
        case errorFrom(Int32, Int)
    }

    /// A recorded call.
    public struct Call: Hashable, Sendable {
        /// The name of the function.
        public let name: String
        /// The file, or the first of two.
        public let path: String

        /// Creates a call.
        public init(name: String, path: String) {
            (self.name, self.path) = (name, path)
        }
    }

    private let folder: String
    private let kind: Kind
    private let chosen: Call?
    private let log = TestFolder()

    /// Creates faults for a folder and its contents.
    ///
    /// With `chosen`, only calls of that name whose path contains its path count.
    public init(in folder: String, _ kind: Kind = .none, only chosen: Call? = nil) {
        self.folder = folder
        self.kind = kind
        self.chosen = chosen
    }

    /// Returns the variables that make a program's waits shorter: its clock of waits runs `rate` times as fast.
    public static func hurry(_ rate: Int) -> [String: String] {
        ["LD_PRELOAD": Built.folder + "/libFaults.so", "VITRINE_FAULTS_HURRY": "\(rate)"]
    }

    /// The variables that apply the faults to a program.
    public var environment: [String: String] {
        var environment = [
            "LD_PRELOAD": Built.folder + "/libFaults.so", "VITRINE_FAULTS_FOLDER": folder,
            "VITRINE_FAULTS_LOG": log.path("calls"),
        ]
        environment["VITRINE_FAULTS_CALL"] = chosen?.name
        environment["VITRINE_FAULTS_PART"] = chosen?.path
        switch kind {
        case .none: break
        case .kill(let number): environment["VITRINE_FAULTS_FIRST"] = "\(number)"
        case .error(let error, let numbers):
            environment["VITRINE_FAULTS_ERROR"] = "\(error)"
            environment["VITRINE_FAULTS_FIRST"] = "\(numbers.lowerBound)"
            environment["VITRINE_FAULTS_LAST"] = "\(numbers.upperBound)"
        case .errorFrom(let error, let number):
            environment["VITRINE_FAULTS_ERROR"] = "\(error)"
            environment["VITRINE_FAULTS_FIRST"] = "\(number)"
            environment["VITRINE_FAULTS_LAST"] = "0"
        }
        return environment
    }

    /// The calls so far, including failed ones.
    public var calls: [Call] {
        let text = String(decoding: loggedText, as: UTF8.self)
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 2)
            return words.count == 3 ? Call(name: String(words[1]), path: String(words[2])) : nil
        }
    }

    /// The lines in the file, whose beginning has the number of calls, a flag and the number of the text's bytes.
    private var loggedText: Data {
        guard let file = FileHandle(forReadingAtPath: log.path("calls")),
            let head = try? file.read(upToCount: 24), head.count == 24
        else { return Data() }
        let length = head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: Int.self) }
        return (try? file.read(upToCount: length)) ?? Data()
    }
}
