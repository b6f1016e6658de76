// swift-tools-version: 6.0
import PackageDescription

/// C libraries: a module map and a small shim each, imported by one Swift target alone.
let system: [Target] = [
    .systemLibrary(name: "CSQLite", path: "Sources/System/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CNcurses", path: "Sources/System/CNcurses", providers: [.apt(["libncursesw5-dev"])]),
    .systemLibrary(name: "CJPEG", path: "Sources/System/CJPEG", providers: [.apt(["libjpeg62-turbo-dev"])]),
    .systemLibrary(name: "CPNG", path: "Sources/System/CPNG", providers: [.apt(["libpng-dev"])]),
    // These five are loaded when something is asked of the network, when a gallery is read, and when such a picture is met.
    // They are not linked.
    .systemLibrary(name: "CCurl", path: "Sources/System/CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CLibXML2", path: "Sources/System/CLibXML2", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CWebP", path: "Sources/System/CWebP", providers: [.apt(["libwebp-dev"])]),
    .systemLibrary(name: "CTIFF", path: "Sources/System/CTIFF", providers: [.apt(["libtiff-dev"])]),
    .systemLibrary(
        name: "CHEIF", path: "Sources/System/CHEIF",
        providers: [.apt(["libheif-dev", "libde265-dev", "libdav1d-dev"])]),
    .systemLibrary(name: "CExif", path: "Sources/System/CExif", providers: [.apt(["libexif-dev"])]),
    .systemLibrary(name: "CMemory", path: "Sources/System/CMemory", providers: [.apt(["libc6-dev"])]),
    .systemLibrary(name: "CPackets", path: "Sources/System/CPackets", providers: [.apt(["libc6-dev"])]),
    .systemLibrary(name: "CConcurrency", path: "Sources/System/CConcurrency"),
    .systemLibrary(name: "CFolder", path: "Sources/System/CFolder", providers: [.apt(["libc6-dev"])]),
    .systemLibrary(name: "CSandbox", path: "Sources/System/CSandbox", providers: [.apt(["libc6-dev"])]),
    .systemLibrary(name: "CNetlink", path: "Sources/System/CNetlink", providers: [.apt(["libc6-dev"])]),
    .systemLibrary(name: "CSecret", path: "Sources/System/CSecret", providers: [.apt(["libc6-dev"])]),
]

/// The rooms, and what each may import. Nothing else: the build enforces it
/// (`--explicit-target-dependency-import-check error`), and `Scripts/check-imports` holds this table against the one in
/// docs/architecture.md.
let rooms: KeyValuePairs<String, [String]> = [
    "Text": [],
    "Streams": ["CConcurrency"],
    "Files": ["CFolder"],
    "Numbers": [],
    "Model": ["Numbers", "Text"],
    "Cells": ["Text"],
    "Logging": ["Text"],
    "SQLite": ["Streams", "CSQLite"],
    "Cache": ["Numbers", "Model", "Streams", "SQLite", "Logging"],
    "Formats": ["Model", "CLibXML2"],
    "HTTP": ["Files", "CCurl", "Numbers", "Logging", "Text"],
    "Traffic": ["Numbers", "Model"],
    "Networking": ["Numbers", "Model", "Streams", "Cache", "HTTP", "Formats", "Traffic", "Logging", "CNetlink"],
    "Pixels": ["CMemory", "CPackets"],
    "Baseline": [],
    "Decoding": ["Pixels", "Baseline", "CJPEG", "CPNG", "CWebP", "CTIFF", "CHEIF", "CExif"],
    "Confinement": ["CSandbox"],
    "Serving": ["Pixels", "Confinement"],
    "Pictures": ["Model", "Streams", "Cache", "Cells", "Text", "Pixels", "Logging"],
    "Terminal": ["Cells", "Text", "CNcurses"],
    "Commands": ["Cells"],
    "Settings": ["Files", "Model", "Commands"],
    "Secrets": ["Files", "Model", "CSecret"],
    "Screens": ["Numbers", "Model", "Cache", "Cells", "Text", "Pictures", "Commands", "Settings", "Logging", "Export"],
    "Export": ["Files", "Model", "Streams", "Cache", "Text"],
    "Publishing": ["Files", "Model", "Streams", "Pixels", "Pictures"],
    "Painting": [],
]

/// The programs, and what each may import.
let programs: KeyValuePairs<String, [String]> = [
    "vitrine": [
        "Text", "Streams", "Files", "Model", "Logging", "Cache", "HTTP", "Traffic", "Networking", "Cells", "Pixels",
        "Pictures",
        "Terminal",
        "Settings", "Secrets", "Screens", "Export", "Publishing",
    ],
    "vitrine-decoder": ["Pixels", "Decoding", "Confinement", "Serving"],
    "gallery-painter": ["Painting"],
]

/// Tests, a folder for each room, and what they use besides it.
let tests: KeyValuePairs<String, [String]> = [
    "Text": [],
    "Streams": ["CConcurrency", "TestSupport"],
    "Numbers": ["TestSupport"],
    "Model": [],
    "Cells": ["Text"],
    "Files": ["TestSupport"],
    "Logging": ["TestSupport"],
    "SQLite": ["TestSupport"],
    "Cache": ["Numbers", "SQLite", "Streams", "Model", "Logging", "TestSupport"],
    "Formats": ["Model", "TestSupport"],
    "HTTP": ["Logging", "Numbers", "TestSupport", "answer-mangler"],
    "Traffic": ["LinkSimulation", "Model", "TestSupport"],
    "Networking": [
        "Cache", "HTTP", "Logging", "Model", "Numbers", "SQLite", "Streams", "Traffic", "TestSupport", "queue-cost",
    ],
    "Pixels": ["PictureTestSupport", "TestSupport"],
    "Baseline": ["TestSupport"],
    "Decoding": ["Pixels", "PictureTestSupport", "TestSupport"],
    "Confinement": ["Pixels", "PictureTestSupport", "TestSupport", "confinement-probe", "vitrine-decoder"],
    "Pictures": [
        "Cache", "Cells", "Logging", "Model", "Pixels", "PictureTestSupport", "TestSupport", "vitrine-decoder",
        "broken-decoder", "decoder-customer",
    ],
    "Terminal": ["Cells", "Text", "TestSupport"],
    "Commands": ["Cells"],
    "Settings": ["Cells", "Commands", "Model", "TestSupport"],
    "Secrets": ["Model", "TestSupport"],
    "Screens": [
        "Cache", "Cells", "Commands", "Logging", "Model", "Numbers", "Pictures", "Pixels", "PictureTestSupport",
        "Settings", "TestSupport",
        "vitrine-decoder",
    ],
    "Export": ["Cache", "Files", "Logging", "Model", "TestSupport"],
    "Publishing": ["Formats", "Model", "Pictures", "PictureTestSupport", "Streams", "TestSupport", "vitrine-decoder"],
    "Painting": [],
]

/// Rooms of values that tests drive through hundreds of networks, at a million events each, or through thousands of damaged
/// pictures: even a build for debugging is to be quick with them.
let driven: Set = ["Traffic", "Baseline"]

func dependencies(_ names: [String]) -> [Target.Dependency] {
    names.map { .byName(name: $0) }
}

let package = Package(
    name: "vitrine",
    products: [
        // Loaded into programs under test, to let their calls fail.
        .library(name: "Faults", type: .dynamic, targets: ["CFaults"]),
        // Loaded into the tests under the thread sanitizer, to tell it of locks.
        .library(name: "Mutexes", type: .dynamic, targets: ["CMutexes"]),
    ],
    targets: system
        + rooms.map {
            .target(
                name: $0.key, dependencies: dependencies($0.value),
                swiftSettings: driven.contains($0.key) ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])
        }
        + programs.map { .executableTarget(name: $0.key, dependencies: dependencies($0.value)) }
        + [
            .target(name: "CFaults", path: "Tests/CFaults"),
            .target(name: "CMutexes", path: "Tests/CMutexes"),
            .target(name: "TestSupport", path: "Tests/TestSupport", exclude: ["FaultyServers"]),
            .target(
                name: "LinkSimulation", dependencies: ["Model", "Traffic", "TestSupport"], path: "Tests/LinkSimulation",
                swiftSettings: [.unsafeFlags(["-O"])]),
            .executableTarget(
                name: "network-table", dependencies: ["LinkSimulation", "Traffic"], path: "Tests/NetworkTable"),
            .executableTarget(
                name: "picture-quality",
                dependencies: ["Cells", "Decoding", "Pictures", "Pixels", "PictureTestSupport"],
                path: "Tests/PictureQuality"),
            .target(name: "CForbidden", path: "Tests/CForbidden"),
            .executableTarget(
                name: "confinement-probe", dependencies: ["CForbidden", "Confinement"], path: "Tests/ConfinementProbe"),
            .executableTarget(
                name: "broken-decoder", dependencies: ["Pixels", "Serving"], path: "Tests/BrokenDecoder"),
            .executableTarget(
                name: "decoder-customer", dependencies: ["Pictures", "Pixels"], path: "Tests/DecoderCustomer"),
            .executableTarget(
                name: "queue-cost", dependencies: ["Cache", "HTTP", "Logging", "Model", "Networking", "Traffic"],
                path: "Tests/QueueCost"),
            .executableTarget(
                name: "decoder-cost", dependencies: ["Decoding", "Pictures", "Pixels"], path: "Tests/DecoderCost"),
            .executableTarget(
                name: "picture-mangler", dependencies: ["Decoding", "Pixels", "PictureTestSupport", "TestSupport"],
                path: "Tests/PictureMangler"),
            .executableTarget(
                name: "answer-mangler", dependencies: ["HTTP", "Logging", "Numbers", "TestSupport"],
                path: "Tests/AnswerMangler"),
            .target(
                name: "PictureTestSupport", dependencies: ["Pixels", "TestSupport"], path: "Tests/PictureTestSupport"),
            .testTarget(
                name: "EndToEndTests",
                dependencies: ["vitrine", "vitrine-decoder", "Cache", "Logging", "Model", "SQLite", "TestSupport"]),
            .testTarget(
                name: "DecoderProcessTests", dependencies: ["vitrine-decoder", "Pixels", "PictureTestSupport"]),
        ]
        + tests.map { room, others in
            .testTarget(
                name: room + "Tests", dependencies: dependencies([room] + others),
                // Shell scripts, which are run where they lie, and texts, which are read there.
                exclude: ["Pictures": ["BrokenDecoders"], "Screens": ["Recorded"]][room] ?? [])
        }
)

/// Where Debian has libxml2's headers, which name each other by the folder below it. Asked for it, pkg-config would have the
/// library linked as well. It is for all targets: whoever imports a room has the compiler look at the C modules behind it.
let xmlHeaders = SwiftSetting.unsafeFlags(["-Xcc", "-I/usr/include/libxml2"])

for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [xmlHeaders]
}
