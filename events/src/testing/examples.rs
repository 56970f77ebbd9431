//! One example of each kind of payload, used by golden files, round trips, and whoever needs an event to look at.
//!
//! The golden files in `tests/golden` were made of these: a changed example needs a new kind of golden file, not an
//! edited one.

use crate::blob::BlobRef;
use crate::hash::Hash;
use crate::id::{CallId, Class, EventId, StreamId, Timestamp, Token};
use crate::payload::settings::{Budget, Settings};
use crate::payload::{Payload, context, control, job, sandbox, session, summary, tool, turn, workspace};

/// An example of each kind, in the order of [`Payload::kinds`].
#[must_use]
pub fn example_payloads() -> Vec<Payload> {
    let mut examples = sessions();
    examples.extend(turns());
    examples.extend(contexts());
    examples.extend(tools());
    examples.extend(sandboxes());
    examples.extend(summaries());
    examples.extend(jobs());
    examples.extend(controls());
    examples
}

/// A stream of the class `session`, by its last part.
#[must_use]
pub fn example_stream(id: &str) -> StreamId {
    StreamId {
        tenant: Token::slug("local"),
        project: Token::slug("example"),
        class: Class::Session,
        id: Token::slug(id),
    }
}

/// Settings with a value in every field.
#[must_use]
pub fn example_settings() -> Settings {
    Settings {
        model: "claude-example-1".to_owned(),
        max_tokens: 32_000,
        thinking: Some(r#"{"type":"adaptive"}"#.to_owned()),
        effort: Some("high".to_owned()),
        base_url: "https://api.example.com".to_owned(),
        sandbox: "auto".to_owned(),
        approvals: "ask".to_owned(),
        budget: Budget {
            max_steps: Some(200),
            max_tokens: Some(5_000_000),
            max_cost_microusd: Some(10_000_000),
            max_time_ms: None,
        },
        tree_budget: Budget { max_steps: Some(2_000), ..Budget::default() },
        command_timeout_ms: 120_000,
        max_attempts: 5,
    }
}

fn event_id(number: u128) -> EventId {
    EventId(uuid::Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0000 + number))
}

fn call() -> CallId {
    CallId("toolu_01Example".to_owned())
}

