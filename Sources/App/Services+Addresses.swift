import Cache
import Model

extension Services {
    /// The whole address of a gallery that a file holds without the secrets in it. The list of galleries has it, or else the
    /// gallery's cache; nil if neither does.
    func wholeAddress(of gallery: Address, _ caches: CacheFolder) throws -> Address? {
        guard gallery.lacksSecrets else { return gallery }
        let known = try rememberedGalleries().addresses + caches.galleries().compactMap { $0.record?.address }
        return known.first { $0.textWithoutSecrets == gallery.textWithoutSecrets }
    }
}
