//! What an ack of these servers is worth: whether each that holds the stream syncs before it acks.
//!
//! A plain client cannot see that setting. A system account's service can tell it (`$SYS.REQ.SERVER.PING.JSZ`), and
//! an operator can let an account ask:
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
//!
//! Where that is not possible, the operator's word counts (`?durable=assert`), but not against a server's own.

use super::NatsOptions;
use super::api::Remote;
use crate::log::{Durability, LogError};
use async_nats::jetstream::stream::Info;
use futures::StreamExt;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long servers have to answer.
const ANSWER: Duration = Duration::from_secs(2);

const QUESTION: &str = "$SYS.REQ.SERVER.PING.JSZ";

const HOW: &str = "\nhint: set `jetstream { sync_interval: always }` and let the account ask for $SYS.REQ.SERVER.PING.JSZ; \
                   or vouch for it with ?durable=assert (RETRACE_NATS_DURABLE=assert); \
                   or accept the loss with --accept-nondurable";

/// A server's answer, as far as we need it.
#[derive(Debug, Deserialize)]
struct Answer {
    server: Server,
    #[serde(default)]
    data: Data,
}

#[derive(Debug, Deserialize)]
struct Server {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
struct Data {
    #[serde(default)]
    config: JetStreamConfig,
}

#[derive(Debug, Default, Deserialize)]
struct JetStreamConfig {
    #[serde(default)]
    sync_always: bool,
}

/// What an ack is worth, or why that is not enough.
pub(super) async fn check(remote: &Remote, info: &Info, options: &NatsOptions) -> Result<Durability, LogError> {
    let holders = holders(remote, info);
    let answers = ask(remote, &holders).await?;
    let lazy: Vec<&str> = answers.iter().filter(|(_, syncs)| !**syncs).map(|(name, _)| name.as_str()).collect();
    let silent: Vec<&str> = holders.iter().filter(|name| !answers.contains_key(*name)).map(String::as_str).collect();
    let doubt = if !lazy.is_empty() {
        format!("server {} acks before it syncs (no `sync_interval: always`)", lazy.join(", "))
    } else if silent.is_empty() || options.assert_durable {
        return Ok(Durability::PowerLoss);
    } else {
        format!("whether server {} syncs before it acks is not known", silent.join(", "))
    };
    if options.accept_nondurable {
        tracing::warn!(location = %remote.location, "{doubt}: events may be lost with the server's power");
        return Ok(Durability::ProcessCrash(doubt));
    }
    Err(LogError::Unfit { location: remote.location.clone(), why: format!("{doubt}{HOW}") })
}

/// The names of the servers that hold a copy of the stream.
fn holders(remote: &Remote, info: &Info) -> BTreeSet<String> {
    let cluster = info.cluster.as_ref();
    let replicas = cluster.into_iter().flat_map(|cluster| cluster.replicas.iter().map(|peer| peer.name.clone()));
    let leader = cluster.and_then(|cluster| cluster.leader.clone());
    let names: BTreeSet<String> = replicas.chain(leader).filter(|name| !name.is_empty()).collect();
    if names.is_empty() { BTreeSet::from([remote.client.server_info().server_name]) } else { names }
}

/// Asks all servers, and waits for those named in `holders`. Whether each syncs, by name.
async fn ask(remote: &Remote, holders: &BTreeSet<String>) -> Result<BTreeMap<String, bool>, LogError> {
    let inbox = remote.client.new_inbox();
    let mut replies = remote.client.subscribe(inbox.clone()).await.map_err(|e| remote.unavailable(&e))?;
    let asked = remote.client.publish_with_reply(QUESTION, inbox, "{}".into()).await;
    asked.map_err(|e| remote.unavailable(&e))?;
    let mut answers = BTreeMap::new();
    let until = tokio::time::Instant::now() + ANSWER;
    while !holders.iter().all(|name| answers.contains_key(name)) {
        // A missing permission shows as silence, a missing import as a message with a status.
        let Ok(Some(reply)) = tokio::time::timeout_at(until, replies.next()).await else { break };
        if reply.status.is_some() {
            break;
        }
        if let Ok(answer) = serde_json::from_slice::<Answer>(&reply.payload) {
            // Servers without JetStream answer too; they hold nothing.
            if holders.contains(&answer.server.name) {
                answers.insert(answer.server.name, answer.data.config.sync_always);
            }
        }
    }
    Ok(answers)
}
