//! What commands are given so that they find the proxy and trust it: variables, and where a credential is added a file
//! with certificates.

use retrace_guest::message::{Failure, FailureKind};

use crate::error::SandboxError;
use crate::exec::ExecRequest;
use crate::sandbox::Sandbox;

/// Writes the system's certificates, as they are inside, and those on stdin into a file, and prints where it is.
const KEEP_CERTIFICATES: &str = "set -eu
umask 022
mkdir -p \"$HOME/.retrace\"
cd \"$HOME/.retrace\"
{
  for bundle in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \\
    /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
    if [ -r \"$bundle\" ]; then cat \"$bundle\"; echo; break; fi
  done
  cat
} > certificates.pem.new
chmod 0444 certificates.pem.new
mv -f certificates.pem.new certificates.pem
printf '%s/certificates.pem' \"$PWD\"";
/// How long that may take, in milliseconds.
const KEEP_TIMEOUT_MS: u64 = 30_000;

/// Variables that name a file with certificates, for one program or another.
const CERTIFICATE_VARIABLES: [&str; 6] = [
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
];
/// Variables that name the proxy; some programs know only one way of writing them.
const PROXY_VARIABLES: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
/// Not through the proxy: what runs inside talks to itself.
const DIRECT: &str = "localhost,127.0.0.1,::1";

/// The variables of every command.
pub(super) fn variables(port: u16, certificates: Option<&str>) -> Vec<(String, String)> {
    let proxy = format!("http://127.0.0.1:{port}");
    let mut variables: Vec<(String, String)> =
        PROXY_VARIABLES.iter().map(|name| ((*name).to_owned(), proxy.clone())).collect();
    variables.extend(["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), DIRECT.to_owned())));
    if let Some(file) = certificates {
        variables.extend(CERTIFICATE_VARIABLES.iter().map(|name| ((*name).to_owned(), file.to_owned())));
    }
    variables
}

/// Puts a certificate next to the system's; returns the file.
pub(super) async fn keep_certificate(sandbox: &Sandbox, pem: &str) -> Result<String, SandboxError> {
    let request = ExecRequest {
        stdin: Some(pem.to_owned().into()),
        timeout_ms: Some(KEEP_TIMEOUT_MS),
        ..ExecRequest::shell(KEEP_CERTIFICATES)
    };
    let output = sandbox.exec(request).await?.output().await?;
    let path = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.result.succeeded() && path.starts_with('/') {
        return Ok(path);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let message = format!("cannot put certificates into the sandbox: {}", said.trim());
    Err(Failure::new(FailureKind::Io, message).into())
}
