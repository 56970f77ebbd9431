//! The writer of a session's summaries: follows the session, asks for the words that are missing, and appends them.

use super::known_summaries::KnownSummaries;
use super::write_report::{WriteLimits, WriteReport, WriteStop};
use retrace_events::log::{ClaimError, Holder};
use retrace_events::payload::summary::SummaryWritten;
use retrace_events::redact::Redactor;
use retrace_events::{Event, EventLog, Hash, LogError, Mint, StreamId, Writer};
use retrace_indexer::{
    MAX_WORDS_BYTES, Summarize, SummarizeError, SummaryCursor, SummaryGroup, SummaryNode, SummaryWords,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many events are read at a time.
const PAGE: usize = 256;

/// How often a node is asked for when no words come and nothing says that they might later.
const ATTEMPTS: u32 = 2;

/// How often words are appended again behind somebody else's.
const APPENDS: u32 = 3;

/// Writes the summaries of one session, a few at a time; what it has read of the session it does not read again.
#[derive(Debug)]
pub struct SummaryWriter {
    log: Arc<dyn EventLog>,
    mint: Arc<dyn Mint>,
    redactor: Arc<Redactor>,
    summarizer: Arc<dyn Summarize>,
    holder: Holder,
    cursor: SummaryCursor,
    known: KnownSummaries,
    /// Nodes in the order in which they became final, not looked at yet.
    coming: VecDeque<SummaryNode>,
    /// By level, the nodes that wait for their parent, with their words.
    groups: Vec<Vec<SummaryNode>>,
    /// How often the first of the coming ones was asked for in vain.
    attempts: u32,
    /// Words for it that the log could not take so far.
    paid: Option<SummaryWords>,
}

impl SummaryWriter {
    /// For a session. Nothing is read or written yet. `holder` is this process, for others that would write too.
    #[must_use]
    pub fn new(
        log: Arc<dyn EventLog>,
        mint: Arc<dyn Mint>,
        session: StreamId,
        summarizer: Arc<dyn Summarize>,
        redactor: Arc<Redactor>,
        holder: Holder,
    ) -> Self {
        let known = KnownSummaries::of(&session);
        let (coming, groups) = (VecDeque::new(), Vec::new());
        let cursor = SummaryCursor::new(session);
        Self { log, mint, redactor, summarizer, holder, cursor, known, coming, groups, attempts: 0, paid: None }
    }

    /// Writes the words that are missing, oldest first, within `limits`. Never fails: why it stopped is in the report. When
    /// another process writes this session's summaries it leaves that to it. It may be dropped at any point.
    pub async fn write_missing(&mut self, limits: WriteLimits) -> WriteReport {
        let mut report = WriteReport::default();
        let log = Arc::clone(&self.log);
        let claim = match log.claim(self.known.stream(), &self.holder).await {
            Ok(claim) => claim,
            Err(ClaimError::Held(holder)) => {
                report.stopped = Some(WriteStop::Held(holder));
                return report;
            }
            Err(ClaimError::Log(error)) => {
                report.stopped = Some(error.into());
                return report;
            }
        };
        report.stopped = self.write(limits, &mut report).await.err();
        drop(claim);
        report
    }

    async fn write(&mut self, limits: WriteLimits, report: &mut WriteReport) -> Result<(), WriteStop> {
        self.known.refresh(self.log.as_ref()).await?;
        loop {
            while let Some(node) = self.coming.front() {
                let node = self.known.applied(node.clone());
                let wants_words = node.level > 0 && !self.known.has(&node);
                let node = if wants_words { self.worded(node, limits, report).await? } else { node };
                self.coming.pop_front();
                (self.attempts, self.paid) = (0, None);
                self.keep(node);
            }
            if !self.read_on().await? {
                return Ok(());
            }
        }
    }

    /// Reads the next events of the session; false when there are none.
    async fn read_on(&mut self) -> Result<bool, LogError> {
        let page = self.log.read(self.cursor.stream(), self.cursor.next_seq(), PAGE).await?;
        let more = !page.is_empty();
        for envelope in page {
            self.coming.extend(self.cursor.apply(&Event::decode(envelope)?, &self.redactor));
        }
        Ok(more)
    }

    /// A node that has been looked at waits for its parent; its children do not any more.
    fn keep(&mut self, node: SummaryNode) {
        let place = usize::try_from(node.level).unwrap_or_default();
        while self.groups.len() <= place {
            self.groups.push(Vec::new());
        }
        if let Some(children) = place.checked_sub(1).and_then(|below| self.groups.get_mut(below)) {
            children.clear();
        }
        if let Some(group) = self.groups.get_mut(place) {
            group.push(node);
        }
    }

    /// The node with words, asked for and appended; as it is when none can be had.
    async fn worded(
        &mut self,
        node: SummaryNode,
        limits: WriteLimits,
        report: &mut WriteReport,
    ) -> Result<SummaryNode, WriteStop> {
        if let Some(words) = self.paid.clone() {
            return self.stored(node, words, report).await;
        }
        if self.attempts >= ATTEMPTS {
            return Ok(node);
        }
        let spent = report.cost_microusd.saturating_add(report.unknown_cost_microusd);
        if report.written >= limits.max_nodes || limits.max_cost_microusd.is_some_and(|most| spent >= most) {
            return Err(WriteStop::Limit);
        }
        let below = usize::try_from(node.level).unwrap_or_default().saturating_sub(1);
        let children = self.groups.get(below).map_or(&[][..], Vec::as_slice);
        match self.summarizer.summarize(SummaryGroup { node: &node, children }).await {
            Ok(words) => {
                report.cost_microusd = report.cost_microusd.saturating_add(words.cost_microusd);
                self.paid = Some(words.clone());
                self.stored(node, words, report).await
            }
            Err(SummarizeError { why, is_transient, cost_microusd }) => {
                report.unknown_cost_microusd = report.unknown_cost_microusd.saturating_add(cost_microusd);
                self.attempts += u32::from(!is_transient);
                Err(WriteStop::Refused(why))
            }
        }
    }

    /// The node with these words, appended.
    async fn stored(
        &mut self,
        node: SummaryNode,
        words: SummaryWords,
        report: &mut WriteReport,
    ) -> Result<SummaryNode, WriteStop> {
        self.append(&node, words).await?;
        report.written += 1;
        Ok(self.known.applied(node))
    }

    /// Appends words. Somebody else's that came first stay, and these are dropped.
    async fn append(&mut self, node: &SummaryNode, words: SummaryWords) -> Result<(), LogError> {
        let mut text = self.redactor.redact(&words.text).into_owned();
        text.truncate(text.floor_char_boundary(MAX_WORDS_BYTES));
        let written = SummaryWritten {
            session: node.stream.clone(),
            level: node.level,
            index: node.index,
            first_seq: node.first_seq,
            last_seq: node.last_seq,
            text,
            evidence: node.digest.evidence(),
            by: words.by,
            cost_microusd: words.cost_microusd,
        };
        let mut appends = 0;
        while !self.known.has(node) {
            let (log, mint, stream) = (Arc::clone(&self.log), Arc::clone(&self.mint), self.known.stream().clone());
            let mut writer = match self.known.last() {
                Some(last) => Writer::resume(log, mint, stream, last),
                None => Writer::create(log, mint, stream, Hash::GENESIS),
            };
            match writer.append(vec![(written.clone().into(), None)]).await {
                Ok(events) => events.iter().for_each(|event| self.known.take(event)),
                Err(LogError::Fenced { .. }) if appends < APPENDS => {
                    appends += 1;
                    self.known.refresh(self.log.as_ref()).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
