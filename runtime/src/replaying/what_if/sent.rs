//! What was really sent, from the log.

use super::request_figures::{ItemKind, RequestFigures, bytes_by_kind, divided};
use crate::context::inventory;
use retrace_events::payload::{Context, Payload, Turn};
use retrace_events::{Event, EventId, SessionState};
use std::collections::BTreeMap;

/// Reads the log as it is.
#[derive(Default)]
pub(super) struct Sent {
    state: SessionState,
    epochs: u64,
    /// The newest request: its event, its place, and what it is made of.
    asked: Option<(EventId, u64, BTreeMap<ItemKind, u64>)>,
    summaries: (u64, u64),
}

impl Sent {
    /// Takes the next event, and gives place and figures of the request that it answers.
    pub(super) fn take(&mut self, event: &Event) -> Option<(u64, RequestFigures)> {
        let mut figures = None;
        match event.payload.known() {
            Some(Payload::Context(Context::EpochStarted(_))) => self.epochs += 1,
            Some(Payload::Context(Context::CompactionAnswered(answer))) => {
                self.summaries.0 += 1;
                self.summaries.1 += answer.cost_microusd;
            }
            Some(Payload::Turn(Turn::Requested(_))) => {
                let bytes = bytes_by_kind(&inventory(&self.state));
                self.asked = Some((event.envelope.id, self.state.next_place(), bytes));
            }
            Some(Payload::Turn(Turn::Answered(answer))) => {
                let asked = self.asked.take().filter(|(request, ..)| *request == answer.request);
                let input_tokens = answer.usage.total_input_tokens();
                figures = asked.map(|(_, place, bytes)| {
                    let figures = RequestFigures {
                        epoch: self.epochs,
                        input_tokens,
                        by_kind: divided(&bytes, input_tokens),
                        read_tokens: answer.usage.cache_read_tokens,
                        written_tokens: answer.usage.cache_write_5m_tokens + answer.usage.cache_write_1h_tokens,
                        output_tokens: answer.usage.output_tokens,
                        cost_microusd: answer.cost_microusd,
                    };
                    (place, figures)
                });
            }
            _ => {}
        }
        self.state.apply(event);
        figures
    }

    /// How many summaries the API wrote, and what they cost in millionths of a US dollar.
    pub(super) const fn api_summaries(&self) -> (u64, u64) {
        self.summaries
    }
}
