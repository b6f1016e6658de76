import Testing

@testable import Painting

@Suite struct CatalogueTests {
    private let photos = Catalogue().photos

    @Test func photosAreManyAndAllDifferent() {
        #expect((24...28).contains(photos.count))
        #expect(Set(photos.map(\.id)).count == photos.count)
        #expect(Set(photos.map(\.title)).count == photos.count)
        #expect(Set(photos.map(\.date)).count == photos.count)
    }

    @Test func everyOrientationOccursButMostAreUpright() {
        #expect(Set(photos.map(\.orientation)) == Set(Orientation.allCases))
        #expect(photos.filter { $0.orientation == .upright }.count > photos.count / 2)
    }

    @Test func orderIsNeitherByDateNorByName() {
        #expect(photos.map(\.date) != photos.map(\.date).sorted())
        #expect(photos.map(\.title) != photos.map(\.title).sorted())
        let datesByName = photos.sorted { $0.title < $1.title }.map(\.date)
        #expect(datesByName != datesByName.sorted())
        #expect(photos.map(\.date).min() == "2006-07-30T07:47:17Z")
    }

    @Test func aboutAThirdKnowWhereTheyWereTaken() {
        let share = Double(photos.filter { $0.place != nil }.count) / Double(photos.count)
        #expect((0.25...0.45).contains(share))
    }

    @Test func bigAlbumHasAHundredAndTenEntries() {
        let entries = AlbumDocuments(photos.map(\.entry)).bigEntries
        #expect(entries.count == 110)
        #expect(Set(entries.map(\.id)).count == 110)
        #expect(Set(entries.map(\.name)).count == 110)
        #expect(Set(entries.map(\.date)).count == 110)
        #expect(entries.allSatisfy { $0.date.count == "2006-07-30T07:47:17Z".count })
    }

    @Test func changesAreTheOnesPromised() throws {
        let documents = AlbumDocuments(photos.map(\.entry))
        let (before, after) = (documents.changesBefore, documents.changesAfter)
        #expect(before.count == 10 && after.count == 10)
        #expect(before.filter { old in !after.contains { $0.id == old.id } }.count == 2)
        #expect(after.filter { new in !before.contains { $0.id == new.id } }.count == 2)
        let kept = before.compactMap { old in after.first { $0.id == old.id }.map { (old, $0) } }
        #expect(kept.filter { $0 == $1 }.count == 5)
        #expect(kept.filter { $0.name != $1.name && $0.image == $1.image && $0.date == $1.date }.count == 1)
        #expect(kept.filter { $0.date != $1.date && $0.name == $1.name && $0.image == $1.image }.count == 1)
        #expect(
            kept.filter { $0.name != $1.name && $0.image != $1.image && $0.thumbnail != $1.thumbnail }.count
                == 1)
    }

    @Test func attributesAreEscaped() {
        let entry = AlbumEntry(id: "a", name: "\"<Cup> & saucer\"", date: "d", image: "i")
        #expect(entry.xml.contains(#"name="&quot;&lt;Cup&gt; &amp; saucer&quot;""#))
        #expect(!entry.xml.contains("thumbnail"))
    }
}
