//! Which call a connection came from: its socket's inode, the process that holds it, and that process's environment.
//!
//! It is a hint and nothing may depend on it: a command can set the variable as it likes, pass its socket to another
//! process, or end before anyone looks. How much is looked at is bounded, because commands decide how much there is.

use std::fs::{self, File};
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::Path;

use crate::CALL_ID_VARIABLE;

/// The most file descriptors that are looked at.
const MAX_DESCRIPTORS: usize = 16 * 1024;
/// The most bytes of an environment that are looked at.
const MAX_ENVIRONMENT_BYTES: u64 = 256 * 1024;
/// The most bytes of the list of sockets that are looked at.
const MAX_SOCKETS_BYTES: u64 = 1024 * 1024;
/// The most ancestors that are asked.
const MAX_ANCESTORS: usize = 64;
/// The longest call id.
const MAX_ID_BYTES: usize = 128;

/// The call that a connection from `peer` to our port came from, where that can be found.
pub(super) fn of(peer: SocketAddr, port: u16) -> Option<String> {
    // A connection of the new protocol to the old one's address is in the other list.
    let inode =
        ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|list| inode_of(&start_of(list)?, peer.port(), port))?;
    call_of(holder_of(inode)?)
}

fn start_of(list: &str) -> Option<String> {
    let mut text = String::new();
    File::open(list).ok()?.take(MAX_SOCKETS_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Finds the socket with this local and this remote port in a list of the kernel's.
fn inode_of(list: &str, local_port: u16, remote_port: u16) -> Option<u64> {
    let port_of = |address: &str| u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok();
    list.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let matches = port_of(fields.get(1)?)? == local_port && port_of(fields.get(2)?)? == remote_port;
        // A socket that nobody holds any more has no inode.
        fields.get(9)?.parse().ok().filter(|inode| matches && *inode != 0)
    })
}

fn holder_of(inode: u64) -> Option<i32> {
    let wanted = format!("socket:[{inode}]");
    let own = std::process::id().cast_signed();
    let mut left = MAX_DESCRIPTORS;
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        // Ours cannot be read, nor can those of processes that forbid it.
        let Ok(descriptors) = fs::read_dir(process.path().join("fd")) else { continue };
        if pid == own {
            continue;
        }
        for descriptor in descriptors.flatten() {
            left = left.checked_sub(1)?;
            if fs::read_link(descriptor.path()).is_ok_and(|target| target == Path::new(&wanted)) {
                return Some(pid);
            }
        }
    }
    None
}

/// The call id of a process, or of its nearest ancestor that has one.
fn call_of(pid: i32) -> Option<String> {
    let mut pid = pid;
    for _ in 0..MAX_ANCESTORS {
        if let Some(id) = id_in(&environment(pid)) {
            return Some(id);
        }
        pid = parent(pid).filter(|parent| *parent > 1)?;
    }
    None
}

fn environment(pid: i32) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(format!("/proc/{pid}/environ")) {
        // What could be read until an error is as good a hint as any.
        let _ = file.take(MAX_ENVIRONMENT_BYTES).read_to_end(&mut bytes);
    }
    bytes
}

fn id_in(environment: &[u8]) -> Option<String> {
    let prefix = [CALL_ID_VARIABLE.as_bytes(), b"="].concat();
    let id = environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(prefix.as_slice()))?;
    let is_plain = !id.is_empty() && id.len() <= MAX_ID_BYTES && id.iter().all(u8::is_ascii_graphic);
    is_plain.then(|| String::from_utf8_lossy(id).into_owned())
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name before the closing parenthesis may contain anything.
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod origin_tests;
