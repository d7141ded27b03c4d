//! What this transaction has open: an unfinished reservation cannot commit.
//!
//! A savepoint that is rolled back forgets the reservations made after it and opens those again
//! that were finished after it. Pure book-keeping; `pg::transaction` tells what happens.

use crate::error::{Error, Result};
use core::cell::RefCell;
use std::collections::HashMap;

/// A subtransaction, or the transaction itself, by Postgres's number.
pub type Level = u32;

/// Scope, operation and request key, in one piece: each call makes one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    bytes: Vec<u8>,
    /// Where the operation and the request key begin.
    begins: [usize; 2],
}

impl Identity {
    /// Takes three parts, each of which `write` appends.
    pub fn of<P>(parts: [P; 3], write: impl Fn(&P, &mut Vec<u8>)) -> Self {
        // Enough for an account's id and a UUID.
        let mut bytes = Vec::with_capacity(80);
        let [scope, operation, request_key] = &parts;
        write(scope, &mut bytes);
        let begins_operation = bytes.len();
        write(operation, &mut bytes);
        let begins = [begins_operation, bytes.len()];
        write(request_key, &mut bytes);
        Identity { bytes, begins }
    }

    /// The same from three texts.
    pub fn of_bytes(parts: [&[u8]; 3]) -> Self {
        Self::of(parts, |part, bytes| bytes.extend_from_slice(part))
    }

    pub fn scope(&self) -> &[u8] {
        &self.bytes[..self.begins[0]]
    }

    pub fn operation(&self) -> &[u8] {
        &self.bytes[self.begins[0]..self.begins[1]]
    }

    pub fn request_key(&self) -> &[u8] {
        &self.bytes[self.begins[1]..]
    }
}

/// Why an identity is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Its effect is running further up.
    Running,
    /// It was reserved, and is to be completed or refused.
    Reserved,
}

#[derive(Clone, Debug)]
struct Open {
    identity: Identity,
    how: How,
    made_in: Level,
    /// Counts the openings of the transaction.
    number: u64,
}

#[derive(Clone, Copy, Debug)]
struct Finished {
    made_in: Level,
    finished_in: Level,
    number: u64,
}

#[derive(Debug, Default)]
struct Book {
    /// In the order in which they were opened.
    open: Vec<Open>,
    /// Reservations that were finished. One identity may have been more than once, where its
    /// record was deleted in between.
    finished: HashMap<Identity, Vec<Finished>>,
    opened: u64,
}

thread_local! {
    static BOOK: RefCell<Book> = RefCell::default();
}

impl Book {
    fn finish(&mut self, identity: &Identity, level: Level) -> bool {
        let place = self
            .open
            .iter()
            .rposition(|open| open.how == How::Reserved && open.identity == *identity);
        let Some(place) = place else {
            return false;
        };
        let open = self.open.remove(place);
        self.finished
            .entry(open.identity)
            .or_default()
            .push(Finished {
                made_in: open.made_in,
                finished_in: level,
                number: open.number,
            });
        true
    }

    fn level_rolled_back(&mut self, level: Level) {
        self.open.retain(|open| open.made_in != level);
        let open = &mut self.open;
        self.finished.retain(|identity, times| {
            times.retain(|time| {
                if time.finished_in != level {
                    return true;
                }
                if time.made_in != level {
                    open.push(Open {
                        identity: identity.clone(),
                        how: How::Reserved,
                        made_in: time.made_in,
                        number: time.number,
                    });
                }
                false
            });
            !times.is_empty()
        });
        open.sort_by_key(|open| open.number);
    }

    fn level_committed(&mut self, level: Level, parent: Level) {
        for open in self.open.iter_mut().filter(|open| open.made_in == level) {
            open.made_in = parent;
        }
        for time in self.finished.values_mut().flatten() {
            for at in [&mut time.made_in, &mut time.finished_in] {
                if *at == level {
                    *at = parent;
                }
            }
        }
    }

    fn check(&self) -> Result<()> {
        if self.open.is_empty() {
            Ok(())
        } else {
            Err(Error::Unfinished(self.open.len()))
        }
    }
}

/// Opens an identity.
pub fn open(identity: Identity, how: How, level: Level) {
    BOOK.with_borrow_mut(|book| {
        book.opened += 1;
        let number = book.opened;
        book.open.push(Open {
            identity,
            how,
            made_in: level,
            number,
        });
    });
}

/// Closes the identity whose effect has just ended.
pub fn close_running() {
    BOOK.with_borrow_mut(|book| {
        if let Some(place) = book.open.iter().rposition(|open| open.how == How::Running) {
            book.open.remove(place);
        }
    });
}

/// Whether anything is open at all.
pub fn is_busy() -> bool {
    BOOK.with_borrow(|book| !book.open.is_empty())
}

