import Dispatch
import Files
import Glibc

/// Opens the files that transfers read, as far as they may be reached.
final class FileOpener: Sendable {
    /// Below a folder the folder is open too for a moment, and a gallery's transfers begin all at once: that would take twice
    /// as many file descriptors as the transfers themselves.
    private let turns = DispatchSemaphore(value: 2)

    /// Opens the file that a request is for, if it may be reached. The descriptor is the caller's.
    func open(_ request: HTTPRequest) throws(HTTPError) -> Int32 {
        let path = Self.path(of: request.url)
        // The system would take it for the end.
        guard !path.contains(0) else { throw .file("no name has a zero in it") }
        do throws(SystemError) {
            switch request.addressPolicy {
            case .anywhere: return try Self.open(path)
            case .filesBelow(let url):
                turns.wait()
                defer { turns.signal() }
                return try Self.open(path, below: Self.path(of: url))
            case .publicOnly: throw SystemError(EXDEV)
            }
        } catch {
            if DescriptorProbe.isShortage(error.code) { throw .tooFewDescriptors }
            throw .file(
                error.leavesFolder
                    ? "it lies outside of the gallery’s folder, or a link there leads outside" : "\(error)")
        }
    }

    private static func open(_ path: [UInt8]) throws(SystemError) -> Int32 {
        // A pipe that nobody writes to would make us wait here, and is no file.
        let file = Glibc.open(
            (path + [0]).map { CChar(bitPattern: $0) }, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { throw SystemError() }
        return file
    }

    private static func open(_ path: [UInt8], below folder: [UInt8]) throws(SystemError) -> Int32 {
        let slash = UInt8(ascii: "/")
        let folder = folder.last == slash ? folder : folder + [slash]
        guard path.starts(with: folder) else { throw SystemError(EXDEV) }
        let rest = path.dropFirst(folder.count).drop { $0 == slash }
        return try FolderBoundary(bytes: folder).open(bytes: Array(rest))
    }

    /// The path of a URL, with its percent signs resolved. It is bytes: names of files need not be text.
    private static func path(of url: String) -> [UInt8] {
        var rest = Array(url.utf8.dropFirst("file://".utf8.count).drop { $0 != UInt8(ascii: "/") })[...]
        var path: [UInt8] = []
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), let resolved = Self.byte(digits) {
                rest = rest.dropFirst(digits.count)
                path.append(resolved)
            } else {
                path.append(byte)
            }
        }
        return path
    }

    /// The byte that two hexadecimal digits mean; nil if they are none.
    private static func byte(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return values.count == 2 ? UInt8(truncatingIfNeeded: values[0] << 4 | values[1]) : nil
    }
}
