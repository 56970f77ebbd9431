//! Listening while working: what others say through the control stream, and what the front end orders.
//!
//! Invariant: the events of the control stream are taken strictly in their order, and each is handled in the same batch as what
//! comes of it ([`super::control`]); none is taken while an interruption is on its way into the log.

use super::agent_handle::Agent;
use super::compacting::ended;
use super::error::AgentError;
use super::live::Live;
use super::order::AgentOrder;
use retrace_events::control::Inbox;
use retrace_events::payload::session::SessionConfigured;
use retrace_events::{CallId, Event, EventId, LogError};
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often in a row a log may not answer while an agent waits, and how long it waits then.
const MAX_SILENT: u32 = 60;
const SILENCE: Duration = Duration::from_secs(1);

/// How many events of the control stream are taken between two steps.
const MAX_AT_ONCE: usize = 32;

/// An interruption that was asked for and is not in the log yet.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    /// Who asked, as the log will say it.
    pub(super) by: String,
    /// The control event that asked: its id and place.
    pub(super) asked: (EventId, u64),
}

/// What an agent listens with.
pub(super) struct Ears {
    pub(super) inbox: Inbox,
    orders: Option<mpsc::Receiver<AgentOrder>>,
    /// Ends what is going on at the moment.
    pub(super) step: CancellationToken,
    /// Ends one call.
    pub(super) calls: HashMap<CallId, CancellationToken>,
    pub(super) stop: Option<Stop>,
    /// How often in a row the log did not answer.
    silent: u32,
}

/// What was heard.
enum Heard {
    Control(Box<Result<Event, LogError>>),
    Order(Option<AgentOrder>),
}

impl Ears {
    pub(super) fn new(inbox: Inbox, cancel: &CancellationToken) -> Self {
        Self { inbox, orders: None, step: cancel.child_token(), calls: HashMap::new(), stop: None, silent: 0 }
    }

    pub(super) fn take_orders_from(&mut self, orders: mpsc::Receiver<AgentOrder>) {
        self.orders = Some(orders);
    }

    /// Whether somebody wants the turn to end.
    pub(super) fn told_to_stop(&self) -> bool {
        self.step.is_cancelled()
    }

    async fn next(&mut self) -> Heard {
        let orders = self.orders.as_mut();
        let order = async {
            match orders {
                Some(orders) => orders.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            event = self.inbox.next() => Heard::Control(Box::new(event)),
            order = order => Heard::Order(order),
        }
    }
}

impl Agent {
    /// Does `work` and listens meanwhile. `work` must end soon after [`Ears::step`] is cancelled.
    pub(super) async fn attend<T>(&mut self, work: impl Future<Output = T>) -> Result<T, AgentError> {
        tokio::pin!(work);
        // Who cannot hear works on, and listens again a little later: a log that is gone shows at the next append.
        let mut deaf_until = None;
        loop {
            let stopping = self.ears.told_to_stop();
            let heard = tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                () = tokio::time::sleep_until(deaf_until.unwrap_or_else(Instant::now)), if deaf_until.is_some() => {
                    deaf_until = None;
                    continue;
                }
                heard = self.ears.next(), if deaf_until.is_none() && !stopping => heard,
            };
            if self.heard(heard).await? {
                deaf_until = Some(Instant::now() + SILENCE);
            }
        }
    }

    /// Waits until something is said, and takes it in.
    pub(super) async fn rest(&mut self) -> Result<(), AgentError> {
        let background = std::sync::Arc::clone(&self.background);
        let step = self.ears.step.clone();
        let heard = tokio::select! {
            () = step.cancelled() => return Ok(()),
            end = background.ended() => {
                self.ended.push_back(end);
                return Ok(());
            }
            () = ended(&mut self.compacting) => return Ok(()),
            heard = self.ears.next() => heard,
        };
        match heard {
            Heard::Control(event) => match *event {
                Ok(event) => {
                    self.ears.silent = 0;
                    self.handle_control(event).await
                }
                Err(error) => self.bear_silence(error).await,
            },
            order @ Heard::Order(_) => self.heard(order).await.map(drop),
        }
    }

    /// A log that does not answer may come back: who waits for words waits a little longer.
    async fn bear_silence(&mut self, error: LogError) -> Result<(), AgentError> {
        self.ears.silent += 1;
        if !matches!(error, LogError::Unavailable { .. }) || self.ears.silent > MAX_SILENT {
            return Err(error.into());
        }
        if self.ears.silent == 1 {
            self.parts.live.send(Live::Notice(format!("{error}; trying again")));
        }
        let stop = self.ears.step.clone();
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(SILENCE) => {}
        }
        Ok(())
    }

    /// Takes the orders that were given before the one to leave was heard.
    pub(super) async fn take_last_orders(&mut self) -> Result<(), AgentError> {
        while let Some(order) = self.ears.orders.as_mut().and_then(|orders| orders.try_recv().ok()) {
            self.heard(Heard::Order(Some(order))).await?;
        }
        Ok(())
    }

    /// Takes in what was said so far; of very much only a part, so that nobody can talk a turn to a standstill.
    pub(super) async fn hear_all(&mut self) -> Result<(), AgentError> {
        for _ in 0..MAX_AT_ONCE {
            // A prompt that waits begins first, so that what was said after it finds its turn.
            let prompt_waits = self.state.turn.is_none() && !self.state.queue.is_empty();
            if prompt_waits || self.ears.told_to_stop() {
                return Ok(());
            }
            match self.ears.inbox.try_next().await {
                Ok(Some(event)) => self.handle_control(event).await?,
                Ok(None) => {
                    self.ears.silent = 0;
                    return Ok(());
                }
                // Whether the log is gone for good shows at the next append.
                Err(error @ LogError::Unavailable { .. }) => {
                    tracing::warn!(%error, "the control stream cannot be read");
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether something was said that was not taken in yet.
    pub(super) async fn more_was_said(&mut self) -> Result<bool, AgentError> {
        match self.ears.inbox.pending().await {
            Ok(more) => Ok(more),
            Err(LogError::Unavailable { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes one thing in; true when nothing can be heard any more for now.
    async fn heard(&mut self, heard: Heard) -> Result<bool, AgentError> {
        match heard {
            Heard::Control(event) => match *event {
                Ok(event) => self.handle_control(event).await.map(|()| false),
                Err(error) => {
                    tracing::warn!(%error, "the control stream cannot be read");
                    Ok(true)
                }
            },
            Heard::Order(Some(AgentOrder::Configure { change, why })) => {
                let mut settings = self.settings.clone();
                change(&mut settings);
                self.configure(settings, why).await.map(|()| false)
            }
            Heard::Order(Some(AgentOrder::Compact)) => {
                self.wish_compaction();
                Ok(false)
            }
            // A front end that is gone has left.
            Heard::Order(Some(AgentOrder::Leave) | None) => {
                self.parts.cancel.cancel();
                Ok(true)
            }
        }
    }

    async fn configure(
        &mut self,
        settings: retrace_events::payload::settings::Settings,
        why: String,
    ) -> Result<(), AgentError> {
        if settings == self.settings {
            return Ok(());
        }
        self.append(vec![(SessionConfigured { settings: settings.clone(), why }.into(), None)]).await?;
        self.retry.max_attempts = settings.max_attempts;
        self.settings = settings;
        if self.state.turn.is_some() {
            self.parts.live.send(Live::Notice("the model hears of it with the next prompt".to_owned()));
        }
        Ok(())
    }
}
