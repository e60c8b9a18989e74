//! Load tester for duroxide-sql.

fn main() {}
