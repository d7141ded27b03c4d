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

    #[pg_test(error = "idempotency key reused with different request")]
    fn a_key_is_for_one_request() {
        setup();
        Spi::run("SELECT debit_once(1, 'a', 100)").unwrap_or_else(|error| panic!("{error}"));
        Spi::run("SELECT debit_once(1, 'a', 101)").unwrap_or_else(|error| panic!("{error}"));
    }
}
