//! The parts of the proxy by themselves; with real programs through a real sandbox it is tested in `tests/sandbox`.

mod addresses;
mod credentials;
mod entries;
mod lying_guests;
mod reports;
mod targets;
