//! What servers say of themselves: whether they sync before they ack, and how much room they have.
//!
//! A plain client cannot see either. A system account's service can tell it, and an operator can let an account ask:
//!
//! ```text
//! jetstream { sync_interval: always }
//! accounts {
//!   SYS:     { exports: [ { service: "$SYS.REQ.SERVER.PING.JSZ", response: stream } ] }
//!   RETRACE: { jetstream: enabled, users: [ … ]
//!              imports: [ { service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ" } } ] }
//! }
//! system_account: SYS
//! ```

use super::connect::Connection;
use crate::log::LogError;
use futures::StreamExt;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long servers have to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// How long to wait for one more, when nobody knows how many there are.
const ONE_MORE: Duration = Duration::from_millis(250);

/// The most servers that are listened to.
const MAX_SERVERS: usize = 1_000;

const QUESTION: &str = "$SYS.REQ.SERVER.PING.JSZ";

/// What a server says of its JetStream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Server {
    /// Whether it syncs before it acks.
    pub(super) syncs: bool,
    /// How many bytes it has not promised to any stream yet.
    pub(super) free_bytes: u64,
}

/// The servers that answer, by name; none when this account may not ask. Waits for those in `awaited`, or, without
/// it, until no more answer.
pub(super) async fn ask(
    connection: &Connection,
    awaited: Option<&BTreeSet<String>>,
) -> Result<BTreeMap<String, Server>, LogError> {
    let client = &connection.client;
    let inbox = client.new_inbox();
    let mut replies = client.subscribe(inbox.clone()).await.map_err(|e| connection.unavailable(&e))?;
    let asked = client.publish_with_reply(QUESTION, inbox, "{}".into()).await;
    asked.map_err(|e| connection.unavailable(&e))?;
    let mut servers = BTreeMap::new();
    let mut until = Instant::now() + ANSWER;
    while servers.len() < MAX_SERVERS
        && awaited.is_none_or(|names| names.iter().any(|name| !servers.contains_key(name)))
    {
        // A missing permission shows as silence, a missing import as a message with a status.
        let Ok(Some(reply)) = timeout_at(until, replies.next()).await else { break };
        if reply.status.is_some() {
            break;
        }
        if let Ok(answer) = serde_json::from_slice::<Answer>(&reply.payload) {
            let Data { disabled, reserved_storage, config } = answer.data;
            let free_bytes = config.max_storage.saturating_sub(reserved_storage);
            // Servers without JetStream answer too; they hold nothing.
            if !disabled {
                servers.insert(answer.server.name, Server { syncs: config.sync_always, free_bytes });
            }
        }
        if awaited.is_none() {
            until = Instant::now() + ONE_MORE;
        }
    }
    Ok(servers)
}

/// A server's answer, as far as we need it.
#[derive(Debug, Deserialize)]
struct Answer {
    server: ServerName,
    #[serde(default)]
    data: Data,
}

#[derive(Debug, Deserialize)]
struct ServerName {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
struct Data {
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    reserved_storage: u64,
    #[serde(default)]
    config: JetStreamConfig,
}

#[derive(Debug, Default, Deserialize)]
struct JetStreamConfig {
    #[serde(default)]
    sync_always: bool,
    #[serde(default)]
    max_storage: u64,
}
