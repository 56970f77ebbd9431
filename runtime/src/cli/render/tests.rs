//! Tests of the transcript.
