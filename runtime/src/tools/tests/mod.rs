//! Tests of the tools: the pure parts by table and property, and every tool through a real sandbox.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod ask_user_tests;
mod background_end_tests;
mod background_tests;
mod bash_tests;
mod batch_tests;
mod capture_tests;
mod edit_file_tests;
mod ending_tests;
mod guest_tests;
mod harness;
mod image_tests;
mod kept_output_tests;
mod lines_tests;
mod list_dir_tests;
mod magic_tests;
mod missing_tests;
mod narrowing_tests;
mod output_tests;
mod preview_tests;
mod read_file_tests;
mod read_output_tests;
mod recall_tests;
mod recalled_tests;
mod replace_tests;
mod schema_tests;
mod search_files_tests;
mod text_file_tests;
mod todo_tests;
mod window_tests;
mod write_file_tests;
