import Cells
import Foundation
import Pictures

/// Prints how similar to the originals Vitrine and chafa draw the photos of the TestGallery, in 80 by 40 cells of 8
/// by 16 pixels:
///
///     swift run -c release picture-quality
///
/// Exits with 1 if Vitrine's quality is below its limits.
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
    print("\n| \(title) | PSNR dB | SSIM, blurred | brightness, matched, dB |\n|---|---|---|---|")
    var found: [Likeness] = []
    for contestant in contestants {
        let likeness = try means(contestant)
        found.append(likeness)
        print(
            "| \(contestant.name) | \(text(likeness.psnr, 2)) | \(text(likeness.ssim, 4)) "
                + "| \(text(likeness.matched, 2)) |")
    }
    return (found[0], Array(found.dropFirst()))
}

print("\(photos.count) photos")
let all = try compare(
    "all colours",
    [
        .vitrine(.sextant, .full), .chafa("sextant+half+vhalf+space+solid", "full"), .vitrine(.quadrant, .full),
        .chafa("quad+half+vhalf+space+solid", "full"), .vitrine(.half, .full),
        .chafa("hhalf+space+solid", "full"), .vitrine(.ascii, .full), .vitrine(.ramp, .full),
    ])
let sextants = "sextant+half+vhalf+space+solid"
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
let none = try compare(
    "no colours",
    [
        .vitrine(.ascii, .none), .vitrine(.ramp, .none), .chafa("ascii", "none"),
        .chafa("ascii", "none", "--preprocess", "off"), .vitrine(.sextant, .none), .vitrine(.half, .none),
        .chafa("sextant+half+vhalf+space+solid", "none"),
    ])
let limits = [
    ("all colours: as good as chafa’s sextants", all.ours.ssim >= all.theirs[0].ssim),
    ("256 colours: as good as chafa’s", palette.ours.psnr >= palette.theirs[0].psnr),
    ("16 colours: 1.5 dB more than chafa’s", sixteen.ours.psnr >= sixteen.theirs.prefix(2).map(\.psnr).max()! + 1.5),
    ("letters: 19.5 dB", none.ours.matched >= 19.5),
]
print()
for (what, isMet) in limits { print("\(isMet ? "ok  " : "OVER") \(what)") }
exit(limits.allSatisfy(\.1) ? 0 : 1)