/// Why an identity is open, if it is.
pub fn is_open(identity: &Identity) -> Option<How> {
    BOOK.with_borrow(|book| {
        book.open
            .iter()
            .rev()
            .find(|open| open.identity == *identity)
            .map(|open| open.how)
    })
}

/// Marks a reservation as finished; answers false where there is none.
pub fn finish(identity: &Identity, level: Level) -> bool {
    BOOK.with_borrow_mut(|book| book.finish(identity, level))
}

/// Whether this transaction has reserved and finished an identity.
pub fn has_finished(identity: &Identity) -> bool {
    BOOK.with_borrow(|book| book.finished.contains_key(identity))
}

/// The only reservation that is open, or how many are.
pub fn only_reserved() -> core::result::Result<Identity, usize> {
    BOOK.with_borrow(|book| {
        let mut reserved = book.open.iter().filter(|open| open.how == How::Reserved);
        match (reserved.next(), reserved.count()) {
            (Some(open), 0) => Ok(open.identity.clone()),
            (first, more) => Err(usize::from(first.is_some()) + more),
        }
    })
}

/// The identity at work: the innermost effect that runs, or the latest reservation.
pub fn current() -> Option<Identity> {
    BOOK.with_borrow(|book| book.open.last().map(|open| open.identity.clone()))
}

/// The end of a subtransaction.
pub fn level_ended(level: Level, committed_into: Option<Level>) {
    BOOK.with_borrow_mut(|book| {
        if book.open.is_empty() && book.finished.is_empty() {
            return;
        }
        match committed_into {
            Some(parent) => book.level_committed(level, parent),
            None => book.level_rolled_back(level),
        }
    });
}

/// Refuses the end of a transaction that has something open.
pub fn check() -> Result<()> {
    BOOK.with_borrow(Book::check)
}

/// The end of a transaction.
pub fn clear() {
    BOOK.with_borrow_mut(|book| {
        book.open.clear();
        book.finished = HashMap::new();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(key: &str) -> Identity {
        Identity::of_bytes([b"s", b"o:v1", key.as_bytes()])
    }

    fn reserve(key: &str, level: Level) {
        open(identity(key), How::Reserved, level);
    }

    #[test]
    fn an_identity_keeps_its_parts_apart() {
        let identity = Identity::of_bytes([b"s", b"", b"key"]);
        assert_eq!(identity.scope(), b"s");
        assert_eq!(identity.operation(), b"");
        assert_eq!(identity.request_key(), b"key");
        assert_ne!(identity, Identity::of_bytes([b"", b"s", b"key"]));
    }

    #[test]
    fn an_unfinished_reservation_is_refused_and_a_finished_one_is_not() {
        reserve("a", 1);
        reserve("b", 1);
        assert!(finish(&identity("a"), 1));
        assert_eq!(check(), Err(Error::Unfinished(1)));
        assert!(finish(&identity("b"), 1));
        assert_eq!(check(), Ok(()));
        assert!(!finish(&identity("b"), 1), "twice");
        assert!(has_finished(&identity("b")));
    }

    #[test]
    fn a_rolled_back_level_forgets_what_it_made_and_reopens_what_it_finished() {
        reserve("outer", 1);
        reserve("inner", 2);
        assert!(finish(&identity("outer"), 2));
        assert!(finish(&identity("inner"), 2));
        level_ended(2, None);
        assert_eq!(is_open(&identity("outer")), Some(How::Reserved));
        assert_eq!(is_open(&identity("inner")), None);
        assert!(!has_finished(&identity("inner")));
        assert_eq!(check(), Err(Error::Unfinished(1)));
        assert!(finish(&identity("outer"), 1));
        assert_eq!(check(), Ok(()));
    }

    #[test]
    fn an_identity_finished_twice_is_reopened_where_it_was_first_made() {
        reserve("a", 1);
        reserve("later", 1);
        assert!(finish(&identity("a"), 2));
        reserve("a", 2);
        assert!(finish(&identity("a"), 2));
        level_ended(2, None);
        assert_eq!(check(), Err(Error::Unfinished(2)));
        assert_eq!(
            current(),
            Some(identity("later")),
            "in the order of opening"
        );
    }

    #[test]
    fn a_committed_level_hands_on_to_its_parent() {
        reserve("a", 3);
        level_ended(3, Some(2));
        assert!(finish(&identity("a"), 2));
        level_ended(2, None);
        assert_eq!(check(), Ok(()));
        assert_eq!(is_open(&identity("a")), None);
    }

    #[test]
    fn the_innermost_is_the_current_one() {
        assert_eq!(current(), None);
        reserve("a", 1);
        open(identity("b"), How::Running, 1);
        assert_eq!(current(), Some(identity("b")));
        close_running();
        assert_eq!(current(), Some(identity("a")));
        assert_eq!(only_reserved(), Ok(identity("a")));
        reserve("c", 1);
        assert_eq!(only_reserved(), Err(2));
        clear();
        assert_eq!(only_reserved(), Err(0));
    }
}
