//! Why a connection is not made: one line that a model and a person can act on.

use std::net::IpAddr;

use bytes::Bytes;
use http_body_util::Full;
use hyper::ext::ReasonPhrase;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use super::report::Verdict;
use super::target::Target;

/// The setting that holds the allow-list, as messages name it.
pub(super) const ALLOW_SETTING: &str = "network";
/// The most characters of such a line.
const MAX_LINE_CHARS: usize = 400;

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("{target} is not on the allow-list of this sandbox\nhint: the user can allow it by adding {target} to the setting {ALLOW_SETTING:?}", target = short(.0))]
    NotListed(Target),
    #[error("port {} of {} is not allowed, although other ports are\nhint: the user can allow it by adding \"{}\" to the setting {ALLOW_SETTING:?}", .0.port, .0.host, .0)]
    OtherPort(Target),
    #[error("{target} leads to {address}, which is {kind}\nhint: the user can allow it by adding \"{}\" to the setting {ALLOW_SETTING:?} too", with_port(*.address, .target.port))]
    Address { target: Target, address: IpAddr, kind: &'static str },
    #[error("{what}: {reason}")]
    BadTarget { what: String, reason: String },
    #[error("{0}")]
    BadRequest(String),
    #[error("this sandbox's connections have used up their {limit_bytes} bytes")]
    UsedUp { limit_bytes: u64 },
    #[error("{0}")]
    Unreachable(String),
}

impl Refusal {
    pub(super) fn verdict(&self) -> Verdict {
        let why = self.line();
        match self {
            Self::Unreachable(_) => Verdict::Failed { why },
            Self::NotListed(_)
            | Self::OtherPort(_)
            | Self::Address { .. }
            | Self::BadTarget { .. }
            | Self::BadRequest(_)
            | Self::UsedUp { .. } => Verdict::Refused { why },
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NotListed(_) | Self::OtherPort(_) | Self::Address { .. } | Self::UsedUp { .. } => {
                StatusCode::FORBIDDEN
            }
            Self::BadTarget { .. } | Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::Unreachable(_) => StatusCode::BAD_GATEWAY,
        }
    }

    /// In one line, of printable characters only.
    pub(super) fn line(&self) -> String {
        printable(&self.to_string().replace("\nhint: ", "; "), MAX_LINE_CHARS)
    }

    /// The answer to the command. Some programs show the body, some the reason behind the status, so both have it.
    pub(super) fn response(&self) -> Response<Full<Bytes>> {
        let line = format!("retrace: connection refused: {}", self.line());
        let mut response = Response::new(Full::new(Bytes::from(format!("{line}\n"))));
        *response.status_mut() = self.status();
        if let Ok(reason) = ReasonPhrase::try_from(line) {
            response.extensions_mut().insert(reason);
        }
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }
}

/// What a user would write into the list.
fn short(target: &Target) -> String {
    let usual = super::entry::USUAL_PORTS.contains(&target.port);
    if usual { format!("\"{}\"", target.authority(target.port)) } else { format!("\"{target}\"") }
}

fn with_port(address: IpAddr, port: u16) -> Target {
    Target { host: super::target::Host::Address(address), port }
}

/// Something that a command wrote, harmless to show.
pub(super) fn printable(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).map(|char| if matches!(char, ' '..='~') { char } else { '?' }).collect()
}
