import Testing

@testable import UI

/// The patterns are those of glibc's locales.
@Suite struct DateOrderTests {
    @Test(arguments: [
        ("%d.%m.%Y", "%T", DateOrder.First.day, false), ("%m/%d/%Y", "%r", .month, true),
        ("%d/%m/%Y", "%T", .day, false), ("%Y-%m-%d", "%H:%M:%S", .year, false),
        ("%Y年%m月%d日", "%H時%M分%S秒", .year, false), ("%-d/%-m/%y", "%I:%M:%S %p %Z", .day, true),
        ("%Ey.%m.%d", "%p %I:%M", .year, true), ("%F", "%T", .year, false), ("%D", "%T", .month, false),
        ("%e.%-m.%Y", "%k:%M", .day, false), ("", "", .day, false), ("%", "%", .day, false),
    ]) func isReadFromTheLocale(date: String, time: String, first: DateOrder.First, isTwelveHours: Bool) {
        #expect(DateOrder(date: date, time: time) == DateOrder(first: first, isTwelveHours: isTwelveHours))
    }
}
