import Glibc
import Model

/// When a photo was taken, as far as that is known.
enum PhotoDate {
    /// The camera's time, else when the file was modified; always a date that a list can hold.
    ///
    /// - Parameters:
    ///   - takenAt: by the camera's clock, which shows the time of some place and does not say of which:
    ///     "2006-07-30T07:47:17". It is taken for the time of the zone that this machine is in.
    ///   - revision: how often the photo has changed since it was first published. Who has an older edition of a photo fetches
    ///     the new one when its date is another; but what a camera wrote does not change when a photo is retouched. So each
    ///     revision is a thousandth of a second later than the one before, which moves it past no other.
    static func moment(takenAt: String?, modified: FileStamp, revision: Int) -> Timestamp {
        var moment = takenAt.flatMap(local) ?? Timestamp(milliseconds: clamped(modified.seconds) * 1_000)
        moment.milliseconds += Int64(revision % 1_000)
        return moment
    }

    /// A moment by the clocks of this machine's zone, summer time included.
    private static func local(_ text: String) -> Timestamp? {
        guard let asUTC = Timestamp(iso8601: text + "Z") else { return nil }
        var seconds = time_t(asUTC.seconds)
        var fields = tm()
        guard gmtime_r(&seconds, &fields) != nil else { return nil }
        // Whether it was summer is for the system to find out.
        fields.tm_isdst = -1
        let moment = mktime(&fields)
        return Timestamp(milliseconds: clamped(Int64(moment)) * 1_000)
    }

    /// Years have four digits in a list.
    private static func clamped(_ seconds: Int64) -> Int64 { max(firstSecond, min(lastSecond, seconds)) }

    /// 0001-01-01T00:00:00Z and 9999-12-31T23:59:58Z.
    private static let firstSecond: Int64 = -62_135_596_800
    private static let lastSecond: Int64 = 253_402_300_798
}
