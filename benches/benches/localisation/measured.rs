//! What was measured, and how it is printed.

use super::figures::{Arm, print};

/// Among how many first files the changed ones must be.
const PLACES: [usize; 3] = [1, 5, 10];
const COLUMNS: [&str; 3] = ["Acc@1", "Acc@5", "Acc@10"];

/// What the ways to search found for one task.
pub(crate) struct MeasuredTask {
    /// Its place among all tasks.
    pub place: usize,
    pub repository: String,
    pub changed: Vec<String>,
    /// Each way with the files it found, best first; the same ways for all tasks, but for vectors.
    pub found: Vec<(&'static str, Vec<String>)>,
}

/// All tasks.
#[derive(Default)]
pub(crate) struct Measured {
    pub tasks: Vec<MeasuredTask>,
}

impl Measured {
    /// Prints each repository, all of them, and both halves; and those with vectors apart.
    pub(crate) fn print(&self) {
        let mut repositories: Vec<&str> = self.tasks.iter().map(|task| task.repository.as_str()).collect();
        repositories.dedup();
        for repository in repositories {
            self.print_some(repository, |task| task.repository == repository);
        }
        self.print_some("all", |_| true);
        self.print_some("even tasks, by which weights were measured", |task| task.place.is_multiple_of(2));
        self.print_some("odd tasks", |task| !task.place.is_multiple_of(2));
        let ways = self.tasks.iter().map(|task| task.found.len());
        let (fewest, most) = (ways.clone().min(), ways.max());
        if fewest != most {
            self.print_some("those with vectors", |task| Some(task.found.len()) == most);
        }
    }

    /// Prints the ways that all of the tasks in question have.
    fn print_some(&self, title: &str, is_wanted: impl Fn(&MeasuredTask) -> bool) {
        let tasks: Vec<&MeasuredTask> = self.tasks.iter().filter(|task| is_wanted(task)).collect();
        let Some(ways) = tasks.iter().map(|task| task.found.len()).min() else { return };
        let arm = |way: usize| Arm {
            name: tasks[0].found[way].0,
            rows: tasks.iter().map(|task| accuracy(&task.found[way].1, &task.changed)).collect(),
        };
        let arms: Vec<Arm> = (0..ways).map(arm).collect();
        let clusters: Vec<usize> = (0..tasks.len()).collect();
        print(&format!("localisation, {title}"), &COLUMNS, &arms, &clusters);
    }
}

fn accuracy(found: &[String], changed: &[String]) -> Vec<f64> {
    let at = |place: usize| {
        let first = &found[..found.len().min(place)];
        f64::from(u8::from(changed.iter().all(|file| first.contains(file))))
    };
    PLACES.map(at).into()
}
