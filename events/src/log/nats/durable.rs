//! What an ack of these servers is worth: whether each that holds the stream syncs before it acks.
//!
//! The servers are asked themselves ([`super::servers`]). Where that is not possible, the operator's word counts
//! (`?durable=assert`), but not against a server's own.

use super::NatsOptions;
use super::api::Remote;
use super::servers;
use crate::log::{Durability, LogError};
use async_nats::jetstream::stream::Info;
use std::collections::BTreeSet;

const HOW: &str = "\nhint: set `jetstream { sync_interval: always }` and let the account ask for $SYS.REQ.SERVER.PING.JSZ; \
                   or vouch for it with ?durable=assert (RETRACE_NATS_DURABLE=assert); \
                   or accept the loss with --accept-nondurable";

/// What an ack is worth, or why that is not enough.
pub(super) async fn check(remote: &Remote, info: &Info, options: &NatsOptions) -> Result<Durability, LogError> {
    let holders = holders(remote, info);
    let answers = servers::ask(&remote.connection, Some(&holders)).await?;
    let acks_early = |name: &&String| answers.get(*name).is_some_and(|server| !server.syncs);
    let lazy: Vec<&str> = holders.iter().filter(acks_early).map(String::as_str).collect();
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
