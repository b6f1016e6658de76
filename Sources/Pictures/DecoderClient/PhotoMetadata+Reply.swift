import Model
import Pixels

extension PhotoMetadata {
    /// Takes from a decoder's answer what the picture says of itself.
    public init(_ reply: DecodeReply) {
        self.init(format: reply.format, width: reply.sourceSize.width, height: reply.sourceSize.height)
        let metadata = reply.metadata
        orientation = Int(reply.orientation.rawValue)
        takenAt = metadata.takenAt
        camera = metadata.camera
        lens = metadata.lens
        exposure = metadata.exposureSeconds
        aperture = metadata.aperture
        iso = metadata.iso
        focalLength = metadata.focalLength
        latitude = metadata.latitude
        longitude = metadata.longitude
        title = metadata.title
        description = metadata.description
    }
}
