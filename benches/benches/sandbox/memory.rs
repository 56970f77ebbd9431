//! The memory of a tree of processes: what each has for itself and its share of what it has together with others.

use std::fs;

/// Of these processes and all that come from them, MB.
pub(crate) fn of_trees(roots: &[u32]) -> f64 {
    let parents = parents();
    let mut tree = roots.to_vec();
    let mut next = 0;
    while next < tree.len() {
        let children = parents.iter().filter(|(child, parent)| *parent == tree[next] && !tree.contains(child));
        let children: Vec<u32> = children.map(|(child, _)| *child).collect();
        tree.extend(children);
        next += 1;
    }
    tree.into_iter().map(proportional_kb).sum::<f64>() / 1_000.0
}

/// The processes that this one started.
pub(crate) fn children() -> Vec<u32> {
    parents().into_iter().filter(|(_, parent)| *parent == std::process::id()).map(|(child, _)| child).collect()
}

fn parents() -> Vec<(u32, u32)> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let process = |pid: u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
        Some((pid, parent))
    };
    all.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn proportional_kb(pid: u32) -> f64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let pss = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    pss.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or_default()
}
