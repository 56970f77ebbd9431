//! Snapshots as one stream of bytes: for an export, and for the way to another host.
//!
//! A header, then records: an object (with its id, kind and length), a snapshot's name, or the end with a hash of all that
//! came before. Whoever writes checks every object first, so that damage does not spread; whoever reads trusts nothing:
//! every object is checked against its id, sizes are bounded, and a snapshot is known only when all of it is there.

use std::collections::HashSet;
use std::io::{self, Read, Write};

use super::closure;
use super::error::SnapshotError;
use super::ids::{Kind, ObjectId, TreeId};
use super::objects::{Fault, MAX_OBJECT, Objects, Packed};
use super::reader::Reader;
use super::stamp::Time;
use super::tree;

const HEADER: &[u8; 20] = b"retrace snapshots 1\n";
const OBJECT: u8 = 1;
const SNAPSHOT: u8 = 2;
const END: u8 = 0;

/// What was sent or taken in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transferred {
    /// The snapshots.
    pub snapshots: Vec<TreeId>,
    /// Objects in the stream.
    pub objects: u64,
    /// Bytes that they take in the store; for an import, of those that were new.
    pub bytes: u64,
}

/// Writes snapshots with all that they need, except for what the snapshots in `known` need.
pub(super) fn export(
    objects: &Objects,
    snapshots: &[TreeId],
    known: &[TreeId],
    out: impl Write,
) -> Result<Transferred, SnapshotError> {
    let mut visited = HashSet::new();
    for id in known {
        closure::walk(&Reader::new(objects, *id), &mut visited, |_, _, _| Ok(true), Err)?;
    }
    let mut out = Hashing { inner: out, hasher: blake3::Hasher::new() };
    let mut done = Transferred::default();
    out.write_all(HEADER).map_err(unwritable)?;
    for id in snapshots {
        let reader = Reader::new(objects, *id);
        let visit = |object: &ObjectId, kind: Kind, path: &[u8]| {
            let packed = checked(objects, object, kind).map_err(|fault| reader.explain(fault, kind, path))?;
            done.objects += 1;
            done.bytes += packed.data.len() as u64;
            write_object(&mut out, &packed).map_err(unwritable)?;
            Ok(true)
        };
        closure::walk(&reader, &mut visited, visit, Err)?;
        done.snapshots.push(*id);
    }
    for id in snapshots {
        out.write_all(&[SNAPSHOT]).and_then(|()| out.write_all(id.0.as_bytes())).map_err(unwritable)?;
    }
    out.write_all(&[END]).map_err(unwritable)?;
    let hash = out.hasher.finalize();
    out.inner.write_all(hash.as_bytes()).and_then(|()| out.inner.flush()).map_err(unwritable)?;
    Ok(done)
}

fn checked(objects: &Objects, id: &ObjectId, kind: Kind) -> Result<Packed, Fault> {
    let packed = objects.packed(id)?;
    if packed.kind != kind {
        return Err(Fault::Damaged(format!("is kept as a {}", packed.kind.name())));
    }
    objects.unpack(&packed, |_| ()).map_err(Fault::Damaged)?;
    Ok(packed)
}

fn write_object(out: &mut impl Write, packed: &Packed) -> io::Result<()> {
    out.write_all(&[OBJECT, packed.kind.code(), u8::from(packed.is_compressed)])?;
    out.write_all(packed.id.as_bytes())?;
    out.write_all(&(packed.length as u64).to_le_bytes())?;
    out.write_all(&(packed.data.len() as u64).to_le_bytes())?;
    out.write_all(&packed.data)
}

/// Takes in a stream. The caller holds the shared lock.
pub(super) fn import(objects: &mut Objects, input: impl Read) -> Result<Transferred, SnapshotError> {
    let mut input = Hashing { inner: input, hasher: blake3::Hasher::new() };
    let mut done = Transferred::default();
    if input.array()? != *HEADER {
        return Err(refused("it is no stream of snapshots, or one of a newer version"));
    }
    loop {
        match input.array()? {
            [OBJECT] => {
                let packed = read_object(objects, &mut input)?;
                done.objects += 1;
                done.bytes += objects.put(&packed)?;
            }
            [SNAPSHOT] => done.snapshots.push(TreeId(input.id()?)),
            [END] => break,
            [other] => return Err(refused(&format!("it has a record of unknown kind {other}"))),
        }
    }
    let hash = input.hasher.finalize();
    if input.array()? != *hash.as_bytes() {
        return Err(refused("it was changed or cut on its way"));
    }
    objects.commit()?;
    check(objects, &done.snapshots)?;
    let now_ms = i64::try_from(Time::now_ns() / 1_000_000).unwrap_or(i64::MAX);
    let roots: Vec<ObjectId> = done.snapshots.iter().map(|id| id.0).collect();
    objects.finish(&roots, now_ms)?;
    Ok(done)
}

fn read_object(objects: &Objects, input: &mut Hashing<impl Read>) -> Result<Packed, SnapshotError> {
    let [kind, compressed] = input.array()?;
    let id = input.id()?;
    let length = u64::from_le_bytes(input.array()?);
    let stored = u64::from_le_bytes(input.array()?);
    let kind = Kind::of_code(kind).ok_or_else(|| refused("it has an object of unknown kind"))?;
    if length.max(stored) > MAX_OBJECT as u64 || compressed > 1 {
        return Err(refused("it has an object of impossible size"));
    }
    let mut data = Vec::new();
    input.by_ref().take(stored).read_to_end(&mut data).map_err(|error| refused(&error.to_string()))?;
    let length = usize::try_from(length).map_err(|_| refused("it has an object of impossible size"))?;
    let packed = Packed { id, kind, length, is_compressed: compressed == 1, data };
    // What cannot be read as what it says it is does not come in at all.
    let form = objects.unpack(&packed, |bytes| match kind {
        Kind::Piece => Ok(()),
        Kind::Pieces => tree::decode_pieces(bytes).map(drop),
        Kind::Tree => tree::decode(bytes).map(drop),
        Kind::Root => tree::Root::decode(bytes).map(drop),
    });
    form.flatten().map_err(|reason| refused(&format!("object {id} {reason}")))?;
    Ok(packed)
}

/// Whether all that the snapshots need is there.
fn check(objects: &Objects, snapshots: &[TreeId]) -> Result<(), SnapshotError> {
    let mut visited = HashSet::new();
    for id in snapshots {
        let reader = Reader::new(objects, *id);
        let visit = |object: &ObjectId, kind: Kind, path: &[u8]| {
            if objects.has(object)? { Ok(true) } else { Err(reader.explain(Fault::Missing, kind, path)) }
        };
        closure::walk(&reader, &mut visited, visit, Err)?;
    }
    Ok(())
}

fn refused(reason: &str) -> SnapshotError {
    SnapshotError::Stream { reason: reason.to_owned() }
}

fn unwritable(source: io::Error) -> SnapshotError {
    SnapshotError::Io { action: "write", path: "the export".into(), source }
}

/// Hashes what goes through.
struct Hashing<T> {
    inner: T,
    hasher: blake3::Hasher,
}

impl<T: Write> Write for Hashing<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Hashing<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

impl<T: Read> Hashing<T> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let mut bytes = [0; N];
        self.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => refused("it ends too early"),
            _ => refused(&error.to_string()),
        })?;
        Ok(bytes)
    }

    fn id(&mut self) -> Result<ObjectId, SnapshotError> {
        let bytes: [u8; ObjectId::LEN] = self.array()?;
        ObjectId::from_slice(&bytes).ok_or_else(|| refused("it ends too early"))
    }
}
