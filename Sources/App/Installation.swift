import Glibc
import Model

/// The paths of the files that are installed with the program.
struct Installation {
    /// The path of this program.
    let program: String
    /// The path of the decoder program.
    let decoder: String
    /// The path of the fetcher program.
    let fetcher: String
    /// The address of the example gallery, if the example gallery is installed.
    let testGallery: Address?

    /// The path of the table of towns, if it is installed.
    let towns: String?

    /// Searches for the files beside the program, in an installation or a build folder.
    init() {
        program = Self.programPath
        let folder = String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
        // An installation has PREFIX/bin, PREFIX/libexec and PREFIX/share; a build has one folder.
        let other = { (name: String) in
            let paths = [folder + "/" + name, folder + "/../libexec/vitrine/" + name]
            return paths.first { access($0, X_OK) == 0 } ?? paths[0]
        }
        (decoder, fetcher) = (other("vitrine-decoder"), other("vitrine-fetcher"))
        // A build folder may be a link, so it lies two or three folders below the sources.
        let (shared, sources) = (folder + "/../share/vitrine/", [folder + "/../../../", folder + "/../../"])
        let galleries = ([shared] + sources).map { $0 + "TestGallery" }
        testGallery = galleries.first { access($0 + "/index.xml", R_OK) == 0 }.map { Address(filePath: $0) }
        let tables = ([shared] + sources.map { $0 + "Tools/" }).map { $0 + "Towns/towns.table" }
        towns = tables.first { access($0, R_OK) == 0 }
    }

    /// A text that differs between versions of the decoder.
    var decoderEdition: String {
        var status = stat()
        guard stat(decoder, &status) == 0 else { return "none" }
        return "\(status.st_size)-\(status.st_mtim.tv_sec)"
    }

    private static var programPath: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
