//! Trees made up in memory, put into the store without a workspace: thousands of them in a moment, and what should come of
//! each is known beforehand.

use super::Bench;
use crate::snapshot::ids::{Kind, ObjectId, TreeId};
use crate::snapshot::objects::{Objects, PIECE};
use crate::snapshot::tree::{Entry, Node, Root, encode};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Names whose order beside a `/` is not the order of paths: `a-` and `a.b` come before what is in `a`.
const NAMES: [&str; 6] = ["a", "a-", "a.b", "a0", "b", "\u{fc}"];

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thing {
    File { mode: u16, contents: Vec<u8> },
    Link { target: Vec<u8> },
    Folder { mode: u16 },
}

/// A tree: all its paths but the root's, each with the folders it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) mode: u16,
    pub(super) things: BTreeMap<Vec<u8>, Thing>,
}

impl Model {
    /// Puts a thing at a path; what stands in the way on the way there becomes a folder.
    fn put(&mut self, path: &[&str], thing: Thing) {
        for depth in 1..path.len() {
            let parent = path[..depth].join("/").into_bytes();
            let there = self.things.entry(parent).or_insert(Thing::Folder { mode: 0o755 });
            if !matches!(there, Thing::Folder { .. }) {
                *there = Thing::Folder { mode: 0o700 };
            }
        }
        let path = path.join("/").into_bytes();
        if !matches!(thing, Thing::Folder { .. }) {
            let beneath = [&path[..], b"/"].concat();
            self.things.retain(|other, _| !other.starts_with(&beneath));
        }
        self.things.insert(path, thing);
    }

    /// Stores it, and nothing else; answers with its name and the ids of all its objects.
    pub(super) fn store(&self, bench: &Bench) -> (TreeId, BTreeMap<ObjectId, Kind>) {
        let mut storing = Storing { objects: Objects::open(&bench.path("store")).unwrap(), ids: BTreeMap::new() };
        let tree = self.folder(b"", &mut storing);
        let root = storing.put(Kind::Root, &Root { mode: self.mode, tree }.encode());
        storing.objects.finish(&[root], 0).unwrap();
        (TreeId(root), storing.ids)
    }

    fn folder(&self, folder: &[u8], storing: &mut Storing) -> ObjectId {
        let prefix = if folder.is_empty() { Vec::new() } else { [folder, b"/"].concat() };
        let mut entries = Vec::new();
        for (path, thing) in &self.things {
            let Some(name) = path.strip_prefix(&prefix[..]).filter(|name| !name.contains(&b'/')) else { continue };
            let node = match thing {
                Thing::File { mode, contents } => {
                    Node::File { mode: *mode, size: contents.len() as u64, id: storing.file(contents) }
                }
                Thing::Link { target } => Node::Link { target: target.clone() },
                Thing::Folder { mode } => Node::Folder { mode: *mode, id: self.folder(path, storing) },
            };
            entries.push(Entry { name: name.to_vec(), node });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        storing.put(Kind::Tree, &encode(&entries))
    }
}

struct Storing {
    objects: Objects,
    ids: BTreeMap<ObjectId, Kind>,
}

impl Storing {
    fn put(&mut self, kind: Kind, bytes: &[u8]) -> ObjectId {
        let id = ObjectId::of(kind, bytes);
        let packed = self.objects.pack(id, kind, bytes);
        self.objects.put(&packed).unwrap();
        self.ids.insert(id, kind);
        id
    }

    fn file(&mut self, contents: &[u8]) -> ObjectId {
        if contents.len() <= PIECE {
            return self.put(Kind::Piece, contents);
        }
        let pieces: Vec<ObjectId> = contents.chunks(PIECE).map(|piece| self.put(Kind::Piece, piece)).collect();
        let list: Vec<u8> = pieces.iter().flat_map(|piece| *piece.as_bytes()).collect();
        self.put(Kind::Pieces, &list)
    }
}

fn thing() -> impl Strategy<Value = Thing> {
    let mode = || prop::sample::select(vec![0o600_u16, 0o644, 0o755, 0o4711, 0o2640]);
    let small = prop::collection::vec(0_u8..3, 0..4);
    let large = (0_u8..3, 1_usize..3).prop_map(|(byte, pieces)| vec![byte; pieces * PIECE + usize::from(byte)]);
    let contents = prop_oneof![40 => small, 1 => large];
    let folder_mode = prop::sample::select(vec![0o700_u16, 0o755, 0o1777, 0o2755]);
    prop_oneof![
        5 => (mode(), contents).prop_map(|(mode, contents)| Thing::File { mode, contents }),
        1 => prop::sample::select(vec!["a", "../x", "/etc/passwd"]).prop_map(|to| Thing::Link { target: to.into() }),
        2 => folder_mode.prop_map(|mode| Thing::Folder { mode }),
    ]
}

fn step() -> impl Strategy<Value = (Vec<&'static str>, Thing)> {
    (prop::collection::vec(prop::sample::select(&NAMES[..]), 1..5), thing())
}

/// A tree, and others that came of it by a few changes each.
pub(super) fn models(count: usize) -> impl Strategy<Value = Vec<Model>> {
    let modes = prop::collection::vec(prop::sample::select(vec![0o700_u16, 0o755]), count);
    let first = prop::collection::vec(step(), 0..25);
    let removed = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    let later = prop::collection::vec((prop::collection::vec(step(), 0..5), removed), count - 1);
    (modes, first, later).prop_map(|(modes, first, later)| {
        let mut model = Model { mode: modes[0], things: BTreeMap::new() };
        first.into_iter().for_each(|(path, thing)| model.put(&path, thing));
        let mut models = vec![model.clone()];
        for (mode, (put, removed)) in modes.into_iter().skip(1).zip(later) {
            for index in removed.iter().filter(|_| !model.things.is_empty()).collect::<Vec<_>>() {
                let Some(path) = model.things.keys().nth(index.index(model.things.len().max(1))).cloned() else {
                    continue;
                };
                let beneath = [&path[..], b"/"].concat();
                model.things.retain(|other, _| *other != path && !other.starts_with(&beneath));
            }
            put.into_iter().for_each(|(path, thing)| model.put(&path, thing));
            model.mode = mode;
            models.push(model.clone());
        }
        models
    })
}
