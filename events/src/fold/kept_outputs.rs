//! [`KeptOutputs`]: where the whole outputs are of calls whose result shows only a part. Bounded: the oldest go first, and
//! stay in the log.

use crate::blob::BlobRef;
use crate::id::CallId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The most outputs that are known; about 2 MiB.
pub(super) const MAX_OUTPUTS: usize = 10_000;

/// The newest outputs, by their calls. A copy shares what it holds: each call is given one.
#[derive(Debug, Clone, Default)]
pub struct KeptOutputs(Arc<Newest>);

#[derive(Debug, Clone, Default)]
struct Newest {
    by_call: HashMap<CallId, BlobRef>,
    /// Their calls, the oldest first.
    order: VecDeque<CallId>,
}

/// As a list, the oldest first, so that equal ones have equal bytes.
impl Serialize for KeptOutputs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Newest { by_call, order } = &*self.0;
        serializer.collect_seq(order.iter().filter_map(|call| by_call.get_key_value(call)).collect::<Vec<_>>())
    }
}

impl<'de> Deserialize<'de> for KeptOutputs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut outputs = Self::default();
        for (call, output) in Vec::<(CallId, BlobRef)>::deserialize(deserializer)? {
            outputs.insert(call, output);
        }
        Ok(outputs)
    }
}

impl KeptOutputs {
    /// The output of a call; `None` when it was not kept, or so many came after it.
    #[must_use]
    pub fn get(&self, call: &CallId) -> Option<&BlobRef> {
        self.0.by_call.get(call)
    }

    /// Takes in an output, in place of another one of the same call.
    pub(super) fn insert(&mut self, call: CallId, output: BlobRef) {
        let Newest { by_call, order } = Arc::make_mut(&mut self.0);
        if by_call.insert(call.clone(), output).is_none() {
            order.push_back(call);
        }
        while order.len() > MAX_OUTPUTS {
            if let Some(oldest) = order.pop_front() {
                by_call.remove(&oldest);
            }
        }
    }
}
