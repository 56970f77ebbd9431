//! Tests of the demo.
