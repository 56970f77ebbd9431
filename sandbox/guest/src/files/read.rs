//! Reading a range of a file, and saying what a path is.

use std::os::unix::fs::FileExt as _;

use rustix::fs::{OFlags, fstat};

use super::root::{Root, failure, io_failure, kind_of};
use crate::frame::MAX_BODY_BYTES;
use crate::mailbox::Mailbox;
use crate::message::{Failure, FailureKind, FileStat, MAX_READ_BYTES, ReadDone, ReadSpec, Response, StatSpec};
use crate::server::Guest;

/// Reads at most the asked-for range, in parts.
pub(crate) fn read(guest: &Guest, id: u64, spec: &ReadSpec, mailbox: &Mailbox) -> Result<Response, Failure> {
    let relative = guest.root.relative(&spec.path)?;
    let (file, stat) = guest.root.open_file(&relative)?;
    let limit = spec.limit.min(MAX_READ_BYTES);
    let mut sent_bytes = 0;
    let mut part = vec![0; usize::try_from(limit).unwrap_or(MAX_BODY_BYTES).min(MAX_BODY_BYTES)];
    while sent_bytes < limit && !mailbox.killed() {
        let left = usize::try_from(limit - sent_bytes).unwrap_or(usize::MAX).min(part.len());
        let window = part.get_mut(..left).unwrap_or_default();
        let count = match file.read_at(window, spec.offset.saturating_add(sent_bytes)) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(io_failure(&relative, &error)),
        };
        guest
            .outbox
            .send(id, &Response::Data, window.get(..count).unwrap_or_default())
            .map_err(|error| Failure::new(FailureKind::Io, error.to_string()))?;
        sent_bytes += count as u64;
    }
    Ok(Response::ReadDone(ReadDone { total_bytes: stat.st_size.cast_unsigned(), sent_bytes }))
}

/// Says what a path is.
pub(crate) fn stat(root: &Root, spec: &StatSpec) -> Result<Response, Failure> {
    let relative = root.relative(&spec.path)?;
    let nofollow = if spec.follow { OFlags::empty() } else { OFlags::NOFOLLOW };
    let file = root.open_at(&relative, OFlags::PATH | nofollow)?;
    let stat = fstat(&file).map_err(|error| failure(&relative, error))?;
    let modified_ms = stat.st_mtime.saturating_mul(1000).saturating_add(stat.st_mtime_nsec.cast_signed() / 1_000_000);
    Ok(Response::Stat(FileStat {
        kind: kind_of(&stat),
        size_bytes: stat.st_size.cast_unsigned(),
        mode: stat.st_mode & 0o7777,
        modified_ms,
    }))
}
