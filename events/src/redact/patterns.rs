//! What secrets look like: one entry a kind.
//!
//! Rules for patterns, which make redaction idempotent: no `^`, `$` or trailing `\b` (a replacement beside the match
//! must not change whether it matches); a value never holds `[` or `]`; repetitions of a value have no upper bound, so
//! that nothing is left over behind a match. And one for speed: a value without quotes does not hold the sign that
//! stands between name and value, or a chain of them would be read again for each of its parts.

/// One kind of secret.
pub(super) struct Alternative {
    /// As it stands in `[redacted:<kind>]`.
    pub(super) kind: &'static str,
    /// The name of the group that holds the secret itself.
    pub(super) group: &'static str,
    /// The pattern.
    pub(super) pattern: &'static str,
    /// Whether the value (first argument; second: the text behind it) really is one.
    pub(super) is_secret: fn(&str, &str) -> bool,
}

/// All kinds; where two match at the same place, the first wins.
pub(super) const ALTERNATIVES: &[Alternative] = &[
    Alternative {
        kind: "private_key",
        group: "pem",
        pattern: r"(?P<pem>-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?:\s|\\[nr])*(?:[A-Za-z-]+: [^\n\[\]]*\n)*(?:\s|\\[nr])*(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr])*)+(?:[A-Za-z0-9+/=]+(?:\s|\\[nr])*)?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----)?)",
        is_secret: always,
    },
    Alternative {
        kind: "anthropic_key",
        group: "anthropic",
        pattern: r"(?P<anthropic>(?-u:\b)sk-ant-[A-Za-z0-9_-]{16,})",
        is_secret: always,
    },
    Alternative {
        kind: "api_key",
        group: "sk",
        pattern: r"(?P<sk>(?-u:\b)sk-[A-Za-z0-9_-]{20,})",
        is_secret: |value, _| mixes_cases_and_digits(value),
    },
    Alternative {
        kind: "github_token",
        group: "github",
        pattern: r"(?P<github>(?-u:\b)(?:gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}))",
        is_secret: always,
    },
    Alternative {
        kind: "gitlab_token",
        group: "gitlab",
        pattern: r"(?P<gitlab>(?-u:\b)glpat-[A-Za-z0-9_-]{16,})",
        is_secret: always,
    },
    Alternative {
        kind: "aws_key_id",
        group: "aws_id",
        pattern: r"(?P<aws_id>(?-u:\b)(?:AKIA|ASIA)[A-Z0-9]{16,})",
        is_secret: |value, _| value.len() == 20,
    },
    Alternative {
        kind: "aws_secret",
        group: "aws_secret",
        pattern: r#"(?i:aws_?(?:secret_?)?(?:access_?)?key["']?\s*[=:]\s*["']?)(?P<aws_secret>[A-Za-z0-9/+]{40,})"#,
        is_secret: |value, _| value.len() == 40 && mixes_cases_and_digits(value),
    },
    Alternative {
        kind: "slack_token",
        group: "slack",
        pattern: r"(?P<slack>(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10,})",
        is_secret: always,
    },
    Alternative {
        kind: "api_key",
        group: "vendor",
        pattern: r"(?P<vendor>(?-u:\b)(?:AIza[A-Za-z0-9_-]{35,}|npm_[A-Za-z0-9]{36,}|hf_[A-Za-z0-9]{30,}|[rs]k_live_[A-Za-z0-9]{20,}))",
        is_secret: |value, _| mixes_cases_and_digits(value),
    },
    Alternative {
        kind: "nkey_seed",
        group: "nkey",
        pattern: r"(?P<nkey>(?-u:\b)S[ACNOUX][A-Z2-7]{56,})",
        is_secret: |value, _| value.len() == 58,
    },
    Alternative {
        kind: "jwt",
        group: "jwt",
        pattern: r"(?P<jwt>(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})",
        is_secret: always,
    },
    Alternative {
        kind: "authorization",
        group: "authorization",
        pattern: r#"(?i:authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+|x-api-key["']?\s*[:=]\s*["']?)(?P<authorization>[A-Za-z0-9._~+/-]{8,})"#,
        is_secret: |value, _| !is_placeholder(value) && !is_one_word(value),
    },
    Alternative {
        kind: "url_password",
        group: "url_password",
        pattern: r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@'"`\[\]<>{}]*:(?P<url_password>[^\s/@'"`\[\]<>{}$]+)@"#,
        is_secret: |value, _| !is_placeholder(value),
    },
    Alternative {
        kind: "secret",
        group: "quoted",
        pattern: r#"(?i:api[_-]?key|token|secret|passw(?:or)?d|passphrase|secret[_-]?key|private[_-]?key)["']?\s*(?::=|=>|[=:])\s*["'](?P<quoted>[^\s"'\[\]<>{}()$`\\]{8,})["']"#,
        is_secret: |value, _| has_letter_and_digit(value) && !is_placeholder(value) && !is_address(value),
    },
    Alternative {
        kind: "secret",
        group: "environment",
        pattern: r#"(?:API_?KEY|TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|SECRET_KEY|PRIVATE_KEY)=(?P<environment>[^\s"'\[\]<>{}()$`\\;,&|=]{8,})"#,
        is_secret: |value, behind| {
            has_letter_and_digit(value) && !is_placeholder(value) && !is_address(value) && !goes_on(behind)
        },
    },
    Alternative {
        kind: "secret",
        group: "bare",
        pattern: r"(?i:api[_-]?key|token|secret|passw(?:or)?d|passphrase)\s*[=:]\s*(?P<bare>[A-Za-z0-9_+/~!@#%^*-]{12,})",
        is_secret: |value, behind| looks_random(value) && !is_address(value) && !goes_on(behind),
    },
];

fn always(_: &str, _: &str) -> bool {
    true
}

fn has_letter_and_digit(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_alphabetic()) && value.bytes().any(|b| b.is_ascii_digit())
}

fn mixes_cases_and_digits(value: &str) -> bool {
    has_letter_and_digit(value)
        && value.bytes().any(|b| b.is_ascii_uppercase())
        && value.bytes().any(|b| b.is_ascii_lowercase())
}

/// Letters and digits take turns more often than in any name somebody would write.
fn looks_random(value: &str) -> bool {
    let bytes = value.as_bytes();
    let turns = bytes.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
    turns.count() >= 5
}

/// Letters of one case only, as in `Authorization: Bearer something`.
fn is_one_word(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_lowercase()) || value.bytes().all(|b| b.is_ascii_uppercase())
}

/// What documentation puts where a secret would be.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let first = lower.bytes().next();
    lower.bytes().all(|b| Some(b) == first)
        || ["password", "passwd", "pass", "secret", "token"].contains(&lower.as_str())
        || lower.starts_with('$')
        || lower.starts_with('%')
        || ["your", "example", "placeholder", "changeme", "xxxx"].iter().any(|word| lower.contains(word))
}

/// A path or an address, not a secret; a password inside an address has a pattern of its own.
fn is_address(value: &str) -> bool {
    value.starts_with(['/', '.', '~']) || value.contains("://")
}

/// Whether an expression goes on behind a value without quotes: then it is code, not a value.
fn goes_on(behind: &str) -> bool {
    behind.starts_with(['(', '.', '[', '{', '<', '\'', '"', '`', '$', '\\', '&']) || behind.starts_with("::")
}
