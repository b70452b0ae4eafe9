//! The loops of a function.
//!
//! In: which blocks follow which. Out: sets of blocks that reach each other, outer loops before inner ones. Inner loops are
//! found when the blocks are left out by which the outer one is entered.

use std::collections::BTreeSet;

/// The loops of a graph, each as its blocks.
pub fn loops(next: &[Vec<usize>]) -> Vec<BTreeSet<usize>> {
    let mut found = Vec::new();
    let mut open = vec![(0..next.len()).collect::<BTreeSet<usize>>()];
    while let Some(blocks) = open.pop() {
        for component in components(next, &blocks) {
            let first = *component.first().expect("a component has a block");
            if component.len() == 1 && !next[first].contains(&first) {
                continue;
            }
            let mut inner = component.clone();
            for (from, targets) in next.iter().enumerate() {
                if !component.contains(&from) {
                    targets.iter().for_each(|target| {
                        inner.remove(target);
                    });
                }
            }
            // A loop that nothing enters from outside is never run; without its first block it is none.
            if inner.len() == component.len() {
                inner.remove(&first);
            }
            found.push(component);
            open.push(inner);
        }
    }
    found
}

/// The sets of blocks that reach each other, within `blocks`: Tarjan's algorithm, without recursion.
fn components(next: &[Vec<usize>], blocks: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; next.len()];
    let mut lowest = vec![UNSEEN; next.len()];
    let mut waiting = Vec::new();
    let mut is_waiting = vec![false; next.len()];
    let mut components = Vec::new();
    let mut seen = 0;
    for &root in blocks {
        if order[root] != UNSEEN {
            continue;
        }
        // Each block on the way from the root, and how many of its successors were looked at.
        let mut way = vec![(root, 0)];
        while let Some(&(block, looked_at)) = way.last() {
            if looked_at == 0 {
                (order[block], lowest[block]) = (seen, seen);
                seen += 1;
                waiting.push(block);
                is_waiting[block] = true;
            }
            way.last_mut().expect("it is there").1 += 1;
            if let Some(&target) = next[block].get(looked_at) {
                if !blocks.contains(&target) {
                    continue;
                }
                if order[target] == UNSEEN {
                    way.push((target, 0));
                } else if is_waiting[target] {
                    lowest[block] = lowest[block].min(order[target]);
                }
                continue;
            }
            way.pop();
            if let Some(&(before, _)) = way.last() {
                lowest[before] = lowest[before].min(lowest[block]);
            }
            if lowest[block] == order[block] {
                let start = waiting
                    .iter()
                    .rposition(|&other| other == block)
                    .expect("it waits");
                let component: BTreeSet<usize> = waiting.drain(start..).collect();
                component
                    .iter()
                    .for_each(|&block| is_waiting[block] = false);
                components.push(component);
            }
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_the_loops_in_them() {
        // 0 -> 1 <-> 2, 1 -> 3; 3 -> 4 -> 5 -> 4, 5 -> 3, 5 -> 6 -> 6.
        let next = vec![
            vec![1],
            vec![2, 3],
            vec![1],
            vec![4],
            vec![5],
            vec![4, 3, 6],
            vec![6, 7],
            vec![],
        ];
        let mut found = loops(&next);
        found.sort_by_key(|blocks| (*blocks.first().unwrap(), 8 - blocks.len()));
        let wanted: Vec<BTreeSet<usize>> = [&[1, 2][..], &[3, 4, 5], &[4, 5], &[6]]
            .map(|blocks| blocks.iter().copied().collect())
            .into();
        assert_eq!(found, wanted);
    }
}
