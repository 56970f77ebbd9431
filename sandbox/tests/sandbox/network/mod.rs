//! The way out: real programs in a real sandbox, through the proxy, to real servers on the host's loopback.

mod credentials;
mod filter;
mod flow;
mod servers;
mod tunnels;
mod yard;
