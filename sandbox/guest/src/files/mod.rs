//! File operations beneath the workspace root.
//!
//! Every path is resolved by the kernel with `openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)`, so `..`, absolute
//! paths, symlinks and folders swapped in the middle of an operation cannot lead out. Only regular files are opened.

mod list;
mod read;
mod root;
mod search;
mod walk;
mod write;

pub(crate) use list::list;
pub(crate) use read::{read, stat};
pub(crate) use root::Root;
pub(crate) use search::search;
pub(crate) use write::write;
