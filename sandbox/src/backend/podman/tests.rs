use bollard::models::ContainerCreateBody;
use std::path::Path;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {}
pub(super) fn spoil(_sabotage: Option<Sabotage>, _body: &mut ContainerCreateBody, _socket: &Path) {}
