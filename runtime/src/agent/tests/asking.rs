//! Agents that serve a session in a task of their own, and others who talk to them.

use super::*;
use crate::agent::{AgentError, AgentOrder};
use retrace_events::control::ControlSender;
use retrace_events::payload::control::{
    ControlApprovalGiven, ControlCancelRequested, ControlPromptSent, ControlQuestionAnswered,
};
use retrace_events::payload::tool::ToolApprovalScope;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;

/// An agent at work, and the means to talk to it.
pub(super) struct Serving {
    pub(super) sender: ControlSender,
    pub(super) orders: mpsc::Sender<AgentOrder>,
    pub(super) live: broadcast::Receiver<Live>,
    task: JoinHandle<Result<Agent, AgentError>>,
}

impl Serving {
    /// Lets `agent` serve its session.
    pub(super) fn begin(mut agent: Agent) -> Self {
        let live = agent.parts.live.listen();
        let (orders, taken) = mpsc::channel(8);
        let sender = ControlSender::new(Arc::clone(&agent.parts.log), Arc::clone(&agent.parts.mint), agent.stream());
        let task = tokio::spawn(async move { agent.serve(taken).await.map(|()| agent) });
        Self { sender, orders, live, task }
    }

    /// Waits until an event of `kind` is shown.
    pub(super) async fn wait_for(&mut self, kind: &str) -> Arc<Event> {
        loop {
            match self.live.recv().await.unwrap() {
                Live::Logged(event) if event.envelope.kind == kind => return event,
                _ => {}
            }
        }
    }

    pub(super) async fn send_prompt(&self, text: &str) {
        let prompt = ControlPromptSent { text: text.to_owned(), attachments: Vec::new() };
        self.sender.send(prompt.into()).await.unwrap();
    }

    pub(super) async fn decide(&self, call: &CallId, allow: Option<ToolApprovalScope>, note: &str) {
        let given = ControlApprovalGiven { call: call.clone(), allow, note: note.to_owned() };
        self.sender.send(given.into()).await.unwrap();
    }

    pub(super) async fn answer(&self, call: &CallId, text: &str) {
        let answered = ControlQuestionAnswered { call: call.clone(), text: text.to_owned() };
        self.sender.send(answered.into()).await.unwrap();
    }

    pub(super) async fn cancel(&self, call: Option<&CallId>) {
        let cancel = ControlCancelRequested { call: call.cloned(), by: "a test".to_owned() };
        self.sender.send(cancel.into()).await.unwrap();
    }

    /// Ends the agent as a front end that leaves does.
    pub(super) async fn leave(self) -> Agent {
        self.orders.send(AgentOrder::Leave).await.unwrap();
        self.task.await.unwrap().unwrap()
    }

    /// Ends the agent as `kill -9` does.
    pub(super) async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

/// The call that an event asks about.
pub(super) fn asked_call(event: &Event) -> CallId {
    match event.payload.known() {
        Some(Payload::Tool(Tool::ApprovalAsked(asked))) => asked.call.clone(),
        Some(Payload::Tool(Tool::Called(called))) => called.call.clone(),
        other => panic!("{other:?}"),
    }
}
