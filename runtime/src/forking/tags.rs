//! Names that people gave to events of a session. They are said to it like anything else, so they stand in its control stream.

use retrace_events::payload::{Control, Payload};
use retrace_events::{Event, EventId, EventLog, LogError, StreamId, control_stream};

/// How many events are read at a time.
const PAGE: usize = 500;

/// A name for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The name.
    pub name: String,
    /// The event.
    pub event: EventId,
}

/// The tags of `session`, by name; of two with one name the later one counts.
///
/// # Errors
/// When the log cannot be read.
pub async fn tags_of(log: &dyn EventLog, session: &StreamId) -> Result<Vec<Tag>, LogError> {
    let stream = control_stream(session);
    let (mut tags, mut next): (Vec<Tag>, u64) = (Vec::new(), 0);
    loop {
        let page = log.read(&stream, next, PAGE).await?;
        let full = page.len() == PAGE;
        next += page.len() as u64;
        for envelope in page.into_iter().filter(|envelope| envelope.kind == "control.tagged") {
            let event = Event::decode(envelope)?;
            if let Some(Payload::Control(Control::Tagged(tagged))) = event.payload.known() {
                tags.retain(|tag| tag.name != tagged.tag);
                tags.push(Tag { name: tagged.tag.clone(), event: tagged.event });
            }
        }
        if !full {
            tags.sort_by(|one, other| one.name.cmp(&other.name));
            return Ok(tags);
        }
    }
}
