//! What a request must be like, and what of it goes on: the parts that concern only one connection stay behind, and
//! the header that names the server agrees with where it goes.

use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};

use super::credential::Credential;
use super::refusal::Refusal;
use super::target::Target;

/// Headers that belong to one connection and are not passed on.
const HOP_BY_HOP: [HeaderName; 7] =
    [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, UPGRADE, TRANSFER_ENCODING];
const HOP_BY_HOP_NAMED: [&str; 3] = ["keep-alive", "proxy-connection", "http2-settings"];

/// The `Host` header, if there is one, must mean the same as the target. `usual_port` is what it stands for when it
/// names none.
pub(super) fn check_host(headers: &HeaderMap, target: &Target, usual_port: u16) -> Result<(), Refusal> {
    let mut values = headers.get_all(HOST).iter();
    let Some(value) = values.next() else { return Ok(()) };
    let named = value.to_str().ok().and_then(|text| Target::parse(text, Some(usual_port)).ok());
    if values.next().is_some() || named.as_ref() != Some(target) {
        let said = super::refusal::printable(&String::from_utf8_lossy(value.as_bytes()), 253);
        return Err(Refusal::BadRequest(format!("the request goes to {target}, but its Host header says {said:?}")));
    }
    Ok(())
}

/// The request as the server gets it.
pub(super) fn outgoing(
    mut request: Request<Incoming>,
    target: &Target,
    usual_port: u16,
    credential: Option<&Credential>,
) -> Result<Request<Incoming>, Refusal> {
    if credential.is_some() && request.method() == Method::TRACE {
        return Err(Refusal::BadRequest("TRACE would show the credential that is added for this domain".to_owned()));
    }
    let asterisk = request.method() == Method::OPTIONS && request.uri().path() == "*";
    let path = request.uri().path_and_query().cloned();
    let path =
        path.filter(|_| !asterisk).unwrap_or_else(|| PathAndQuery::from_static(if asterisk { "*" } else { "/" }));
    *request.uri_mut() = Uri::from(path);
    *request.version_mut() = Version::HTTP_11;
    request.extensions_mut().clear();
    let headers = request.headers_mut();
    strip(headers);
    headers.remove(EXPECT);
    let host = HeaderValue::from_str(&target.authority(usual_port))
        .map_err(|_| Refusal::BadRequest("the host cannot be put into a header".to_owned()))?;
    headers.insert(HOST, host);
    if let Some(credential) = credential {
        let (name, value) = credential.header();
        // Takes the place of all that came from inside.
        headers.insert(name, value);
    }
    Ok(request)
}

/// The answer as the command gets it.
pub(super) fn incoming(mut response: Response<Incoming>) -> Result<Response<Incoming>, Refusal> {
    if response.status().is_informational() || response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Refusal::Unreachable("the server wants to change to another protocol".to_owned()));
    }
    *response.version_mut() = Version::HTTP_11;
    let headers = response.headers_mut();
    if headers.contains_key(TRANSFER_ENCODING) {
        // Which of two lengths counts has been decided; the other must not confuse anyone.
        headers.remove(CONTENT_LENGTH);
    }
    strip(headers);
    Ok(response)
}

fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // How long the body is, and where it goes, is not for a connection to say.
        .filter(|name| *name != CONTENT_LENGTH && *name != HOST)
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    for name in HOP_BY_HOP_NAMED {
        headers.remove(name);
    }
}
