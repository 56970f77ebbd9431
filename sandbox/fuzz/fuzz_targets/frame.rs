//! The frame parser, and all messages of both directions.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| retrace_guest::fuzzing::frames(input));
