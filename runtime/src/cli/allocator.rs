//! How the C library's allocator is to keep house. As it comes it has eight arenas a processor and takes ever larger blocks into
//! them: the short-lived ones of the index's threads leave holes in all, and a long session's memory grows although what it
//! holds does not.

/// The most arenas.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: libc::c_int = 2;

/// Blocks from this size on are the system's own and go back to it at once, in bytes. Once it is set, it does not rise.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_BLOCK_BYTES: libc::c_int = 128 * 1024;

/// Sets the allocator of this process, where it is glibc's. To be called before there are threads.
pub(super) fn keep_house() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (setting, value) in [(libc::M_ARENA_MAX, ARENAS), (libc::M_MMAP_THRESHOLD, OWN_BLOCK_BYTES)] {
        // SAFETY: it only sets a number. Where it is refused, all stays as it was.
        let _ = unsafe { libc::mallopt(setting, value) };
    }
}
