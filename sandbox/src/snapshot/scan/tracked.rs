//! The names in a git index: what git tracks is never ignored, whatever `.gitignore` says.
//!
//! Only names are read, strictly: an index that is not understood to its last byte is not used at all. No git runs, and
//! nothing of the repository's configuration is looked at.

use super::super::tree::Input;

/// Both kinds of hash that git has.
const HASH_LENGTHS: [usize; 2] = [20, 32];
/// Fields of an entry before its hash: times, device, inode, mode, owner, size.
const BEFORE_HASH: usize = 40;
const EXTENDED: u16 = 0x4000;

/// The tracked paths, in the order of their bytes.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    names: Vec<u8>,
    /// Where each one ends in `names`.
    ends: Vec<usize>,
}

impl Tracked {
    /// Reads an index.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        HASH_LENGTHS.into_iter().find_map(|hash| parse(bytes, hash).ok())
    }

    /// Whether this file is tracked, or this folder a submodule.
    pub(super) fn has(&self, path: &[u8]) -> bool {
        self.at(self.first_from(path)) == Some(path)
    }

    /// Whether anything in this folder is tracked.
    pub(super) fn has_beneath(&self, folder: &[u8]) -> bool {
        let prefix = [folder, b"/"].concat();
        self.at(self.first_from(&prefix)).is_some_and(|path| path.starts_with(&prefix))
    }

    fn at(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        self.names.get(start..end)
    }

    /// The index of the first path that is not before `path`.
    fn first_from(&self, path: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.at(middle).is_some_and(|there| there < path) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn push(&mut self, name: &[u8]) -> Result<(), String> {
        // Stages of a conflict have the same name several times.
        let last = self.ends.len().checked_sub(1).and_then(|last| self.at(last));
        if last.is_some_and(|last| last > name) {
            return Err("is not in order".to_owned());
        }
        if last != Some(name) {
            self.names.extend(name);
            self.ends.push(self.names.len());
        }
        Ok(())
    }
}

fn parse(bytes: &[u8], hash: usize) -> Result<Tracked, String> {
    let mut input = Input(bytes);
    if input.take()? != *b"DIRC" {
        return Err("is no index".to_owned());
    }
    let version = u32::from_be_bytes(input.take()?);
    if !(2..=4).contains(&version) {
        return Err("has an unknown version".to_owned());
    }
    let count = u32::from_be_bytes(input.take()?);
    let mut tracked = Tracked::default();
    let mut name = Vec::new();
    for _ in 0..count {
        let before = input.0.len();
        input.slice(BEFORE_HASH + hash)?;
        let flags = u16::from_be_bytes(input.take()?);
        if flags & EXTENDED != 0 {
            if version == 2 {
                return Err("has an impossible flag".to_owned());
            }
            input.take::<2>()?;
        }
        if version == 4 {
            let strip = varint(&mut input)?;
            let keep = name.len().checked_sub(strip).ok_or("strips more than there is")?;
            name.truncate(keep);
            name.extend(until_zero(&mut input)?);
        } else {
            name.clear();
            name.extend(until_zero(&mut input)?);
            // Entries end on a multiple of eight bytes, with one to eight zeros; one of them is read.
            let length = before - input.0.len();
            input.slice((8 - length % 8) % 8)?;
        }
        tracked.push(&name)?;
    }
    extensions(input, hash)?;
    Ok(tracked)
}

/// What follows the entries, up to the checksum. A shared index holds further names elsewhere.
fn extensions(mut input: Input<'_>, hash: usize) -> Result<(), String> {
    while input.0.len() != hash {
        let name: [u8; 4] = input.take()?;
        let length = u32::from_be_bytes(input.take()?);
        input.slice(usize::try_from(length).unwrap_or(usize::MAX))?;
        if name == *b"link" {
            return Err("is split".to_owned());
        }
    }
    Ok(())
}

fn until_zero<'a>(input: &mut Input<'a>) -> Result<&'a [u8], String> {
    let length = input.0.iter().position(|&byte| byte == 0).ok_or("ends in the middle of a name")?;
    let name = input.slice(length)?;
    input.take::<1>()?;
    Ok(name)
}

/// Git's own variable-length number, as in offsets of packs.
fn varint(input: &mut Input<'_>) -> Result<usize, String> {
    let [mut byte] = input.take()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        [byte] = input.take()?;
        let next = value.checked_add(1).and_then(|value| value.checked_mul(128));
        value = next.ok_or("has a number that is too large")? + usize::from(byte & 0x7f);
    }
    Ok(value)
}
