//! Interior mutability and shared ownership within a thread.

use std::cell::{Cell, LazyCell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

use crate::check::digest;

agree!(
    cells_of_numbers,
    cells_of_slices,
    borrows_are_counted,
    borrowed_parts,
    once_and_lazy,
    shared_counts,
    shared_and_changed,
    weak_parents,
    copied_when_shared,
    graph_of_cells,
);

fn cells_of_numbers((a, b): (u32, u32)) -> [u32; 4] {
    let (x, y) = (Cell::new(a), Cell::new(b));
    let add = |n: u32| x.set(x.get().wrapping_add(n));
    add(1);
    add(y.replace(7));
    x.swap(&y);
    [x.get(), y.take(), y.get(), x.into_inner() ^ 1]
}

fn cells_of_slices(mut x: [u32; 6]) -> [u32; 6] {
    let cells = Cell::from_mut(&mut x[..]).as_slice_of_cells();
    for pair in cells.windows(2) {
        pair[1].set(pair[1].get() ^ pair[0].get().rotate_left(3));
    }
    cells[0].swap(&cells[5]);
    x
}

fn borrows_are_counted((a, b): (u32, u8)) -> (u32, bool, bool) {
    let cell = RefCell::new(vec![a]);
    let many = (cell.try_borrow().is_ok(), {
        let held = cell.borrow();
        let blocked = cell.try_borrow_mut().is_err();
        let also = cell.borrow();
        blocked && held.len() == also.len()
    });
    for i in 0..b % 5 {
        cell.borrow_mut().push(i.into());
    }
    let free = {
        let held = cell.borrow_mut();
        cell.try_borrow().is_ok() || held.is_empty()
    };
    (
        cell.into_inner().iter().fold(0, |a, b| a ^ b),
        many.0 && many.1 && b > 9,
        free,
    )
}

fn borrowed_parts(x: [u32; 5]) -> (u64, u32) {
    use std::cell::{Ref, RefMut};
    let cell = RefCell::new((x, 3u32));
    {
        let mut array = RefMut::map(cell.borrow_mut(), |pair| &mut pair.0);
        array.reverse();
        array[1] ^= 9;
    }
    let last = Ref::map(cell.borrow(), |pair| &pair.0[4]);
    let sum = *last ^ cell.borrow().1;
    drop(last);
    (digest(cell.replace(([0; 5], 1)).0), sum ^ cell.borrow().1)
}

fn once_and_lazy((a, again): (u32, bool)) -> (u32, u32, bool) {
    let runs = Cell::new(0);
    let once = OnceCell::new();
    let lazy = LazyCell::new(|| {
        runs.set(runs.get() + 1);
        a.rotate_left(8)
    });
    let first = *once.get_or_init(|| a ^ 1);
    let refused = once.set(5).is_err();
    let sum = if again { *lazy ^ *lazy } else { 0 };
    (first ^ sum, runs.get(), refused && again)
}

fn shared_counts((a, n): (u32, u8)) -> (usize, usize, u32) {
    let shared = Rc::new(a);
    let copies: Vec<Rc<u32>> = (0..n % 5).map(|_| Rc::clone(&shared)).collect();
    let weak = Rc::downgrade(&shared);
    let during = Rc::strong_count(&shared);
    drop(copies);
    let value = weak.upgrade().map_or(0, |x| *x ^ 3);
    let alone = Rc::try_unwrap(shared).unwrap_or(0);
    let gone = weak.upgrade().is_none();
    (during, usize::from(gone), value ^ alone)
}

fn shared_and_changed(x: [u32; 4]) -> (u64, usize) {
    let log = Rc::new(RefCell::new(Vec::new()));
    let writer = |tag: u32| {
        let log = Rc::clone(&log);
        move |x: u32| log.borrow_mut().push(x ^ tag)
    };
    let (first, second) = (writer(1), writer(1 << 20));
    for x in x {
        if x % 2 == 0 { first(x) } else { second(x) }
    }
    let count = Rc::strong_count(&log);
    (
        digest(log.borrow().iter().copied()),
        count + log.borrow().len() * usize::from(x[0] > 9),
    )
}

struct Node {
    value: u32,
    parent: RefCell<Weak<Node>>,
    children: RefCell<Vec<Rc<Node>>>,
}

fn node(value: u32) -> Rc<Node> {
    Rc::new(Node {
        value,
        parent: RefCell::new(Weak::new()),
        children: RefCell::default(),
    })
}

fn weak_parents(x: [u32; 5]) -> (u32, usize, bool) {
    let root = node(x[0]);
    for &x in &x[1..] {
        let child = node(x);
        *child.parent.borrow_mut() = Rc::downgrade(&root);
        root.children.borrow_mut().push(child);
    }
    let kept = Rc::clone(&root.children.borrow()[x[0] as usize % 4]);
    let parent = kept
        .parent
        .borrow()
        .upgrade()
        .map_or(0, |parent| parent.value);
    let weak = Rc::weak_count(&root);
    drop(root);
    (
        parent ^ kept.value,
        weak,
        kept.parent.borrow().upgrade().is_none() && x[1] > 3,
    )
}

fn copied_when_shared((x, share): ([u32; 3], bool)) -> ([u32; 3], [u32; 3], bool) {
    let mut a = Rc::new(x);
    let b = if share { Rc::clone(&a) } else { Rc::new(x) };
    Rc::make_mut(&mut a)[0] ^= 1;
    let alone = Rc::get_mut(&mut a).is_some();
    (*a, *b, alone && Rc::ptr_eq(&b, &Rc::clone(&b)) && share)
}

fn graph_of_cells(edges: [u8; 8]) -> u64 {
    struct Vertex<'a> {
        next: Cell<Option<&'a Vertex<'a>>>,
        visits: Cell<u32>,
    }
    let vertices: [Vertex; 8] = std::array::from_fn(|_| Vertex {
        next: Cell::new(None),
        visits: Cell::new(0),
    });
    for (vertex, &edge) in vertices.iter().zip(&edges) {
        vertex.next.set(vertices.get(usize::from(edge) % 10));
    }
    let mut at = Some(&vertices[0]);
    for step in 0..20 {
        let Some(vertex) = at else { break };
        vertex.visits.set(vertex.visits.get() * 2 + step);
        at = vertex.next.get();
    }
    digest(vertices.iter().map(|vertex| vertex.visits.get()))
}
