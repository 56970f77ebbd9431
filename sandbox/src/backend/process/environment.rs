//! The environment inside: built from nothing.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use retrace_guest::SANDBOX_ID_VARIABLE;

use super::HOME_INSIDE;
use super::toolchains::Toolchain;
use crate::backend::LaunchPlan;
use crate::policy::Policy;

/// Folders with programs that are visible in every sandbox.
const SYSTEM_PATH: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// All variables inside, in order of their names.
pub(super) fn inside(plan: &LaunchPlan<'_>, toolchains: &[Toolchain]) -> Vec<(OsString, OsString)> {
    let mut env: BTreeMap<OsString, OsString> = BTreeMap::new();
    for (name, value) in toolchains.iter().flat_map(|toolchain| &toolchain.env) {
        env.insert((*name).into(), value.into());
    }
    env.extend(passed_on(plan.policy));
    env.extend(fixed("process", &plan.sandbox_id).map(|(name, value)| (name.into(), value.into())));
    env.insert("PATH".into(), path_inside(&std::env::var_os("PATH").unwrap_or_default(), plan.policy, toolchains));
    env.into_iter().collect()
}

/// The variables that are the same in every isolated sandbox.
pub(crate) fn fixed<'a>(backend: &'a str, sandbox_id: &'a str) -> [(&'static str, &'a str); 9] {
    [
        ("HOME", HOME_INSIDE),
        ("USER", "agent"),
        ("LOGNAME", "agent"),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
        ("PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("RETRACE_SANDBOX", backend),
        (SANDBOX_ID_VARIABLE, sandbox_id),
    ]
}

/// The variables of the host that the policy lets through.
pub(crate) fn passed_on(policy: &Policy) -> Vec<(OsString, OsString)> {
    let value = |name: &String| Some((OsString::from(name), std::env::var_os(name)?));
    policy.env_passthrough.iter().filter_map(value).collect()
}

/// The host's search path, in its order, without what is not visible inside; and the system's folders in any case.
pub(super) fn path_inside(host: &OsStr, policy: &Policy, toolchains: &[Toolchain]) -> OsString {
    let visible = |dir: &PathBuf| {
        let shown = toolchains.iter().flat_map(|toolchain| &toolchain.shown).chain(&policy.expose);
        let mut roots =
            shown.map(PathBuf::as_path).chain(["/usr", "/bin", "/sbin", "/opt", "/nix/store"].map(Path::new));
        dir.is_absolute() && roots.any(|root| dir.starts_with(root))
    };
    let mut dirs: Vec<PathBuf> = Vec::new();
    for dir in std::env::split_paths(host).filter(visible).chain(SYSTEM_PATH.map(PathBuf::from)) {
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    // No entry holds the separator: they were split at it.
    std::env::join_paths(dirs).unwrap_or_else(|_| SYSTEM_PATH.join(":").into())
}
