//! Secrets go, everything else stays, and twice is as good as once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::Redactor;
use proptest::prelude::*;
use std::borrow::Cow;

/// Made up, in parts, so that no scanner takes this file for a leak.
fn secrets() -> Vec<(&'static str, String)> {
    vec![
        ("anthropic_key", format!("sk-ant-{}", "api03-Zk3jd9Xq21mmLpQ8vv_0aB-cD")),
        ("api_key", format!("sk-{}", "proj-Zk3jd9Xq21mmLpQ8vv0aBcD7")),
        ("github_token", format!("ghp_{}", "Zk3jd9Xq21mmLpQ8vv0aBcD7eF5gH6iJ7kL8")),
        ("github_token", format!("gho_{}", "Zk3jd9Xq21mmLpQ8vv0aBcD7eF5gH6iJ7kL8")),
        ("github_token", format!("github_pat_{}", "11ABCDEFG0Zk3jd9Xq21mm_LpQ8vv0aBcD7eF5g")),
        ("gitlab_token", format!("glpat-{}", "Zk3jd9Xq21mmLpQ8vv0a")),
        ("aws_key_id", format!("AKIA{}", "IOSFODNN7EXAMPLE")),
        ("slack_token", format!("xoxb-{}", "1234567890-abcdefghij")),
        ("api_key", format!("AIza{}", "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q")),
        ("nkey_seed", format!("SU{}", "AMOPLMOZJ6OJZQ3XZDZLVCXMSF7IRTDDUE7SDFMOYHNYNBPQ4EVBTQ2Y")),
        ("jwt", format!("eyJ{}", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P")),
    ]
}

fn redacted(text: &str) -> String {
    Redactor::new(Vec::new()).redact(text).into_owned()
}

#[test]
fn secrets_of_known_shapes_go() {
    for (kind, secret) in secrets() {
        for (before, after) in [("", ""), ("key: ", "\n"), ("\"", "\","), ("export X=", " && y"), ("(", ")")] {
            let text = format!("{before}{secret}{after}");
            assert_eq!(redacted(&text), format!("{before}[redacted:{kind}]{after}"), "{text}");
        }
    }
}

#[test]
fn secrets_that_are_given_a_name_go() {
    let aws = format!("{}/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI");
    let cases = [
        ("password = \"hunter2hunter2\"", "password = \"[redacted:secret]\""),
        ("\"client_secret\": \"a1b2c3d4e5\"", "\"client_secret\": \"[redacted:secret]\""),
        ("API_KEY='abcd1234efgh'", "API_KEY='[redacted:secret]'"),
        ("  db_password: 'p4ssw0rd!'", "  db_password: '[redacted:secret]'"),
        ("DATABASE_PASSWORD=s3cr3t-v4lue\n", "DATABASE_PASSWORD=[redacted:secret]\n"),
        ("GITHUB_TOKEN=abc123def456 make", "GITHUB_TOKEN=[redacted:secret] make"),
        ("secret: Zk3jd9Xq21mmLpQ8vv", "secret: [redacted:secret]"),
        ("Authorization: Bearer abc.def-123_4", "Authorization: Bearer [redacted:authorization]"),
        ("-H 'authorization: Basic dXNlcjpwYXNzMTIz'", "-H 'authorization: Basic [redacted:authorization]'"),
        ("x-api-key: abcd1234abcd", "x-api-key: [redacted:authorization]"),
        ("postgres://ada:lovelace@db:5432/x", "postgres://ada:[redacted:url_password]@db:5432/x"),
        ("https://:t0ken@example.com/repo.git", "https://:[redacted:url_password]@example.com/repo.git"),
    ];
    for (text, expected) in cases {
        assert_eq!(redacted(text), expected);
    }
    assert_eq!(redacted(&format!("aws_secret_access_key = {aws}")), "aws_secret_access_key = [redacted:aws_secret]");
}

#[test]
fn private_keys_go_whole() {
    let body =
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dV\n";
    for kind in ["", "RSA ", "OPENSSH ", "EC "] {
        let key = format!("-----BEGIN {kind}PRIVATE KEY-----\n{body}-----END {kind}PRIVATE KEY-----");
        assert_eq!(redacted(&format!("a\n{key}\nb")), "a\n[redacted:private_key]\nb");
        // As it stands in JSON, and cut off in the middle.
        let escaped = key.replace('\n', "\\n");
        assert_eq!(redacted(&format!("{{\"key\":\"{escaped}\"}}")), "{\"key\":\"[redacted:private_key]\"}");
        assert!(redacted(&key[..100]).starts_with("[redacted:private_key]"));
    }
    let armoured =
        format!("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\n{body}");
    assert_eq!(redacted(&armoured), "[redacted:private_key]");
    for public in
        ["-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n", "grep -r '-----BEGIN PRIVATE KEY-----' ."]
    {
        assert_eq!(redacted(public), public);
    }
}

#[test]
fn known_values_go_wherever_they_stand() {
    let known = ["correct horse battery", "line\nwith \"quotes\"", "short", "correct horse", "x.y*z(a)"];
    let redactor = Redactor::new(known.iter().map(ToString::to_string).collect());
    assert_eq!(redactor.redact("xcorrect horse batteryx"), "x[redacted:known]x");
    assert_eq!(redactor.redact("correct horses"), "[redacted:known]s");
    assert_eq!(redactor.redact("short"), "short");
    assert_eq!(redactor.redact("x.y*z(a) x.yyz(a)"), "[redacted:known] x.yyz(a)");
    assert_eq!(redactor.redact(r#"{"a":"line\nwith \"quotes\""}"#), r#"{"a":"[redacted:known]"}"#);
    assert_eq!(redactor.redact("line\nwith \"quotes\""), "[redacted:known]");
}

#[test]
fn what_is_left_of_a_value_is_looked_at_again() {
    // With the key id at its end the value looks like a placeholder, without it like a secret.
    let text = "Authorization: Bearer knownsk-ant-AKIAIOSFODNN7EXAMPLE";
    let expected = "Authorization: Bearer [redacted:authorization][redacted:aws_key_id]";
    assert_eq!(redacted(text), expected);
    assert_eq!(redacted(expected), expected);
}

#[test]
fn what_is_no_secret_stays() {
    let harmless = [
        "let token = parser.next_token()?;",
        "password: String,",
        "let secret = get_secret(\"database\")?;",
        "api_key = os.environ[\"ANTHROPIC_API_KEY\"]",
        "const TOKEN: &str = \"identifier\";",
        "MAX_TOKENS=32000",
        "max_tokens: 128000,",
        "token: \"Identifier\", secret=\"changeme\"",
        "PASSWORD=$(cat /run/secrets/db1)",
        "PASSWORD=${DB_PASSWORD1}",
        "API_KEY=<your-api-key-1>",
        "API_KEY=your-api-key-1",
        "SECRET=/run/secrets/db1",
        "token = sha256_hex(input)",
        "let secret = base64::decode(x)?;",
        "\"token\": \"a b c d e f 1\"",
        "if token == Token::Number42Literal {",
        "git@github.com:someone/something.git",
        "http://localhost:8080/@user",
        "https://example.com/a?b=c:d@e",
        "ssh://git@example.com:22/x",
        "https://user:${PASSWORD}@example.com",
        "sk-loading-indicator-wrapper-element",
        "task-0123456789abcdefABCDEF01",
        "eyJhbGciOiJIUzI1NiJ9",
        "Bearer tokens are described in RFC 6750",
        "Authorization: Bearer <token>",
        "Authorization: Bearer YOUR_API_KEY_1",
        "AKIA is a prefix",
        "3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
        "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
        "blake3: af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
        "[redacted:known] and [redacted:api_key]",
        "",
    ];
    let redactor = Redactor::new(Vec::new());
    for text in harmless {
        assert!(
            matches!(redactor.redact(text), Cow::Borrowed(same) if same == text),
            "{text} became {}",
            redactor.redact(text)
        );
    }
}

#[test]
fn our_own_sources_stay_as_they_are() {
    let redactor = Redactor::new(Vec::new());
    let mut seen = 0;
    let mut folders = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !["redact", "tests"].iter().any(|made_up| path.to_string_lossy().contains(made_up)) {
                let text = std::fs::read_to_string(&path).unwrap();
                assert_eq!(redactor.redact(&text), text, "{}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 30);
}

#[test]
fn hostile_text_takes_no_longer_than_its_length() {
    let redactor = Redactor::new(vec!["a".repeat(5_000), "known-secret-1".to_owned()]);
    let hostile = [
        "a".repeat(2_000_000),
        "token=".repeat(300_000),
        "token='".repeat(300_000),
        "eyJ".repeat(600_000),
        "x://:".repeat(400_000),
        "-----BEGIN PRIVATE KEY-----\n".repeat(60_000),
        "password: ".repeat(200_000) + &"a1".repeat(100_000),
        "known-secret-1".repeat(150_000),
        "x-api-key=".repeat(200_000),
        "sk-ant-abcdefghijklmnop.".repeat(80_000),
    ];
    for text in hostile {
        let started = std::time::Instant::now();
        let once = redactor.redact(&text).into_owned();
        assert_eq!(redactor.redact(&once), once);
        assert!(started.elapsed().as_secs() < 20, "{} took {:?}", &text[..20], started.elapsed());
    }
}

/// Text in which secrets, parts of secrets and things that look like them touch each other.
fn tangled() -> impl Strategy<Value = String> {
    let mut parts: Vec<String> = secrets().into_iter().map(|(_, secret)| secret).collect();
    let fragments = [
        "token",
        "=",
        ": ",
        "password",
        "\"",
        "'",
        " ",
        "\n",
        "[redacted:known]",
        "[redacted:",
        "]",
        "known-secret-1",
        "known",
        "-secret",
        "Authorization: Bearer ",
        "https://a:",
        "@b",
        "_",
        "A",
        "a1b2c3d4e5f6",
        "-----BEGIN PRIVATE KEY-----",
        "MIIEvQIBADANBgkqhkiG9w0BAQEF",
        "x-api-key=",
        "sk-ant-",
        "AKIA",
        "eyJ",
        ".",
        "é",
    ];
    parts.extend(fragments.iter().map(ToString::to_string));
    let part = prop_oneof![4 => prop::sample::select(parts), 1 => any::<String>()];
    prop::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn twice_is_as_good_as_once(text in tangled()) {
        let redactor = Redactor::new(vec!["known-secret-1".to_owned(), "secret-1234567".to_owned()]);
        let once = redactor.redact(&text).into_owned();
        prop_assert_eq!(redactor.redact(&once).into_owned(), once.clone());
        prop_assert!(!once.contains("known-secret-1"));
    }

    #[test]
    fn a_known_value_never_stays(before in any::<String>(), secret in "[ -~]{8,40}", after in any::<String>()) {
        prop_assume!(!secret.contains("[redacted"));
        let redactor = Redactor::new(vec![secret.clone()]);
        let text = format!("{before}\n{secret}\n{after}");
        let cleaned = redactor.redact(&text).into_owned();
        prop_assert!(!cleaned.contains(&secret), "{}", cleaned);
    }
}
