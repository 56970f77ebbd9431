//! File operations in a sandbox. All of them are carried out by the guest, beneath the workspace root.

use std::path::Path;

use bytes::Bytes;
use retrace_guest::message::{
    Entry, Failure, FailureKind, FileStat, ListDone, ListSpec, MAX_WRITE_BYTES, Match, ReadSpec, Request, Response,
    SearchDone, SearchSpec, StatSpec, WRITE_WINDOW_BYTES, WriteDone, WriteSpec,
};
use retrace_guest::raw_path::RawPath;

use crate::call::{Call, unexpected};
use crate::error::SandboxError;
use crate::sandbox::Sandbox;

/// A range of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileContents {
    /// The bytes of the range.
    pub bytes: Vec<u8>,
    /// Size of the whole file, in bytes.
    pub total_bytes: u64,
}

/// What lies in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// In order of names, depth first.
    pub entries: Vec<Entry>,
    /// How complete it is.
    pub done: ListDone,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// Matching lines and those around them, in order of files and lines.
    pub matches: Vec<Match>,
    /// How complete it is.
    pub done: SearchDone,
}

impl Sandbox {
    async fn call(&self, request: &Request) -> Result<Call, SandboxError> {
        self.keep()?;
        Call::start(self.link(), request).await
    }

    /// Reads at most `limit` bytes from `offset` (64 MiB at once).
    ///
    /// # Errors
    /// When the path leads out of the workspace or is no regular file, reading fails, or the guest is gone.
    pub async fn read(&self, path: impl AsRef<Path>, offset: u64, limit: u64) -> Result<FileContents, SandboxError> {
        let spec = ReadSpec { path: RawPath::from(path), offset, limit };
        let mut call = self.call(&Request::Read(spec)).await?;
        let mut bytes = Vec::new();
        loop {
            match call.next().await? {
                (Response::Data, part) => bytes.extend_from_slice(&part),
                (Response::ReadDone(done), _) => return Ok(FileContents { bytes, total_bytes: done.total_bytes }),
                (other, _) => return Err(unexpected(&other)),
            }
        }
    }

    /// Replaces a file's contents atomically, or creates it (with `mode`, or `0o644`) and the folders above it.
    ///
    /// # Errors
    /// When the path leads out of the workspace or is no regular file, writing fails, or the guest is gone. The file
    /// is unchanged then.
    pub async fn write(
        &self,
        path: impl AsRef<Path>,
        contents: impl Into<Bytes>,
        mode: Option<u32>,
    ) -> Result<WriteDone, SandboxError> {
        let (spec, contents) = (WriteSpec { path: RawPath::from(path), mode }, contents.into());
        if contents.len() as u64 > MAX_WRITE_BYTES {
            let message = format!("{} bytes are over the limit of {MAX_WRITE_BYTES} for one file", contents.len());
            return Err(Failure::new(FailureKind::TooLarge, message).into());
        }
        let mut call = self.call(&Request::Write(spec)).await?;
        let (line, mut rest, mut window_bytes) = (call.line(), Some(contents), WRITE_WINDOW_BYTES);
        loop {
            if let Some(mut part) = rest.take() {
                let after = part.split_off(part.len().min(usize::try_from(window_bytes).unwrap_or(usize::MAX)));
                window_bytes -= part.len() as u64;
                line.send_data(part, after.is_empty()).await?;
                rest = Some(after).filter(|after| !after.is_empty());
            }
            match call.next().await? {
                (Response::Credit { bytes }, _) => window_bytes = window_bytes.saturating_add(bytes),
                (Response::WriteDone(done), _) => return Ok(done),
                (other, _) => return Err(unexpected(&other)),
            }
        }
    }

    /// Says what a path is; with `follow`, what a symlink there leads to.
    ///
    /// # Errors
    /// When the path leads out of the workspace or nothing is there, or the guest is gone.
    pub async fn stat(&self, path: impl AsRef<Path>, follow: bool) -> Result<FileStat, SandboxError> {
        let spec = StatSpec { path: RawPath::from(path), follow };
        let mut call = self.call(&Request::Stat(spec)).await?;
        match call.next().await? {
            (Response::Stat(stat), _) => Ok(stat),
            (other, _) => Err(unexpected(&other)),
        }
    }

    /// Lists at most `limit` entries below a folder, `depth` levels deep (all when `None`).
    ///
    /// # Errors
    /// When the path leads out of the workspace or is no folder, or the guest is gone.
    pub async fn list(
        &self,
        path: impl AsRef<Path>,
        depth: Option<u32>,
        respect_gitignore: bool,
        limit: u32,
    ) -> Result<Listing, SandboxError> {
        let spec = ListSpec { path: RawPath::from(path), depth, respect_gitignore, limit };
        let mut call = self.call(&Request::List(spec)).await?;
        let mut entries = Vec::new();
        loop {
            match call.next().await? {
                (Response::Entries { entries: more }, _) => entries.extend(more),
                (Response::ListDone(done), _) => return Ok(Listing { entries, done }),
                (other, _) => return Err(unexpected(&other)),
            }
        }
    }

    /// Searches file contents.
    ///
    /// # Errors
    /// When the pattern or a glob is bad, the path leads out of the workspace, or the guest is gone.
    pub async fn search(&self, spec: SearchSpec) -> Result<SearchResult, SandboxError> {
        let mut call = self.call(&Request::Search(spec)).await?;
        let mut matches = Vec::new();
        loop {
            match call.next().await? {
                (Response::Matches { matches: more }, _) => matches.extend(more),
                (Response::SearchDone(done), _) => return Ok(SearchResult { matches, done }),
                (other, _) => return Err(unexpected(&other)),
            }
        }
    }
}
