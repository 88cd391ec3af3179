//! Many short lists in one piece of memory, so that a stored index is read without an allocation for each.

use std::sync::Arc;

/// Lists by number. One that was never edited lies in `flat`; an edited one has memory of its own. Clones share `flat`.
#[derive(Debug, Clone)]
pub(super) struct Rows<T> {
    flat: Arc<Vec<T>>,
    rows: Vec<Row<T>>,
}

#[derive(Debug, Clone)]
enum Row<T> {
    Flat { start: u32, end: u32 },
    Own(Vec<T>),
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { flat: Arc::default(), rows: vec![] }
    }
}

impl<T: Copy> Rows<T> {
    /// Lists that lie one after another in `flat`, each ending where `ends` says. `None` when the ends do not fit.
    pub(super) fn of(flat: Vec<T>, ends: &[u32]) -> Option<Self> {
        let mut start = 0;
        let mut rows = Vec::with_capacity(ends.len());
        for &end in ends {
            if end < start {
                return None;
            }
            rows.push(Row::Flat { start, end });
            start = end;
        }
        (start as usize == flat.len()).then(|| Self { flat: Arc::new(flat), rows })
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn get(&self, row: u32) -> &[T] {
        match &self.rows[row as usize] {
            Row::Flat { start, end } => &self.flat[*start as usize..*end as usize],
            Row::Own(own) => own,
        }
    }

    /// The list to edit. The one at the end is made when it is not there yet.
    pub(super) fn edit(&mut self, row: u32) -> &mut Vec<T> {
        if row as usize == self.rows.len() {
            self.rows.push(Row::Own(vec![]));
        }
        let place = &mut self.rows[row as usize];
        if let Row::Flat { start, end } = *place {
            *place = Row::Own(self.flat[start as usize..end as usize].to_vec());
        }
        match place {
            Row::Own(own) => own,
            Row::Flat { .. } => unreachable!("it has memory of its own now"),
        }
    }
}
