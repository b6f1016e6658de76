import Testing

import Text

@Suite struct SecretsTests {
    @Test(
        "Values of secret parameters are redacted",
        arguments: [
            ("http://a.org/?access_token=s3cret", "http://a.org/?access_token=…"),
            ("http://a.org/?page=2&X-Amz-Signature=ab%2Fcd&w=3", "http://a.org/?page=2&X-Amz-Signature=…&w=3"),
            (
                "X-Amz-Credential=AKIA/2026/s3&X-Amz-Security-Token=x==&a=b",
                "X-Amz-Credential=…&X-Amz-Security-Token=…&a=b"
            ),
            (
                "key=1&sig=2&signature=3&password=4&auth=5&api_key=6&apikey=7&secret=8&code=9&client-secret=0",
                "key=…&sig=…&signature=…&password=…&auth=…&api_key=…&apikey=…&secret=…&code=…&client-secret=…"
            ),
            ("“http://a.org/?Token=s3cret” is one too many", "“http://a.org/?Token=…” is one too many"),
            ("#1 http://a.org/?a=b&token=x;y 200", "#1 http://a.org/?a=b&token=… 200"),
            ("?access%5Ftoken=x", "?access%5Ftoken=…"), ("?token=", "?token="), ("?token=#a", "?token=#a"),
        ])
    func leftOut(text: String, expected: String) {
        #expect(text.withoutSecrets == expected)
        #expect(expected.withoutSecrets == expected)
    }

    @Test(
        "Other parameters and texts stay unchanged",
        arguments: ["", "a=b", "http://a.org/?page=2&size=3&monk=4", "=", "?=x", "2 + 2 = 4", "http://a.org/token/x"])
    func kept(text: String) {
        #expect(text.withoutSecrets == text)
    }
}
