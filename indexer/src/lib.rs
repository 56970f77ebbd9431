//! What can be derived from the event log of retrace, and from nothing else: it can be thrown away and made again.
//!
//! Today that is the [`Outline`] of a session: what was asked, what was run and how it ended, which files were touched. The
//! keyword, vector and summary indexes stand on the same rule: they follow the log, never append to it, and know the
//! position they reflect. This crate knows only `retrace-events`.

mod code;
mod document;
mod documents;
mod follow;
mod index;
mod keyword;
mod outline;
mod outline_text;
mod query;
mod retrieve;
mod summary;
mod vector;

#[cfg(test)]
mod tests;

pub use code::{
    Chunk, CodeChanges, CodeError, CodeIndex, CodeProgress, CodeReport, CodeWatch, DefinitionKind, SkipReason, Skipped,
    WatchEvent, WatchSettings, chunk_file,
};
pub use document::{Document, DocumentKind};
pub use documents::lineage;
pub use follow::{
    FollowError, FollowProgress, Follower, IndexCheck, IndexFolder, IndexNote, IndexStatus, LockOutcome, Rebuild,
    Witness, WriterLock,
};
pub use index::{IndexModel, IndexedCode, IndexedSessions, SearchIndex};
pub use keyword::{DocAddress, KeywordError, KeywordHit, KeywordIndex, KeywordWriter};
pub use outline::{Outline, OutlineCommand, OutlineFile, OutlinePrompt};
pub use query::{Clause, Filter, PathPattern, QUERY_BYTES, Query, Snippet, Within};
pub use retrieve::{Found, Hit, HitSource, Notice, ScoreParts, SearchRequest, Source, Sources, retrieve};
pub use summary::{
    Digest, DigestItem, DigestKind, DigestPlan, EXTRACTIVE, Extractive, GROUP, MAX_WORDS_BYTES, OpenTask, Summarize,
    SummarizeError, SummaryCover, SummaryCursor, SummaryGroup, SummaryNode, SummaryWords,
};
pub use vector::{
    ChangedCode, CodeSource, EmbedError, Embedder, EmbedderOptions, Filling, ModelChoice, SessionSource, SourceError,
    Upkeep, VectorError, VectorHit, VectorTable, VectorWorker, WorkerOptions, gist,
};
