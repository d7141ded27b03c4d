//! The values that travel between doors, rules and stores.
//!
//! A value borrows what Postgres holds: `Text` and `Json` are whole varlena images with a
//! four-byte header, so that a store hands them on without copying. Nothing here reads a pointer.

use core::fmt;

/// The size of a varlena's uncompressed header, in bytes.
pub const VARLENA_HEADER: usize = 4;

/// A `text` value in the database's encoding, UTF-8.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<'a>(&'a [u8]);

/// A `jsonb` value in its binary form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Json<'a>(&'a [u8]);

macro_rules! varlena {
    ($name:ident) => {
        impl<'a> $name<'a> {
            /// Takes a varlena image: a four-byte header and what follows it.
            pub fn from_image(image: &'a [u8]) -> Self {
                debug_assert!(image.len() >= VARLENA_HEADER);
                Self(image)
            }

            /// The image with its header, as Postgres passes it around.
            pub fn image(self) -> &'a [u8] {
                self.0
            }

            /// The content without the header.
            pub fn bytes(self) -> &'a [u8] {
                &self.0[VARLENA_HEADER..]
            }
        }

        // A value may be somebody's request: it never prints itself.
        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({} bytes)", stringify!($name), self.bytes().len())
            }
        }
    };
}

varlena!(Text);
varlena!(Json);

/// One column's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Bigint(i64),
    Int(i32),
    Text(Text<'a>),
    Uuid(&'a [u8; 16]),
    Json(Json<'a>),
    /// Microseconds since 2000-01-01 00:00:00 UTC, as `timestamptz` counts.
    Timestamp(i64),
}

/// The columns a store answered with, in the order that the table's descriptor names them.
pub type Row<'a> = Vec<Value<'a>>;
