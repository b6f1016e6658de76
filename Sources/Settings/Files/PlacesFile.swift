/// The file of places, which several programs may write.
public struct PlacesFile: Sendable {
    private let path: String
    /// Where older versions kept the one place that they knew.
    private let olderPath: String

    /// The usual one.
    public init(_ locations: Locations) {
        path = locations.placesFile
        olderPath = locations.placeFile
    }

    /// What is in it. A place is a convenience: where it cannot be read there is none.
    public func read() -> Places {
        places((try? PrivateFile.read(path)) ?? nil)
    }

    private func places(_ text: String?) -> Places {
        if let text { return Places(text: text) }
        var places = Places()
        if let text = try? PrivateFile.read(olderPath) { places.note(Place(text: text)) }
        return places
    }

    /// Notes places, one after the other. What others have written meanwhile stays.
    public func note(_ noted: [Place]) throws(SettingsError) {
        try PrivateFile.change(path) { text in
            var places = places(text)
            for place in noted { places.note(place) }
            return places.text
        }
    }
}
