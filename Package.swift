// swift-tools-version: 6.0
import PackageDescription

/// Vitrine's rooms. An entry's `dependencies` are the only imports that room may have; the build enforces it
/// (`--explicit-target-dependency-import-check error`) and `Scripts/check-imports` holds this file against
/// docs/architecture.md.
let package = Package(
    name: "vitrine",
    targets: [
        // C libraries: a module map and a small shim each, imported by one Swift target.
        .systemLibrary(
            name: "CSQLite", path: "Sources/System/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CLibXML2", path: "Sources/System/CLibXML2", pkgConfig: "libxml-2.0",
            providers: [.apt(["libxml2-dev", "pkg-config"])]),
        .systemLibrary(
            name: "CCurl", path: "Sources/System/CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),

        // Values.
        .target(name: "Text"),
        .target(name: "Streams"),
        .target(name: "Model"),

        // The data's road, from the servers to the cache.
        .target(name: "Logging", dependencies: ["Text"]),
        .target(name: "SQLite", dependencies: ["Streams", "CSQLite"]),
        .target(name: "Cache", dependencies: ["Model", "Streams", "SQLite", "Logging"]),
        .target(name: "Formats", dependencies: ["Model", "CLibXML2"]),
        .target(name: "HTTP", dependencies: ["CCurl", "Logging"]),
        .target(name: "Networking", dependencies: ["Model", "Streams", "Cache", "HTTP", "Formats", "Logging"]),

        // What they share in tests, and the tests.
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        .testTarget(name: "TextTests", dependencies: ["Text"]),
        .testTarget(name: "StreamsTests", dependencies: ["Streams"]),
        .testTarget(name: "ModelTests", dependencies: ["Model"]),
        .testTarget(name: "LoggingTests", dependencies: ["Logging", "TestSupport"]),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "TestSupport"]),
        .testTarget(name: "FormatsTests", dependencies: ["Formats", "Model", "TestSupport"]),
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", "Logging", "TestSupport"]),
        .testTarget(
            name: "CacheTests", dependencies: ["Cache", "SQLite", "Streams", "Model", "Logging", "TestSupport"]),
    ]
)