fn blob() -> BlobRef {
    BlobRef { hash: Hash::of(b"the whole output"), size_bytes: 16 }
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn sessions() -> Vec<Payload> {
    vec![
        session::SessionStarted {
            title: text("fix the parser"),
            workspace: text("/home/ada/parser"),
            retrace_version: text("0.1.0"),
            settings: example_settings(),
        }
        .into(),
        session::SessionForked {
            parent: example_stream("parent"),
            parent_seq: 41,
            parent_hash: Hash::of(b"event 41"),
            reason: session::SessionForkReason::Rewind,
            title: text("fix the parser, again"),
            workspace: text("/home/ada/parser-2"),
            retrace_version: text("0.1.0"),
            settings: Settings { thinking: None, budget: Budget::default(), ..example_settings() },
        }
        .into(),
        session::SessionConfigured { settings: example_settings(), why: text("--max-tokens 32000") }.into(),
        session::SessionClosed { why: text("done – für immer ✓") }.into(),
        session::SessionControlHandled {
            event: event_id(8),
            seq: 17,
            accepted: false,
            note: text("the call has a result already"),
        }
        .into(),
        session::SessionRuleAdded { rule: text("bash(cargo test *)"), by: text("ada") }.into(),
        session::SessionPlanned {
            call: call(),
            items: vec![
                session::PlanItem { text: text("look"), status: session::PlanStatus::Done },
                session::PlanItem { text: text("mend"), status: session::PlanStatus::InProgress },
                session::PlanItem { text: text("prüfen"), status: session::PlanStatus::Pending },
            ],
        }
        .into(),
        session::SessionImported {
            source: text("claude-code"),
            source_session: text("0199aaaa-0000-4000-8000-000000000000"),
            source_version: text("2.1.22"),
        }
        .into(),
    ]
}

fn turns() -> Vec<Payload> {
    let attachment = turn::Attachment { name: text("screen.png"), media_type: text("image/png"), blob: blob() };
    let usage = turn::Usage {
        input_tokens: 12,
        cache_write_5m_tokens: 300,
        cache_write_1h_tokens: 4_000,
        cache_read_tokens: 50_000,
        output_tokens: 600,
    };
    vec![
        turn::TurnPrompted {
            text: text("why does `parse(\"\")` panic?\n\u{1F980}"),
            source: turn::PromptSource::Local,
            attachments: vec![attachment],
        }
        .into(),
        turn::TurnRequested {
            attempt: 2,
            epoch: event_id(1),
            body_hash: Hash::of(b"body"),
            body_bytes: 123_456,
            model: text("claude-example-1"),
            estimated_input_tokens: 41_000,
            cost_bound_microusd: 987_654,
        }
        .into(),
        turn::TurnAnswered {
            request: event_id(2),
            content: text(r#"[{"type":"text","text":"because é"},{"type":"tool_use","id":"toolu_01Example"}]"#),
            model: text("claude-example-1"),
            stop_reason: text("tool_use"),
            stop_details: Some(text(r#"{"kind":"none"}"#)),
            usage,
            cost_microusd: 54_321,
            request_id: Some(text("req_01")),
            duration_ms: 4_321,
        }
        .into(),
        turn::TurnFailed {
            request: event_id(2),
            failure: turn::TurnFailure::Overloaded,
            status: Some(529),
            message: text("overloaded"),
            request_id: None,
            partial: Some(text(r#"[{"type":"text","text":"bec"}]"#)),
            billed_microusd: 17,
            retry_in_ms: Some(2_000),
        }
        .into(),
        turn::TurnInterrupted { by: text("signal"), during: text("a request") }.into(),
        turn::TurnEnded { outcome: turn::TurnOutcome::BudgetReached, note: text("200 steps") }.into(),
        turn::TurnQueued { text: text("then the docs"), source: turn::PromptSource::Control, attachments: Vec::new() }
            .into(),
        turn::TurnWarned { rule: text("same call"), note: text("the same call three times") }.into(),
    ]
}

fn contexts() -> Vec<Payload> {
    let passage = |source| context::ContextPassage { text: text("fn parse()"), source, tokens: 4, score_milli: 1_250 };
    let file = context::ContextSource::File { path: text("src/parse.rs"), first_line: 10, last_line: 42 };
    vec![
        context::ContextEpochStarted {
            number: 3,
            renderer: 1,
            model: text("claude-example-1"),
            model_row: text(r#"{"id":"claude-example-1","context":200000}"#),
            system: text(r#"[{"type":"text","text":"you are an agent"}]"#),
            tools: text("[]"),
            max_tokens: 32_000,
            thinking: None,
            output_config: Some(text(r#"{"effort":"high"}"#)),
            seed: vec![
                passage(context::ContextSource::Summary(text("2/17"))),
                passage(context::ContextSource::Instructions(text("AGENTS.md"))),
                passage(context::ContextSource::Prompt(event_id(1))),
                passage(context::ContextSource::Notes(text("commands"))),
            ],
            from_seq: 90,
            why: text("the budget was reached"),
            compacted: Some(text(r#"{"type":"compaction","content":"so far: ...","signature":"c2ln"}"#)),
        }
        .into(),
        context::ContextRetrieved {
            query: text("parse empty"),
            passages: vec![passage(context::ContextSource::Event(event_id(3))), passage(file)],
            index_position: 1_234_567,
        }
        .into(),
        context::ContextImageAttached {
            name: text("screen.png"),
            media_type: text("image/png"),
            data_base64: text("iVBORw0KGgo="),
            call: Some(call()),
            width_px: 640,
            height_px: 480,
        }
        .into(),
        context::ContextCompacted { summary: text("so far: the parser was read"), by: text("claude-code: auto") }
            .into(),
        context::ContextCompactionRequested {
            epoch: event_id(4),
            until_seq: 77,
            body_hash: Hash::of(b"a body"),
            body_bytes: 400_000,
            model: text("claude-example-1"),
            estimated_input_tokens: 100_000,
            cost_bound_microusd: 1_040_000,
            why: text("the context has about 85000 of its 100000 tokens"),
        }
        .into(),
        context::ContextCompactionAnswered {
            request: event_id(5),
            block: Some(text(r#"{"type":"compaction","content":"so far: ...","signature":"c2ln"}"#)),
            stop_reason: text("compaction"),
            model: text("claude-example-1"),
            usage: turn::Usage { cache_read_tokens: 98_000, output_tokens: 900, ..turn::Usage::default() },
            cost_microusd: 37_600,
            request_id: Some(text("req_1")),
            duration_ms: 14_000,
        }
        .into(),
        context::ContextCompactionFailed {
            request: event_id(6),
            failure: turn::TurnFailure::Overloaded,
            status: Some(529),
            message: text("overloaded"),
            request_id: None,
            billed_microusd: 0,
            retry_in_ms: Some(2_000),
        }
        .into(),
    ]
}

fn tools() -> Vec<Payload> {
    vec![
        tool::ToolCalled {
            call: call(),
            tool: text("bash"),
            input: text(r#"{"command":"cargo test"}"#),
            request: event_id(4),
            effect: tool::ToolEffect::Writes,
        }
        .into(),
        tool::ToolApproved { call: call(), by: text("rule: sandbox"), scope: tool::ToolApprovalScope::Session }.into(),
        tool::ToolDenied { call: call(), by: text("ada"), content: text("not that one") }.into(),
        tool::ToolFinished {
            call: call(),
            is_error: true,
            content: text("…\n1 test failed"),
            exit: Some(tool::ToolExit { code: Some(101), signal: None, timed_out: false }),
            output: Some(blob()),
            changed: vec![text("target/x"), text("src/ü.rs")],
            duration_ms: 65_432,
        }
        .into(),
        tool::ToolOutcomeUnknown { call: call(), content: text("interrupted, outcome unknown") }.into(),
        tool::ToolApprovalAsked {
            call: call(),
            tool: text("edit_file"),
            summary: text("src/ü.rs"),
            preview: text("-old\n+new"),
            rule: text("edit_file(src/**)"),
            why: text("no sandbox"),
        }
        .into(),
        tool::ToolBackgroundStarted { call: call(), command: text("npm run dev") }.into(),
        tool::ToolBackgroundEnded {
            call: call(),
            exit: Some(tool::ToolExit { code: None, signal: Some(15), timed_out: false }),
            output: Some(blob()),
            why: text("killed"),
        }
        .into(),
    ]
}

fn sandboxes() -> Vec<Payload> {
    let proof = sandbox::SandboxProof { name: text("no network"), passed: true, detail: text("connect: unreachable") };
    vec![
        sandbox::SandboxStarted {
            backend: text("process"),
            level: text("namespaces"),
            proofs: vec![proof],
            limits: vec![(text("memory"), text("4 GiB")), (text("pids"), text("512"))],
        }
        .into(),
        sandbox::SandboxStopped { why: text("killed"), unexpected: true }.into(),
        sandbox::SandboxLimitHit { call: Some(call()), limit: text("memory"), detail: text("4 GiB") }.into(),
        sandbox::SandboxNetworkAttempted { call: None, destination: text("198.51.100.7:443"), allowed: false }.into(),
        sandbox::SandboxConnection {
            call: Some(call()),
            host: text("api.example.com"),
            port: 443,
            how: text("tls"),
            allowed: true,
            why: String::new(),
            sent_bytes: 1_204,
            received_bytes: 88_310,
            credential: Some(text("api.example.com")),
            duration_ms: 412,
        }
        .into(),
        workspace::WorkspaceSnapshotted {
            tree: text("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
            previous: Some(text("da39a3ee5e6b4b0d3255bfef95601890afd80709")),
            git_state: None,
            after: Some(call()),
            changed_files: 3,
            new_bytes: 4_096,
        }
        .into(),
        workspace::WorkspaceSnapshotFailed { after: Some(call()), why: text("no space left on the disk") }.into(),
    ]
}

fn summaries() -> Vec<Payload> {
    let written = summary::SummaryWritten {
        session: example_stream("parent"),
        level: 1,
        index: 7,
        first_seq: 448,
        last_seq: 511,
        text: text("the parser was rewritten"),
        evidence: vec![event_id(5), event_id(6)],
        by: text("extractive"),
        cost_microusd: 0,
    };
    vec![written.into()]
}

fn jobs() -> Vec<Payload> {
    vec![
        job::JobSubmitted {
            task: text("make the tests pass"),
            workspace: text("https://git.example.com/parser.git"),
            settings: example_settings(),
            priority: -5,
            max_attempts: 3,
            deadline: Some(Timestamp(1_767_312_000_000)),
        }
        .into(),
        job::JobClaimed {
            worker: text("host-1"),
            attempt: 1,
            session: example_stream("job-1"),
            lease_until: Timestamp(1_767_225_660_000),
        }
        .into(),
        job::JobProgressed { note: text("12 of 40"), lease_until: Timestamp(1_767_225_720_000) }.into(),
        job::JobFinished { succeeded: true, note: text("all pass") }.into(),
        job::JobCancelled { by: text("ada") }.into(),
    ]
}

fn controls() -> Vec<Payload> {
    let attachment = turn::Attachment { name: text("notes.txt"), media_type: text("text/plain"), blob: blob() };
    vec![
        control::ControlPromptSent { text: text("and now the docs"), attachments: vec![attachment] }.into(),
        control::ControlApprovalGiven {
            call: call(),
            allow: Some(tool::ToolApprovalScope::Always),
            note: text("go on"),
        }
        .into(),
        control::ControlQuestionAnswered { call: call(), text: text("the second one") }.into(),
        control::ControlCancelRequested { call: None, by: text("web") }.into(),
        control::ControlTagged { event: event_id(7), tag: text("before-the-rewrite") }.into(),
    ]
}
