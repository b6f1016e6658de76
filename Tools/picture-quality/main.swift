import Cells
import Foundation
import Pictures

/// Prints how similar to the originals Vitrine and chafa draw the photos of the TestGallery, in 80 by 40 cells of 8
/// by 16 pixels:
///
///     swift run -c release picture-quality [GALLERY [letters | riddle SEED FOLDER]]
///
/// With `letters`, compares only drawings with letters. With `riddle`, draws twenty thumbnails of 16 by 6 letters, to be
/// matched with their photos by eye. Exits with 1 if Vitrine's quality is below its limits.
let font = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"
let masks = try GlyphMasks(font: font)
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("picture-quality-\(getpid())").path
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }

let gallery = CommandLine.arguments.dropFirst().first ?? "TestGallery"
let broken: Set = ["damaged.jpg", "not-a-picture.jpg", "truncated.jpg", "tiny.jpg", "wide.jpg", "tall.jpg"]
let names = try FileManager.default.contentsOfDirectory(atPath: gallery + "/images").sorted().filter {
    $0.hasSuffix(".jpg") && !broken.contains($0)
}
if CommandLine.arguments.count > 4, CommandLine.arguments[2] == "riddle" {
    try Riddle.write(
        names.map { "\(gallery)/images/\($0)" }, seed: UInt64(CommandLine.arguments[3]) ?? 1,
        to: CommandLine.arguments[4], masks)
    exit(0)
}
let photos = try names.map { try Photo("\(gallery)/images/\($0)", in: folder) }
let originals = photos.map { Picture($0.original) }

/// Returns the means over all photos.
func means(_ contestant: Contestant) throws -> Likeness {
    let found = try zip(photos, originals).map { photo, original in
        Likeness(original, try Picture(try contestant.draw(photo), masks))
    }
    return Likeness(meansOf: found)
}

func text(_ number: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", number) }

/// Prints a line for each contestant. Returns Vitrine's and the others' results.
func compare(_ title: String, _ contestants: [Contestant]) throws -> (ours: Likeness, theirs: [Likeness]) {
    print(
        "\n| \(title) | PSNR dB | SSIM, blurred | brightness, matched, dB | brightness, dB | mean brightness |"
            + "\n|---|---|---|---|---|---|")
    var found: [Likeness] = []
    for contestant in contestants {
        let likeness = try means(contestant)
        found.append(likeness)
        print(
            "| \(contestant.name) | \(text(likeness.psnr, 2)) | \(text(likeness.ssim, 4)) "
                + "| \(text(likeness.matched, 2)) | \(text(likeness.brightness, 2)) "
                + "| \(text(likeness.exposure.mean, 2)) (\(text(likeness.exposure.least, 2)) to "
                + "\(text(likeness.exposure.most, 2))) |")
    }
    return (found[0], Array(found.dropFirst()))
}

print("\(photos.count) photos")
let sextants = "sextant+half+vhalf+space+solid"
var limits: [(String, Bool)] = []
if !CommandLine.arguments.contains("letters") {
    let all = try compare(
        "all colours",
        [
            .vitrine(.sextant, .full), .chafa(sextants, "full"), .vitrine(.quadrant, .full),
            .chafa("quad+half+vhalf+space+solid", "full"), .vitrine(.half, .full),
            .chafa("hhalf+space+solid", "full"),
        ])
    let palette = try compare(
        "256 colours",
        [
            .vitrine(.sextant, .palette), .chafa(sextants, "240"), .vitrine(.half, .palette),
            .chafa("hhalf+space+solid", "240"),
        ])
    let sixteen = try compare(
        "16 colours",
        [
            .vitrine(.sextant, .sixteen), .chafa(sextants, "16"), .chafa(sextants, "16", "--preprocess", "off"),
            .vitrine(.quadrant, .sixteen), .vitrine(.half, .sixteen),
            .chafa("hhalf+space+solid", "16", "--preprocess", "off"),
        ])
    _ = try compare(
        "8 colours",
        [
            .vitrine(.sextant, .eight), .chafa(sextants, "8"), .chafa(sextants, "8", "--preprocess", "off"),
            .vitrine(.half, .eight),
        ])
    _ = try compare(
        "blocks without colours",
        [.vitrine(.sextant, .none), .vitrine(.half, .none), .chafa(sextants, "none")])
    limits += [
        ("all colours: as good as chafa’s sextants", all.ours.ssim >= all.theirs[0].ssim),
        ("256 colours: as good as chafa’s", palette.ours.psnr >= palette.theirs[0].psnr),
        (
            "16 colours: 1.5 dB more than chafa’s",
            sixteen.ours.psnr >= sixteen.theirs.prefix(2).map(\.psnr).max()! + 1.5
        ),
    ]
}
// Reverse video ("2") and fills give chafa its best letters.
let letters = try compare(
    "letters without colours",
    [
        .vitrine(.ascii, .none), .chafa("ascii", "2", "--fill", "ascii", "--preprocess", "off"),
        .chafa("ascii", "2", "--preprocess", "off", "--dither", "ordered"), .chafa("ascii", "2"),
        .chafa("ascii", "none"), .vitrine(.ramp, .none),
    ])
let depths: [(ColourDepth, String)] = [(.eight, "8"), (.sixteen, "16"), (.palette, "240"), (.full, "full")]
let coloured = try depths.map { depth, theirs in
    try compare(
        "letters, colours: \(theirs)",
        [.vitrine(.ascii, depth), .chafa("ascii", theirs, "--preprocess", "off"), .vitrine(.ramp, depth)])
}
let shownAlone = letters.ours
let theirBest = (
    seen: letters.theirs.prefix(4).map(\.brightness).max() ?? 0,
    matched: letters.theirs.prefix(4).map(\.matched).max() ?? 0
)
let isLikeEnough = shownAlone.brightness >= 21 && shownAlone.brightness >= theirBest.seen + 1
let isShapedEnough = shownAlone.matched >= 21 && shownAlone.matched >= theirBest.matched + 1
let isBrightEnough = ([letters] + coloured).allSatisfy { (0.85...1.1).contains($0.ours.exposure.mean) }
limits += [
    ("letters: 21 dB, and 1 dB more than chafa’s", isLikeEnough),
    ("letters, matched: 21 dB, and 1 dB more than chafa’s", isShapedEnough),
    ("letters: as bright as the photos", isBrightEnough),
]
print()
for (what, isMet) in limits { print("\(isMet ? "ok  " : "OVER") \(what)") }
exit(limits.allSatisfy(\.1) ? 0 : 1)
