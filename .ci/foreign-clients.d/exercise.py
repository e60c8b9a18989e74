"""Uses the embedded engine through a Python client: exercise.py CLIENT yes|no (encryption)."""

import datetime
import decimal
import os
import sys
import uuid

CLIENT, ENCRYPT = sys.argv[1], sys.argv[2] == "yes"
PORT, PASSWORD = int(os.environ["MSSQL_PORT"]), os.environ["MSSQL_PASSWORD"]
SCHEMA = f"{CLIENT.replace('-', '_')}_{sys.argv[2]}"
LONG = "x😀y" * 640_000  # 5 MB of UTF-16


def connect_python_tds(password):
    import pytds
    from pytds import tls

    extra = {}
    if ENCRYPT:
        # Any certificate will do: the engine made its own a moment ago.
        from OpenSSL import SSL

        context = SSL.Context(SSL.TLS_METHOD)
        context.set_verify(SSL.VERIFY_NONE, lambda *_: True)
        tls.create_context = lambda _cafile: context
        extra = {"cafile": "unused", "validate_host": False}
    return pytds.connect(
        dsn="127.0.0.1", port=PORT, user="sa", password=password, database="master", timeout=60, **extra
    )


def connect_mssql_python(password):
    import mssql_python

    encrypt = "yes" if ENCRYPT else "no"
    return mssql_python.connect(
        f"Server=127.0.0.1,{PORT};Database=master;Uid=sa;Pwd={{{password}}};"
        f"Encrypt={encrypt};TrustServerCertificate=yes"
    )


connect, MARK = {
    "python-tds": (connect_python_tds, "%s"),
    "mssql-python": (connect_mssql_python, "?"),
}[CLIENT]


def as_binary(raw):
    """Bytes as the client wants them: python-tds takes plain bytes for VARCHAR."""
    if CLIENT == "python-tds":
        import pytds

        return pytds.Binary(raw)
    return raw


def ok(what, condition, seen=""):
    if not condition:
        sys.exit(f"not ok: {what}: {str(seen)[:500]}")
    print(f"ok: {what}")


def refusal(action):
    """The error an action raises, with the server's number in front where the client has it."""
    try:
        action()
    except Exception as error:  # each client has its own hierarchy
        return f"{getattr(error, 'number', '')} {error}"
    return "no error"


PROCEDURE = f"""
CREATE PROCEDURE {SCHEMA}.put
    @id INT, @name NVARCHAR(50), @at DATETIME2(3), @amount DECIMAL(12, 2), @flag BIT, @ratio FLOAT,
    @big BIGINT, @tag UNIQUEIDENTIFIER, @raw VARBINARY(MAX), @body NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT ON;
    IF @id < 0
    BEGIN
        THROW 51001, N'the id must not be negative', 1;
    END;
    INSERT INTO {SCHEMA}.t (id, name, at, amount, flag, ratio, big, tag, raw, body)
    VALUES (@id, @name, @at, @amount, @flag, @ratio, @big, @tag, @raw, @body);
    SELECT id, name, at, amount, flag, ratio, big, tag, raw FROM {SCHEMA}.t WHERE id = @id;
    SELECT body FROM {SCHEMA}.t WHERE id = @id;
END"""


def main():
    wrong = refusal(lambda: connect("wrong"))
    ok("a wrong password is refused", "18456" in wrong or "Login failed" in wrong, wrong)

    connection = connect(PASSWORD)
    cursor = connection.cursor()
    cursor.execute(f"CREATE SCHEMA {SCHEMA}")
    cursor.execute(
        f"CREATE TABLE {SCHEMA}.t (id INT NOT NULL CONSTRAINT pk_{SCHEMA} PRIMARY KEY,"
        " name NVARCHAR(50) NULL, at DATETIME2(3) NULL, amount DECIMAL(12, 2) NULL, flag BIT NULL,"
        " ratio FLOAT NULL, big BIGINT NULL, tag UNIQUEIDENTIFIER NULL, raw VARBINARY(MAX) NULL,"
        " body NVARCHAR(MAX) NULL)"
    )
    cursor.execute(PROCEDURE)
    connection.commit()
    ok("schema, table and procedure are created", True)

    row = (
        7,
        "Zoë 😀",
        datetime.datetime(2024, 2, 29, 12, 34, 56, 789000),
        decimal.Decimal("1234.50"),
        True,
        0.1,
        2**40,
        uuid.UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff"),
    )
    raw = bytes(range(256)) * 40
    binary = as_binary(raw)
    call = f"EXEC {SCHEMA}.put " + ", ".join([MARK] * 10)
    cursor.execute(call, (*row, binary, LONG))
    first = cursor.fetchall()
    seen = tuple(str(v).lower() if isinstance(v, uuid.UUID) else v for v in first[0])
    want = tuple(str(v).lower() if isinstance(v, uuid.UUID) else v for v in (*row, raw))
    ok("values of all types come back unchanged", seen == want, (seen, want))
    ok("there is a second result set", cursor.nextset())
    ok("5 MB of text with emoji come back unchanged", cursor.fetchall()[0][0] == LONG)
    connection.commit()

    nulls = (8, None, None, None, None, None, None, None, None, None)
    cursor.execute(call.replace(MARK, "NULL").replace("NULL", "8", 1))
    ok("NULLs come back", tuple(cursor.fetchall()[0]) == nulls[:9])
    connection.rollback()
    cursor.execute(f"SELECT COUNT(*) FROM {SCHEMA}.t")
    ok("a rollback takes the row back", cursor.fetchall()[0][0] == 1)

    thrown = refusal(
        lambda: cursor.execute(
            f"BEGIN TRY EXEC {SCHEMA}.put -1, N'', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL; END TRY"
            " BEGIN CATCH THROW; END CATCH"
        )
    )
    ok("a THROW arrives", "the id must not be negative" in thrown, thrown)
    if CLIENT == "python-tds":
        ok("a THROW arrives with its number", thrown.startswith("51001 "), thrown)
    connection.rollback()
    cursor.execute(
        f"BEGIN TRY EXEC {SCHEMA}.put -1, N'', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL; END TRY"
        " BEGIN CATCH SELECT ERROR_NUMBER(); END CATCH"
    )
    ok("the number of a THROW can be asked for", cursor.fetchall()[0][0] == 51001)

    cursor.execute(f"DROP PROCEDURE {SCHEMA}.put")
    cursor.execute(f"DROP TABLE {SCHEMA}.t")
    cursor.execute(f"DROP SCHEMA {SCHEMA}")
    connection.commit()
    connection.close()
    ok("all is dropped and the connection closed", True)


main()
