//! Means, and how sure they are.

/// At which places of the list hits are counted.
pub(crate) const PLACES: [usize; 4] = [5, 10, 20, 50];
/// How often the sample is drawn again.
const DRAWS: usize = 2000;

/// The figures of one way to search: a row for each question, in the same order for all.
pub(crate) struct Arm {
    pub name: &'static str,
    pub rows: Vec<Vec<f64>>,
}

/// Prints the arms below `columns`, and how much better the last one is than each before it.
pub(crate) fn print(title: &str, columns: &[&str], arms: &[Arm], clusters: &[usize]) {
    println!("\n{title}: {} questions", clusters.len());
    let head: String = columns.iter().map(|column| format!("{column:>10}")).collect();
    println!("  {:32}{head}", "");
    for arm in arms {
        let means: String =
            means(&arm.rows, 0..arm.rows.len()).iter().map(|mean| format!("{:10.1}", 100.0 * mean)).collect();
        println!("  {:32}{means}", arm.name);
    }
    let Some((fusion, parts)) = arms.split_last() else { return };
    println!("  {} minus each, with 95% intervals", fusion.name);
    for part in parts {
        let differences = differences(&fusion.rows, &part.rows);
        let shown: String = intervals(&differences, clusters)
            .iter()
            .map(|(low, mean, high)| format!("  {:+.1} [{:+.1}, {:+.1}]", 100.0 * mean, 100.0 * low, 100.0 * high))
            .collect();
        println!("  {:32}{shown}", part.name);
    }
}

fn differences(one: &[Vec<f64>], other: &[Vec<f64>]) -> Vec<Vec<f64>> {
    one.iter().zip(other).map(|(one, other)| one.iter().zip(other).map(|(one, other)| one - other).collect()).collect()
}

fn means(rows: &[Vec<f64>], which: impl Iterator<Item = usize>) -> Vec<f64> {
    let mut sums = vec![0.0; rows.first().map_or(0, Vec::len)];
    let mut count = 0.0_f64;
    for row in which {
        sums.iter_mut().zip(&rows[row]).for_each(|(sum, value)| *sum += value);
        count += 1.0;
    }
    sums.into_iter().map(|sum| sum / count.max(1.0)).collect()
}

/// Low, mean and high of each column; whole clusters are drawn.
fn intervals(rows: &[Vec<f64>], clusters: &[usize]) -> Vec<(f64, f64, f64)> {
    let count = clusters.iter().max().map_or(0, |last| last + 1);
    let mut members = vec![Vec::new(); count];
    clusters.iter().enumerate().for_each(|(row, cluster)| members[*cluster].push(row));
    let mut random = 7_u64;
    let mut drawn: Vec<Vec<f64>> = vec![Vec::with_capacity(DRAWS); rows.first().map_or(0, Vec::len)];
    for _ in 0..DRAWS {
        let picked: Vec<usize> = (0..count).flat_map(|_| members[next(&mut random) % count].iter().copied()).collect();
        let means = means(rows, picked.into_iter());
        drawn.iter_mut().zip(means).for_each(|(column, mean)| column.push(mean));
    }
    let all = means(rows, 0..rows.len());
    drawn
        .into_iter()
        .zip(all)
        .map(|(mut column, mean)| {
            column.sort_by(f64::total_cmp);
            (column[DRAWS / 40], mean, column[DRAWS - 1 - DRAWS / 40])
        })
        .collect()
}

/// SplitMix64.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) as usize
}
