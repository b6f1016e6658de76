import Foundation

/// Faults of the disk, for a program that is to be started: calls that change a folder are counted over all of its threads,
/// and one of them, or all from one on, fail or are its last.
///
///     let faults = Faults(in: home.caches, .error(ENOSPC, 17...17))
///     try home.vitrine("sync", environment: faults.environment)
///     print(faults.calls.count)
public final class Faults: Sendable {
    /// What becomes of calls, by their numbers, counted from one.
    public enum Kind: Sendable {
        /// They are counted, and nothing happens to them.
        case none
        /// The program is killed before this one is carried out.
        case kill(at: Int)
        /// These are not carried out, and return an error.
        case error(Int32, ClosedRange<Int>)
        /// This one and all that follow are not carried out, and return an error.
        case errorFrom(Int32, Int)
    }

    /// A call that was made.
    public struct Call: Hashable, Sendable {
        /// What it does, by the name of the function.
        public let name: String
        /// The file, or the first of two.
        public let path: String

        /// Names a call.
        public init(name: String, path: String) {
            (self.name, self.path) = (name, path)
        }
    }

    private let folder: String
    private let kind: Kind
    private let chosen: Call?
    private let log = TestFolder()

    /// Faults in a folder and in all that it holds. With `chosen`, only calls of that name whose path contains its path count.
    public init(in folder: String, _ kind: Kind = .none, only chosen: Call? = nil) {
        self.folder = folder
        self.kind = kind
        self.chosen = chosen
    }

    /// What makes a program suffer from them.
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

    /// The calls that have been made so far, those that failed included.
    public var calls: [Call] {
        let text = (try? String(contentsOfFile: log.path("calls"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 2)
            return words.count == 3 ? Call(name: String(words[1]), path: String(words[2])) : nil
        }
    }
}
