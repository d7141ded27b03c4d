//! Tests inside a server, in one rolled-back transaction each. What takes several sessions, or a
//! commit, is tested under `tests/`.

#[pgrx::pg_schema]
mod tests {
    use pgrx::prelude::*;

    fn answer(sql: &str) -> Option<String> {
        Spi::get_one::<String>(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn setup() {
        Spi::run("INSERT INTO account VALUES (1, 1000)").unwrap_or_else(|error| panic!("{error}"));
    }

    #[pg_test]
    fn a_debit_is_replayed_with_the_first_reply() {
        setup();
        let debit = |key, amount| answer(&format!("SELECT debit_once(1, '{key}', {amount})::text"));
        let first = Some("{\"balance\": 900}".to_owned());
        assert_eq!(debit("a", 100), first);
        assert_eq!(debit("b", 50), Some("{\"balance\": 850}".to_owned()));
        assert_eq!(debit("a", 100), first);
    }

    #[pg_test]
    fn a_message_is_applied_once() {
        setup();
        let consume = || {
            Spi::get_one::<i64>(
                "SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50)",
            )
        };
        assert_eq!(consume(), Ok(Some(1050)));
        assert_eq!(consume(), Ok(None));
    }

    #[pg_test]
    fn a_reply_is_laid_out_as_the_server_does_it() {
        use crate::pg::jsonb;
        use crate::request::tree::{Node, Tree};
        let mut numbers = vec![0, 1, -1, 9_999, 10_000, 10_001, i64::MAX, i64::MIN];
        let mut number = 1_i64;
        for step in 0..18 {
            number *= 10;
            numbers.extend([number, number - 1, number + 1, -number, number + step]);
        }
        for name in ["amount", "balance", "", "a", "four", "exact123"] {
            for &number in &numbers {
                let mut tree = Tree::new();
                let member = tree.add(Node::Number(number.to_string()));
                tree.root = tree.add(Node::Object(vec![(name.to_owned(), member)]));
                assert_eq!(
                    jsonb::object(name, number).image(),
                    jsonb::from_tree(&tree).image(),
                    "{name}: {number}"
                );
            }
        }
    }

    #[pg_test(error = "idempotency key reused with different request")]
    fn a_key_is_for_one_request() {
        setup();
        Spi::run("SELECT debit_once(1, 'a', 100)").unwrap_or_else(|error| panic!("{error}"));
        Spi::run("SELECT debit_once(1, 'a', 101)").unwrap_or_else(|error| panic!("{error}"));
    }
}
