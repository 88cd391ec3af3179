use crate::views::EventRow;
use toolplan_engine::run::JournalEntry;
pub fn event_row(_entry: &JournalEntry) -> EventRow { todo!() }
