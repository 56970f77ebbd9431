//! What was seen of a folder's files the last time: their stamps, and the ids of their contents.

use super::ids::ObjectId;
use super::stamp::{Stamp, Time};
use super::tree::Input;

/// A file as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen<'a> {
    pub(super) name: &'a [u8],
    pub(super) stamp: Stamp,
    pub(super) id: ObjectId,
}

/// Appends a file to a row.
pub(super) fn write(row: &mut Vec<u8>, seen: &Seen<'_>) {
    let stamp = &seen.stamp;
    row.push(u8::try_from(seen.name.len()).unwrap_or(u8::MAX));
    row.extend(seen.name);
    row.extend(stamp.inode.to_le_bytes());
    row.extend(stamp.size.to_le_bytes());
    row.extend(stamp.mode.to_le_bytes());
    for time in [stamp.modified, stamp.changed] {
        row.extend(time.seconds.to_le_bytes());
        row.extend(time.nanoseconds.to_le_bytes());
    }
    row.extend(seen.id.as_bytes());
}

/// Reads a row, from its beginning to where it stops making sense.
pub(super) fn read(row: &[u8]) -> impl Iterator<Item = Seen<'_>> {
    let mut input = Input(row);
    std::iter::from_fn(move || one(&mut input).ok())
}

fn one<'a>(input: &mut Input<'a>) -> Result<Seen<'a>, String> {
    let [length] = input.take()?;
    let name = input.slice(usize::from(length))?;
    let (inode, size) = (u64::from_le_bytes(input.take()?), u64::from_le_bytes(input.take()?));
    let mode = u16::from_le_bytes(input.take()?);
    let mut time = || -> Result<Time, String> {
        Ok(Time { seconds: i64::from_le_bytes(input.take()?), nanoseconds: u32::from_le_bytes(input.take()?) })
    };
    let (modified, changed) = (time()?, time()?);
    Ok(Seen { name, stamp: Stamp { inode, size, mode, modified, changed }, id: input.id()? })
}
