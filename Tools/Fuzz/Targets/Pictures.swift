#if DEBUG || FUZZING
    import BaselineJPEG
    import Formats
    import LossyWebP

    @testable import Decoding
    @testable import Pixels

    /// Pictures, their metadata, and the wire between Vitrine and its decoder.
    extension FuzzTarget {
        static let pictures = [exif, heif, jpeg, webp, picture, wire]

        private static let exif = FuzzTarget("exif") { bytes in
            let embedded = EmbeddedThumbnail(inPhoto: bytes)
            require((1...8).contains(embedded.orientation), "orientation \(embedded.orientation)")
            let block = bytes.withUnsafeBytes { ExifBlock(tiff: $0) }
            require(block.metadata == block.metadata.bounded, "metadata beyond its bounds")
            let directories = bytes.withUnsafeBytes { TIFFDirectories($0, longest: ExifReader.longestTIFF)?.block }
            _ = directories.map { ExifBlock(rewritten: $0).orientation }
        }

        private static let heif = FuzzTarget("heif") { bytes in
            // The list may come after the first bytes. The part with the list is then the file.
            let first = bytes.count.isMultiple(of: 2) ? bytes.count : min(bytes.count, 64)
            var heif = try accepted(HEIFThumbnail(inPhoto: Array(bytes.prefix(first))))
            for part in [bytes, bytes, [UInt8](repeating: 1, count: 65_536)] {
                guard let missing = heif.missing else { break }
                require((1...65_536).contains(missing.length.int), "a part of \(missing.length) bytes")
                heif.add(part, at: missing.lowerBound)
            }
            require(heif.missing == nil, "a part is missing for ever")
            let embedded = heif.embedded
            require((embedded.picture?.count ?? 0) <= bytes.count + 1 << 17, "a picture that is too long")
        }

        private static let jpeg = FuzzTarget("jpeg") { bytes in
            let picture = try accepted(BaselinePicture(bytes))
            for eighths in [1, 2, 4, 8] {
                guard let pixels = picture.decoded(eighths: eighths) else { continue }
                require(pixels.bytes.count == 3 * pixels.width * pixels.height, "a picture of another size")
            }
        }

        private static let webp = FuzzTarget("webp") { bytes in
            // A frame of a few bytes may claim as many pixels as the decoder accepts, which takes seconds with a sanitizer.
            let picture = try accepted(LossyPicture(bytes))
            guard picture.width * picture.height <= 1 << 18 else { return }
            for eighths in [1, 8] {
                guard let pixels = picture.decoded(eighths: eighths) else { continue }
                require(pixels.bytes.count == 3 * pixels.width * pixels.height, "a picture of another size")
            }
        }

        private static let picture = FuzzTarget("picture") { bytes in
            var request = DecodeRequest(box: PixelSize(width: 16, height: 16))
            request.product = [.pixels, .thumbnail, .facts][bytes.count % 3]
            let outcome: DecodeOutcome
            do {
                outcome = .picture(try bytes.withUnsafeBytes { try Decoder.decode($0, request) })
            } catch let failure as DecodeFailure {
                outcome = .failure(failure)
            }
            let block = outcome.block
            require(block.count <= DecodeOutcome.longestEncoding(for: request), "the answer is too long")
            let again = block.withUnsafeBytes { try? DecodeOutcome(reading: $0, for: request) }
            require(again == outcome, "the answer is not read as written")
            if case .failure(let failure) = outcome { throw failure }
        }

        private static let wire = FuzzTarget("wire") { bytes in
            let choice = Choice(bytes, of: 8)
            let rest = choice.rest
            switch choice.number {
            case 0:
                let request = try DecodeRequest(packet: rest)
                require((try? DecodeRequest(packet: request.packet)) == request, "a request changes")
                require((try? DecodeRequest(arguments: [request.argument])) == request, "an argument changes")
            case 1: _ = try DecodeRequest(arguments: rest.text.split(separator: " ").map(String.init))
            case 2: try accepted(SmallPictureService.order(rest[...]))
            case 3: try accepted(SmallPictureService.block(rest, to: 7))
            case 4:
                let report = try DecoderReport(text: rest.text)
                _ = report.text
            case 5: try accepted(DecoderService.End(bytes: rest))
            default:
                var request = DecodeRequest(box: PixelSize(width: 4, height: 3))
                request.product = choice.number == 6 ? .pixels : .thumbnail
                request.run = 3
                let outcome = try rest.withUnsafeBytes { try DecodeOutcome(reading: $0, for: request) }
                guard case .picture(let reply) = outcome else { return }
                require(reply.metadata == reply.metadata.bounded, "metadata beyond its bounds")
            }
        }
    }
#endif
