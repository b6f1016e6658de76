/// The order in which a list shows photos.
public struct PhotoOrder: Hashable, Sendable {
    /// The property by which a list sorts its photos.
    public enum Criterion: String, Hashable, Sendable, CaseIterable {
        /// The photo's date.
        case date
        /// The photo's name. Numbers in names are compared by value.
        case name
        /// The size of the local or cached file. Other photos count as empty.
        case size
        /// The availability: photo cached, photo not cached, failed.
        case state
        /// The number of stars. In ascending order, photos with the most stars come first.
        case rating
    }

    /// The property by which the list is sorted.
    public var criterion: Criterion
    /// Whether the list is in ascending order. Then the oldest, alphabetically first or smallest photo, or the photo
    /// with the most stars, is at the top.
    public var ascending: Bool

    /// Creates an order. By default the oldest photo comes first.
    public init(_ criterion: Criterion = .date, ascending: Bool = true) {
        self.criterion = criterion
        self.ascending = ascending
    }
}

/// The condition that selects the photos of a list.
public struct PhotoFilter: Hashable, Sendable {
    /// The search text. An empty text selects every photo.
    ///
    /// Each word must begin a word of the photo's name, metadata or annotations. `2006`, `2006-07` and `2006-07-30`
    /// also match dates. `tag:lake` searches only tags, and `person:`, `place:`, `author:` and `caption:` only these
    /// annotations. `rating:4` selects photos with at least four stars, `rating:0` photos without stars, `is:rejected`
    /// rejected photos, `is:favorite` favorites, and `is:video` videos.
    public var text: String
    /// The folder whose photos the list shows; nil for all photos of the gallery.
    public var folder: FolderFilter?

    /// Creates a filter. Without arguments, the filter selects every photo.
    public init(_ text: String = "", in folder: FolderFilter? = nil) {
        self.text = text
        self.folder = folder
    }

    /// The filter that selects every photo.
    public static let all = PhotoFilter()
}

/// The rule that divides a list into sections. Days, months and years need date order.
public enum SectionRule: String, Hashable, Sendable, CaseIterable {
    /// The list has no sections.
    case none
    /// The list has a section for each day, in the user's time zone.
    case day
    /// The list has a section for each month.
    case month
    /// The list has a section for each year.
    case year
    /// The list has a section for each folder, in natural order. Inside a section, photos have the list's order.
    case folder

    /// Returns this rule, or `none` if this order allows no such sections.
    public func applied(to order: PhotoOrder) -> SectionRule {
        self == .folder || order.criterion == .date ? self : .none
    }
}
