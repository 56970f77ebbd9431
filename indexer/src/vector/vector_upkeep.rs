//! Keeps a table quick: small pieces are joined, versions that nobody reads any more are removed, and an index over the
//! vectors is made when comparing with all of them takes too long.
//!
//! Only the one process that writes the table may call this.

use super::vector_error::VectorError;
use super::vector_row::VECTOR;
use super::vector_table::VectorTable;
use lancedb::DistanceType;
use lancedb::index::Index;
use lancedb::index::vector::IvfSqIndexBuilder;
use lancedb::table::{CompactionOptions, Duration, OptimizeAction, OptimizeOptions};

/// A fragment of this many rows is left as it is; smaller ones are joined, which writes all of them again.
const FRAGMENT_ROWS: usize = 16 * 1024;
/// How old a version is when it is removed: no search takes that long.
const VERSION_AGE_MINUTES: i64 = 10;
/// From how many rows on there is an index: comparing with all of so many takes about 20 ms.
const INDEX_FROM_ROWS: u64 = 25_000;
/// How many rows outside the index are compared one by one before they are taken into it.
const LOOSE_ROWS: usize = 8_000;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Upkeep {
    /// Pieces that were joined into larger ones.
    pub joined: u64,
    /// Bytes of old versions that were removed.
    pub removed_bytes: u64,
    /// Whether the index was made or grew.
    pub indexed: bool,
}

impl VectorTable {
    /// Does what is due.
    ///
    /// # Errors
    /// When the table is damaged, or the system refuses.
    pub(super) async fn optimize(&self) -> Result<Upkeep, VectorError> {
        let indexed = self.index_when_due().await?;
        let joined = self.compact().await?;
        Ok(Upkeep { joined, removed_bytes: self.prune().await?, indexed })
    }

    /// Makes the index over the vectors, or lets it grow, when there are enough rows for it; says whether it did.
    pub(super) async fn index_when_due(&self) -> Result<bool, VectorError> {
        let rows = self.count().await?;
        self.index(rows, INDEX_FROM_ROWS).await
    }

    /// Joins small pieces; says how many.
    pub(super) async fn compact(&self) -> Result<u64, VectorError> {
        let table = self.table();
        let options = CompactionOptions {
            target_rows_per_fragment: FRAGMENT_ROWS,
            num_threads: Some(1),
            ..CompactionOptions::default()
        };
        let action = OptimizeAction::Compact { options, remap_options: None };
        let stats = self.write(async move { table.optimize(action).await }).await?;
        Ok(stats.compaction.map_or(0, |metrics| metrics.fragments_removed as u64))
    }

    /// Removes old versions; says how many bytes.
    pub(super) async fn prune(&self) -> Result<u64, VectorError> {
        let table = self.table();
        let action = OptimizeAction::Prune {
            older_than: Some(Duration::minutes(VERSION_AGE_MINUTES)),
            // Whoever wrote what belongs to no version was killed: there is one writer at a time, and it is here.
            delete_unverified: Some(true),
            error_if_tagged_old_versions: None,
        };
        let stats = self.write(async move { table.optimize(action).await }).await?;
        Ok(stats.prune.map_or(0, |stats| stats.bytes_removed))
    }

    /// Makes the index when there are `from_rows` rows, or lets it grow.
    pub(super) async fn index(&self, rows: u64, from_rows: u64) -> Result<bool, VectorError> {
        if rows < from_rows {
            return Ok(false);
        }
        let table = self.table();
        self.write(async move {
            let indices = table.list_indices().await?;
            let Some(index) = indices.iter().find(|index| index.columns.iter().any(|column| column == VECTOR)) else {
                let builder = IvfSqIndexBuilder::default().distance_type(DistanceType::L2);
                table.create_index(&[VECTOR], Index::IvfSq(builder)).execute().await?;
                return Ok(true);
            };
            let loose = table.index_stats(&index.name).await?.map_or(0, |stats| stats.num_unindexed_rows);
            if loose < LOOSE_ROWS {
                return Ok(false);
            }
            table.optimize(OptimizeAction::Index(OptimizeOptions::default())).await?;
            Ok(true)
        })
        .await
    }
}
