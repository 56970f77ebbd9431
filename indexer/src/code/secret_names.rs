//! Names of files that hold secrets, by custom. They are not even opened.

/// Whether a file of this name is left alone.
pub(super) fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.as_str();
    if let Some(rest) = name.strip_prefix(".env") {
        // `.env.example` is there to be read.
        let is_sample =
            [".example", ".sample", ".template", ".dist", ".defaults"].iter().any(|end| rest.ends_with(end));
        return !is_sample && (rest.is_empty() || rest.starts_with(['.', '-', '_']) || rest == "rc");
    }
    const WHOLE: [&str; 28] = [
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "id_ecdsa_sk",
        "id_ed25519_sk",
        ".netrc",
        "_netrc",
        ".pgpass",
        ".my.cnf",
        ".git-credentials",
        ".npmrc",
        ".pypirc",
        ".htpasswd",
        ".dockercfg",
        ".s3cfg",
        ".boto",
        "credentials",
        "credentials.json",
        "credentials.toml",
        "client_secret.json",
        "service-account.json",
        "service_account.json",
        "secrets.yml",
        "secrets.yaml",
        "secrets.json",
        "secrets.toml",
        "kubeconfig",
    ];
    const ENDS: [&str; 16] = [
        ".pem",
        ".key",
        ".p12",
        ".pfx",
        ".jks",
        ".keystore",
        ".kdbx",
        ".kdb",
        ".ppk",
        ".gpg",
        ".asc",
        ".age",
        ".p8",
        ".ovpn",
        ".tfstate",
        ".tfvars",
    ];
    WHOLE.contains(&name) || ENDS.iter().any(|end| name.ends_with(end))
}
