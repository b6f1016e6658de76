import Model
import Synchronization
import Testing

@testable import Session

@Suite struct CredentialStoreTests {
    private let store = CredentialStore()
    private let gallery: Address
    private let picture: Address
    private let signIn = SignIn.password(user: "me", password: "s3cret")

    init() throws {
        gallery = try Address("http://example.org/a/index.xml")
        picture = try Address("http://pictures.example.org/1.jpg")
    }

    private func place(_ address: Address) throws -> SignInPlace { .origin(try #require(address.origin)) }

    @Test("BEHAVIOURS 5.10: a password is for one origin, and not for galleries that only name it")
    func origins() throws {
        store.take(signIn, for: try place(gallery))
        #expect(store.signIn(for: try Address("http://example.org/b?c"), in: gallery) == signIn)
        for other in ["https://example.org/", "http://example.org:8080/", "http://www.example.org/"] {
            #expect(store.signIn(for: try Address(other), in: gallery) == nil)
            // Not even for a gallery elsewhere that names a picture here.
            #expect(store.signIn(for: gallery, in: try Address(other)) == nil)
        }
        #expect(store.signIn(for: Address(filePath: "/x"), in: gallery) == nil)
    }

    @Test("A gallery with http may use the password of its host with https, and never the other way round")
    func secureOrigin() async throws {
        let secure = try Address("https://example.org/b")
        store.take(signIn, for: try place(secure))
        #expect(store.signIn(for: secure, in: gallery) == signIn)
        #expect(store.signIn(for: gallery, in: secure) == nil)
        let kept = CredentialStore(
            keeping: CredentialKeeping(
                lookUp: { _ in SignIn.password(user: "me", password: "kept") }, keep: { _, _, _ in nil }))
        let (own, twin) = (try place(gallery), try place(secure))
        #expect(await kept.hasOther(than: nil, for: twin, in: gallery))
        #expect(await !kept.hasOther(than: nil, for: own, in: secure))
        #expect(kept.signIn(for: gallery, in: gallery) == nil)
        for other in ["https://example.org:8443/", "https://www.example.org/"] {
            let place = try place(try Address(other))
            #expect(await !kept.hasOther(than: nil, for: place, in: gallery))
        }
    }

    @Test func anAnswerForAGalleryIsForThatGallery() throws {
        store.take(signIn, for: try place(picture), by: [GalleryID(gallery)])
        #expect(store.signIn(for: picture, in: gallery) == signIn)
        #expect(store.signIn(for: picture, in: try Address("http://example.org/b/index.xml")) == nil)
    }

    @Test func theGallerysOriginAndAnsweredOnesAreNamedByTheUser() throws {
        let (own, away) = (try #require(gallery.origin), try #require(picture.origin))
        #expect(store.isNamedByUser(own, in: gallery) && !store.isNamedByUser(away, in: gallery))
        for (other, isNamed) in [("https://example.org", true), ("http://example.org:81", false)] {
            #expect(try store.isNamedByUser(#require(Origin(other)), in: gallery) == isNamed)
        }
        store.take(signIn, for: .origin(away), by: [GalleryID(gallery)])
        #expect(store.isNamedByUser(away, in: gallery))
        #expect(!store.isNamedByUser(away, in: try Address("http://example.org/b/index.xml")))
    }

    @Test func aRetryNeedsOtherCredentials() async throws {
        let origin = try #require(gallery.origin)
        #expect(await !store.hasOther(than: nil, for: .origin(origin), in: gallery))
        store.take(signIn, for: .origin(origin))
        // Entered while the refused one was on its way.
        #expect(await store.hasOther(than: nil, for: .origin(origin), in: gallery))
        #expect(await store.hasOther(than: .token("old"), for: .origin(origin), in: gallery))
        #expect(await !store.hasOther(than: signIn, for: .origin(origin), in: gallery))
        #expect(store.signIn(for: gallery, in: gallery) == nil)
        // The user may enter it again.
        store.take(signIn, for: .origin(origin))
        #expect(store.signIn(for: gallery, in: gallery) == signIn)
    }

    @Test("BEHAVIOURS 5.10: a proxy’s credentials are for it alone and removed after a refusal")
    func proxies() async throws {
        let (proxy, other) = ("http://proxy.org:3128", "http://proxy.org:8080")
        let kept = SignIn.password(user: "me", password: "kept")
        let store = CredentialStore(keeping: CredentialKeeping(lookUp: { _ in kept }, keep: { _, _, _ in nil }))
        store.take(signIn, for: .proxy(proxy), by: [GalleryID(gallery)])
        #expect(store.signIn(forProxy: proxy) == signIn && store.signIn(forProxy: other) == nil)
        #expect(store.signIn(for: try Address(proxy), in: try Address(proxy)) == nil)
        #expect(store.signIn(for: gallery, in: gallery) == nil)
        // The user has entered another one since.
        store.recordRefusal(byProxy: proxy) { $0 == kept }
        #expect(await store.hasOther(than: nil, for: .proxy(proxy), in: picture))
        #expect(store.signIn(forProxy: proxy) == signIn)
        // After the refusal, the stored password is looked up for any gallery and tried once.
        store.recordRefusal(byProxy: proxy) { $0 == signIn }
        #expect(store.signIn(forProxy: proxy) == nil)
        #expect(await store.hasOther(than: nil, for: .proxy(proxy), in: picture))
        #expect(store.signIn(forProxy: proxy) == kept)
        store.recordRefusal(byProxy: proxy) { $0 == kept }
        #expect(await !store.hasOther(than: nil, for: .proxy(proxy), in: picture))
    }

    @Test("Access keys are tried one after the other, and only for the gallery's own origin")
    func accessKeys() async throws {
        let keys = ["first", "second"].map { AccessKey(id: $0, secret: "s") }
        let kept = SignIn.accessKey(AccessKey(id: "kept", secret: "s", region: "garage"))
        let store = CredentialStore(
            keeping: CredentialKeeping(lookUp: { _ in kept }, keep: { _, _, _ in nil }, accessKeys: { _ in keys }))
        var question = SignInQuestion(
            origin: try #require(gallery.origin), schemes: [SignInQuestion.signatureScheme])
        var sent: SignIn?
        for name in ["first", "second", "kept"] {
            #expect(await store.hasOther(than: sent, for: question, in: gallery))
            sent = store.signIn(for: gallery, in: gallery)
            guard case .accessKey(let key)? = sent else {
                Issue.record("There is no key.")
                return
            }
            #expect(key.id == name && key.region == (name == "kept" ? "garage" : "us-east-1"))
            question.wasRefused = true
        }
        #expect(await !store.hasOther(than: sent, for: question, in: gallery))
        #expect(store.signIn(for: gallery, in: gallery) == nil)
        // A list may name pictures on other servers, which get no key.
        question.origin = try #require(picture.origin)
        #expect(await !store.hasOther(than: nil, for: question, in: gallery))
        // Other questions do not lead to a key.
        let other = CredentialStore(
            keeping: CredentialKeeping(lookUp: { _ in nil }, keep: { _, _, _ in nil }, accessKeys: { _ in keys }))
        let place = try place(gallery)
        #expect(await !other.hasOther(than: nil, for: place, in: gallery))
    }

    private final class Counts: Sendable {
        let begun = Atomic(0)
        let lookUps = Atomic(0)
    }

    @Test("Requests that are refused together look up the access keys once")
    func sharedKeyLookUp() async throws {
        let counts = Counts()
        let store = CredentialStore(
            keeping: CredentialKeeping(lookUp: { _ in nil }, keep: { _, _, _ in nil }) { _ in
                counts.lookUps.add(1, ordering: .relaxed)
                while counts.begun.load(ordering: .relaxed) < 20 { await Task.yield() }
                return [AccessKey(id: "a", secret: "s")]
            })
        let question = SignInQuestion(
            origin: try #require(gallery.origin), schemes: [SignInQuestion.signatureScheme])
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask { [gallery] in
                    counts.begun.add(1, ordering: .relaxed)
                    return await store.hasOther(than: nil, for: question, in: gallery)
                }
            }
            for await hasKey in group { #expect(hasKey) }
        }
        #expect(counts.lookUps.load(ordering: .relaxed) == 1)
        // Another program may have replaced an expired key.
        let sent = store.signIn(for: gallery, in: gallery)
        #expect(await !store.hasOther(than: sent, for: question, in: gallery))
        #expect(counts.lookUps.load(ordering: .relaxed) == 2)
    }

    @Test("A key gets the region that the service names, once")
    func regions() async throws {
        let store = CredentialStore()
        var question = SignInQuestion(
            origin: try #require(gallery.origin), schemes: [SignInQuestion.signatureScheme])
        let key = AccessKey(id: "a", secret: "s")
        store.take(.accessKey(key), for: question.place)
        question.region = "garage"
        #expect(await store.hasOther(than: .accessKey(key), for: question, in: gallery))
        #expect(store.signIn(for: gallery, in: gallery) == .accessKey(key.with(region: "garage")))
        question.region = "elsewhere"
        #expect(await !store.hasOther(than: .accessKey(key.with(region: "garage")), for: question, in: gallery))
    }

    @Test func credentialsToStoreArePassedOn() async throws {
        let place = try place(gallery)
        let keeping = CredentialKeeping(lookUp: { _ in nil }) { signIn, place, keeping in "\(keeping) is full." }
        let store = CredentialStore(keeping: keeping)
        #expect(await store.keep(signIn, for: place, .session) == nil)
        #expect(await store.keep(signIn, for: place, .keyring) == "keyring is full.")
    }
}
