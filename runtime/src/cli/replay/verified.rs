//! What `retrace replay --verify` found, as people and programs read it.

use crate::cli::exit::{CliError, Exit};
use crate::cli::render::units;
use crate::cli::setup::Setup;
use crate::replaying::{ReplayReport, RequestCheck};
use retrace_events::StreamId;
use serde_json::json;

/// Differing requests that are listed for people.
const LISTED: usize = 10;

/// Prints a report; the exit tells whether all agrees.
pub(crate) fn verdict(setup: &Setup, stream: &StreamId, report: &ReplayReport) -> Result<Exit, CliError> {
    let differing: Vec<_> = report.requests.iter().filter(|check| !check.agrees()).collect();
    let exit = if differing.is_empty() { Exit::Done } else { Exit::Failed };
    if setup.output.json {
        let row = |check: &&RequestCheck| json!({ "seq": check.seq, "event": check.event, "logged": check.logged, "rendered": check.rendered });
        setup.output.json_line(&json!({
            "session": stream.id.as_str(),
            "events": report.events,
            "inherited_events": report.inherited_events,
            "head": report.head,
            "requests": report.requests.len(),
            "imported_requests": report.imported,
            "agree": report.requests.len() - differing.len(),
            "differ": differing.iter().map(row).collect::<Vec<_>>(),
        }))?;
        return Ok(exit);
    }
    let style = setup.output.data_style();
    let total = report.requests.len() as u64;
    let requests = if total == 0 && report.imported > 0 {
        style.dim("no requests of retrace's own")
    } else if total == 0 && report.inherited_events > 0 {
        style.dim("no requests of its own yet")
    } else if differing.is_empty() {
        style.green(&format!("all {} render to the bytes that were sent", units::of(total, "request")))
    } else {
        style.red(&format!(
            "{} of {} do not render to the bytes that were sent",
            differing.len(),
            units::of(total, "request")
        ))
    };
    setup.output.data(&format!(
        "chain: {} sound, head {}\n{requests}\n",
        units::of(report.events, "event"),
        report.head.short()
    ))?;
    if report.inherited_events > 0 {
        let inherited = units::of(report.inherited_events, "event");
        setup.output.data(&format!("a fork: its history has {inherited} of its ancestors, which are sound\n"))?;
    }
    if report.imported > 0 {
        setup.output.data(&format!(
            "{} made by another program before the import: what was sent is not known, and not checked\n",
            units::of(report.imported, "request")
        ))?;
    }
    for check in differing.iter().take(LISTED) {
        setup.output.data(&format!(
            "  event {}: logged {}, rendered {}\n",
            check.seq,
            check.logged.short(),
            check.rendered.short()
        ))?;
    }
    Ok(exit)
}
