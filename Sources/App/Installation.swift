import Glibc
import Model

/// Where the program finds what belongs to it.
struct Installation {
    /// The decoder's program.
    let decoder: String
    /// The TestGallery, if it is there.
    let testGallery: Address?

    /// Looks around the program's own file: as it is installed, and as it is built.
    init() {
        let folder = Self.programFolder
        // PREFIX/bin/vitrine has PREFIX/libexec and PREFIX/share beside it; a build has everything in one folder.
        let decoders = [folder + "/vitrine-decoder", folder + "/../libexec/vitrine/vitrine-decoder"]
        decoder = decoders.first { access($0, X_OK) == 0 } ?? decoders[0]
        let galleries = [
            folder + "/../share/vitrine/TestGallery", folder + "/../../../TestGallery", folder + "/../../TestGallery",
        ]
        testGallery = galleries.first { access($0 + "/index.xml", R_OK) == 0 }.map { Address(filePath: $0) }
    }

    /// Tells the decoder that is here from an older or a newer one.
    var decoderEdition: String {
        var status = stat()
        guard stat(decoder, &status) == 0 else { return "none" }
        return "\(status.st_size)-\(status.st_mtim.tv_sec)"
    }

    private static var programFolder: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
}
