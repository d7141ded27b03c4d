//! `idempotency`: a retried database call runs once and is answered with the first reply.
//!
//! A call enters at a door (`doors`), is admitted (`admission`), goes through the rules (`local`),
//! which ask a store (`store`), and returns the same way. What is unsafe lives in `pg` and `store`.

mod admission;
mod contract;
mod doors;
mod error;
mod guard;
mod identity;
mod local;
mod outcome;
mod pg;
mod request;
mod settings;
mod store;
mod value;

pgrx::pg_module_magic!();

pgrx::extension_sql_file!("../sql/tables.sql", name = "tables", bootstrap);
pgrx::extension_sql_file!(
    "../sql/functions.sql",
    name = "functions",
    requires = ["tables"]
);
pgrx::extension_sql_file!(
    "../sql/records.sql",
    name = "records",
    requires = ["functions"]
);
pgrx::extension_sql_file!(
    "../sql/contracts.sql",
    name = "contracts",
    requires = ["records"]
);
pgrx::extension_sql_file!(
    "../sql/requests.sql",
    name = "requests",
    requires = ["contracts"]
);
pgrx::extension_sql_file!(
    "../sql/grants.sql",
    name = "grants",
    requires = ["requests"]
);
pgrx::extension_sql_file!("../sql/rights.sql", name = "rights", requires = ["grants"]);

/// Called once a backend, when the library is loaded.
#[allow(non_snake_case)]
#[pgrx::pg_guard]
pub extern "C-unwind" fn _PG_init() {
    settings::define();
    pg::installation::watch();
    pg::roles::watch();
    pg::commands::watch();
    pg::transaction::watch();
}

#[cfg(any(test, feature = "pg_test"))]
mod server_tests;

/// What `cargo pgrx test` asks for.
#[cfg(test)]
pub mod pg_test {
    pub fn setup(_options: Vec<&str>) {}

    #[must_use]
    pub fn postgresql_conf_options() -> Vec<&'static str> {
        vec!["fsync = off"]
    }
}
