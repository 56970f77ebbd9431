//! Benchmarks of retrace; see the `benches` folder.
