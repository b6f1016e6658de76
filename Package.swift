// swift-tools-version: 6.0
import PackageDescription

/// C libraries: a module map and a small shim each. One Swift target imports each of them.
let system: [Target] = [
    .systemLibrary(name: "CSQLite", path: "Sources/System/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CNcurses", path: "Sources/System/CNcurses", providers: [.apt(["libncursesw5-dev"])]),
    .systemLibrary(name: "CJPEG", path: "Sources/System/CJPEG", providers: [.apt(["libjpeg62-turbo-dev"])]),
    .systemLibrary(name: "CPNG", path: "Sources/System/CPNG", providers: [.apt(["libpng-dev"])]),
    // These eight are not linked. Vitrine loads them with the first request, gallery, picture or video.
    .systemLibrary(name: "CCurl", path: "Sources/System/CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CLibXML2", path: "Sources/System/CLibXML2", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CWebP", path: "Sources/System/CWebP", providers: [.apt(["libwebp-dev"])]),
    .systemLibrary(name: "CTIFF", path: "Sources/System/CTIFF", providers: [.apt(["libtiff-dev"])]),
    .systemLibrary(
        name: "CHEIF", path: "Sources/System/CHEIF",
        providers: [.apt(["libheif-dev", "libde265-dev", "libdav1d-dev"])]),
    .systemLibrary(name: "CJXL", path: "Sources/System/CJXL", providers: [.apt(["libjxl-dev"])]),
    .systemLibrary(
        name: "CVideo", path: "Sources/System/CVideo",
        providers: [.apt(["libavcodec-dev", "libavformat-dev", "libavutil-dev"])]),
    .systemLibrary(name: "CRaw", path: "Sources/System/CRaw", providers: [.apt(["libraw-dev"])]),
    .systemLibrary(name: "CExif", path: "Sources/System/CExif", providers: [.apt(["libexif-dev"])]),
    .systemLibrary(name: "CMemory", path: "Sources/System/CMemory", providers: [.apt(["libc6-dev"])]),
    .systemLibrary(name: "CPackets", path: "Sources/System/CPackets", providers: [.apt(["libc6-dev"])]),
    .systemLibrary(name: "CConcurrency", path: "Sources/System/CConcurrency"),
    .systemLibrary(name: "CZlib", path: "Sources/System/CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CFolder", path: "Sources/System/CFolder", providers: [.apt(["libc6-dev"])]),
    .systemLibrary(name: "CSandbox", path: "Sources/System/CSandbox", providers: [.apt(["libc6-dev"])]),
    .systemLibrary(name: "CNetlink", path: "Sources/System/CNetlink", providers: [.apt(["libc6-dev"])]),
    .systemLibrary(name: "CSecret", path: "Sources/System/CSecret", providers: [.apt(["libc6-dev"])]),
]

/// Modules and their allowed imports. The build enforces them (`--explicit-target-dependency-import-check error`), and
/// `Tools/Scripts/check-imports` compares this table with the one in docs/architecture.md.
let modules: KeyValuePairs<String, [String]> = [
    "Text": [],
    "Concurrency": ["CConcurrency"],
    "Files": ["CFolder", "CZlib"],
    "Numbers": [],
    "Model": ["Numbers", "Text"],
    "Cells": ["Text"],
    "Logging": ["Text"],
    "SQLite": ["Concurrency", "CSQLite"],
    "Towns": ["Files", "Numbers", "Model"],
    "Session": ["Numbers", "Model", "Concurrency"],
    "Cache": ["Files", "Numbers", "Model", "Towns", "Concurrency", "SQLite", "Logging", "Session"],
    "Formats": ["Files", "Numbers", "Model", "CLibXML2"],
    "HTTP": ["Files", "CCurl", "Numbers", "Logging", "Text"],
    "Scheduling": ["Numbers", "Model"],
    "Networking": [
        "Files", "Numbers", "Model", "Concurrency", "Session", "Cache", "HTTP", "Formats", "Scheduling", "Logging",
        "CNetlink",
    ],
    "FetcherWire": ["Numbers", "Model", "Concurrency", "Session", "Cache", "Logging"],
    "FetcherClient": ["Model", "Concurrency", "Session", "Cache", "Logging", "FetcherWire", "Sandbox"],
    "FetcherService": [
        "Model", "Towns", "Concurrency", "Session", "Cache", "HTTP", "Scheduling", "Networking", "Logging",
        "FetcherWire",
    ],
    "Pixels": ["CMemory", "CPackets"],
    "BaselineJPEG": [],
    "LossyWebP": [],
    "Decoding": [
        "Pixels", "BaselineJPEG", "LossyWebP", "CJPEG", "CPNG", "CWebP", "CTIFF", "CHEIF", "CJXL", "CVideo", "CRaw",
        "CExif",
    ],
    "Sandbox": ["Pixels", "CSandbox"],
    "DecoderServer": ["Pixels", "Sandbox"],
    "Pictures": ["Files", "Model", "Concurrency", "Cache", "Cells", "Text", "Pixels", "Logging"],
    "Terminal": ["Cells", "Text", "CNcurses"],
    "Commands": ["Cells"],
    "Settings": ["Files", "Model", "Commands"],
    "Secrets": ["Files", "Model", "CSecret"],
    "UI": [
        "Numbers", "Model", "Concurrency", "Session", "Cache", "Cells", "Text", "Pictures", "Commands", "Settings",
        "Logging", "Export",
    ],
    "Export": ["Files", "Model", "Concurrency", "Session", "Cache", "Text"],
    "Publishing": ["Files", "Model", "Concurrency", "Pixels", "Pictures"],
]

/// The product's programs and their allowed imports.
let programs: KeyValuePairs<String, [String]> = [
    "vitrine": [
        "Text", "Concurrency", "Files", "Model", "Towns", "Logging", "Session", "Cache", "HTTP", "Scheduling",
        "Networking", "FetcherClient", "FetcherWire", "Sandbox", "Cells", "Pixels", "Pictures", "Terminal", "Settings",
        "Secrets",
        "UI", "Export", "Publishing",
    ],
    "vitrine-fetcher": ["Concurrency", "FetcherService", "FetcherWire", "Sandbox"],
    "vitrine-decoder": ["Pixels", "Decoding", "Sandbox", "DecoderServer"],
]

/// Modules that other packages can use, with the modules whose types appear in their interfaces. docs/libraries.md
/// describes them, and each has a program in Tools/Examples.
let libraries: KeyValuePairs<String, [String]> = [
    "SQLite": ["Concurrency"],
    "HTTP": ["Numbers", "Logging"],
    "Scheduling": ["Model"],
    "Logging": [],
    "Formats": ["Model"],
    "Pictures": ["Cells", "Pixels"],
]

/// Programs that show how to use a library, and their imports.
let examples: KeyValuePairs<String, [String]> = [
    "SQLite": [], "HTTP": ["Numbers", "Logging"], "Scheduling": ["Model"], "Logging": [], "Formats": ["Model"],
    "Pictures": ["Cells"],
]

/// Tests of each module, and what they use beside it.
let tests: KeyValuePairs<String, [String]> = [
    "Text": ["TestSupport"],
    "Concurrency": ["CConcurrency", "Files", "TestSupport"],
    "Numbers": ["TestSupport"],
    "Model": [],
    "Cells": ["Text"],
    "Files": ["TestSupport"],
    "Logging": ["TestSupport"],
    "Towns": ["Model", "TestSupport"],
    "SQLite": ["TestSupport"],
    "Session": ["Cache", "Concurrency", "Model", "Numbers", "TestSupport"],
    "Cache": ["Numbers", "SQLite", "Concurrency", "Model", "Towns", "Logging", "Session", "TestSupport"],
    "Formats": ["Model", "TestSupport"],
    "HTTP": ["Logging", "Model", "Numbers", "TestSupport", "answer-mangler"],
    "Scheduling": ["LinkSimulation", "Model", "TestSupport"],
    "Networking": [
        "Cache", "Formats", "HTTP", "Logging", "Model", "Numbers", "SQLite", "Concurrency", "Scheduling",
        "LinkSimulation",
        "TestSupport",
    ],
    "FetcherWire": ["Cache", "Logging", "Model", "Session"],
    "Pixels": ["PictureTestSupport", "TestSupport"],
    "BaselineJPEG": ["TestSupport"],
    "LossyWebP": ["PictureTestSupport", "TestSupport"],
    "Decoding": ["Formats", "Pixels", "PictureTestSupport", "TestSupport"],
    "Sandbox": ["CForbidden", "Pixels", "PictureTestSupport", "TestSupport", "sandbox-probe", "vitrine-decoder"],
    "Pictures": [
        "Cache", "Cells", "Logging", "Model", "Pixels", "PictureTestSupport", "TestSupport", "vitrine-decoder",
        "broken-decoder", "decoder-client",
    ],
    "Terminal": ["Cells", "Text", "TestSupport"],
    "Commands": ["Cells"],
    "Settings": ["Cells", "Commands", "Model", "TestSupport"],
    "Secrets": ["Model", "TestSupport"],
    "UI": [
        "Cache", "Cells", "Commands", "Concurrency", "Logging", "Model", "Numbers", "Pictures", "Pixels",
        "PictureTestSupport", "Settings", "Text", "TestSupport",
        "vitrine-decoder",
    ],
    "Export": ["Cache", "Files", "Logging", "Model", "TestSupport"],
    "Publishing": [
        "Formats", "Model", "Pictures", "PictureTestSupport", "Concurrency", "TestSupport", "vitrine-decoder",
    ],
]

/// Modules whose sources are not in `Sources/NAME`: the decoder's lie together, as do the tools.
let paths = [
    "Pixels": "Sources/Decoder/Pixels", "Decoding": "Sources/Decoder/Formats",
    "BaselineJPEG": "Sources/Decoder/BaselineJPEG", "LossyWebP": "Sources/Decoder/LossyWebP",
    "Sandbox": "Sources/Decoder/Sandbox", "DecoderServer": "Sources/Decoder/Server",
    "vitrine-decoder": "Sources/Decoder/Program", "vitrine": "Sources/App",
    "FetcherWire": "Sources/Fetcher/Wire", "FetcherClient": "Sources/Fetcher/Client",
    "FetcherService": "Sources/Fetcher/Service", "vitrine-fetcher": "Sources/Fetcher/Program",
]

/// Modules that a debug build optimises too: tests drive them through hundreds of simulated networks, at a million events
/// each, through thousands of damaged pictures, and through lists of a gigabyte.
let optimised: Set = ["Scheduling", "Formats", "Pixels", "BaselineJPEG", "LossyWebP", "Decoding"]

func dependencies(_ names: [String]) -> [Target.Dependency] {
    names.map { .byName(name: $0) }
}

let package = Package(
    name: "vitrine",
    products: [
        // Tests load it into programs to make their system calls fail.
        .library(name: "Faults", type: .dynamic, targets: ["CFaults"]),
        // Tells the thread sanitizer about locks.
        .library(name: "Mutexes", type: .dynamic, targets: ["CMutexes"]),
        // Packages that use the library Pictures build and start it.
        .executable(name: "vitrine-decoder", targets: ["vitrine-decoder"]),
    ] + libraries.map { .library(name: $0.key, targets: [$0.key] + $0.value) },
    targets: system
        + modules.map {
            .target(
                name: $0.key, dependencies: dependencies($0.value), path: paths[$0.key],
                swiftSettings: optimised.contains($0.key) ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])
        }
        + programs.map {
            .executableTarget(name: $0.key, dependencies: dependencies($0.value), path: paths[$0.key])
        }
        + examples.map {
            .executableTarget(
                name: "example-" + $0.key.lowercased(), dependencies: dependencies([$0.key] + $0.value),
                path: "Tools/Examples/" + $0.key)
        }
        + [
            .target(name: "CFaults", path: "Tests/Support/CFaults"),
            .target(name: "CMutexes", path: "Tests/Support/CMutexes"),
            .target(
                name: "TestSupport", path: "Tests/Support/TestSupport",
                exclude: ["FaultyServers", "Immich", "Nextcloud", "PhotoPrism", "Piwigo", "StandIn"]),
            .target(
                name: "LinkSimulation", dependencies: ["Model", "Scheduling", "TestSupport"],
                path: "Tests/Support/LinkSimulation",
                swiftSettings: [.unsafeFlags(["-O"])]),
            .executableTarget(
                name: "network-table", dependencies: ["LinkSimulation", "Scheduling"], path: "Tools/network-table"),
            .executableTarget(name: "json-check", dependencies: ["Formats"], path: "Tools/json-check"),
            .executableTarget(
                name: "picture-quality",
                dependencies: ["Cells", "Decoding", "Pictures", "Pixels", "PictureTestSupport"],
                path: "Tools/picture-quality"),
            .target(name: "Painting", path: "Tools/Painting"),
            .executableTarget(name: "gallery-painter", dependencies: ["Painting"], path: "Tools/gallery-painter"),
            .testTarget(name: "PaintingTests", dependencies: ["Painting"]),
            .target(name: "CForbidden", path: "Tests/Support/CForbidden"),
            .executableTarget(
                name: "sandbox-probe", dependencies: ["CForbidden", "Sandbox"],
                path: "Tests/Support/SandboxProbe"),
            .executableTarget(
                name: "broken-decoder", dependencies: ["Pixels", "DecoderServer"], path: "Tests/Support/BrokenDecoder"),
            .executableTarget(
                name: "decoder-client", dependencies: ["Pictures", "Pixels"], path: "Tests/Support/DecoderClient"),
            .executableTarget(
                name: "decoder-cost", dependencies: ["Decoding", "Pictures", "Pixels"], path: "Tools/decoder-cost"),
            .executableTarget(
                name: "picture-mangler", dependencies: ["Decoding", "Pixels", "PictureTestSupport", "TestSupport"],
                path: "Tools/picture-mangler"),
            // Beside libFuzzer it uses parts of modules that only builds for tests show, so `make fuzz` builds it for both.
            .executableTarget(
                name: "fuzz",
                dependencies: [
                    "BaselineJPEG", "Cache", "Cells", "Decoding", "Export", "FetcherWire", "Formats", "HTTP",
                    "Logging", "LossyWebP",
                    "Model", "Numbers", "Pixels", "SQLite", "Session", "Settings", "Terminal", "Text", "TestSupport",
                ],
                path: "Tools/Fuzz", exclude: ["Corpus"]),
            .executableTarget(
                name: "answer-mangler", dependencies: ["HTTP", "Logging", "Numbers", "TestSupport"],
                path: "Tools/answer-mangler"),
            .target(
                name: "PictureTestSupport", dependencies: ["Pixels", "TestSupport"],
                path: "Tests/Support/PictureTestSupport", swiftSettings: [.unsafeFlags(["-O"])]),
            .testTarget(
                name: "EndToEndTests",
                dependencies: dependencies(
                    [
                        "vitrine", "vitrine-decoder", "vitrine-fetcher", "fuzz", "Cache", "Logging", "Model", "SQLite",
                        "TestSupport",
                    ]
                        + examples.map { "example-" + $0.key.lowercased() })),
            .testTarget(
                name: "DecoderProcessTests", dependencies: ["vitrine-decoder", "Pixels", "PictureTestSupport"]),
        ]
        + tests.map { module, others in
            .testTarget(
                name: module + "Tests", dependencies: dependencies([module] + others),
                // Shell scripts and texts that tests read from the source tree.
                exclude: ["Pictures": ["BrokenDecoders"], "Scheduling": ["Recorded"], "UI": ["Recorded"]][module] ?? [])
        }
)

/// Debian's folder of libxml2's headers. All targets need it, since importing a module makes the compiler read the C modules
/// behind it. pkg-config would name the folder too, but would also link the library.
let xmlHeaders = SwiftSetting.unsafeFlags(["-Xcc", "-I/usr/include/libxml2"])

for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [xmlHeaders]
}
