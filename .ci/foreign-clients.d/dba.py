"""What a DBA does, through python-tds: script FILE, grant SCHEMA LOGIN, revoke LOGIN, catalogue."""

import os
import re
import sys

import pytds

PASSWORD = os.environ["MSSQL_PASSWORD"]


def quoted(name):
    return "[" + name.replace("]", "]]") + "]"


def batches(path):
    """The batches of a script: what stands between lines that hold nothing but GO."""
    with open(path, encoding="utf-8") as script:
        return [batch for batch in re.split(r"(?mi)^\s*GO\s*$", script.read()) if batch.strip()]


def grant(cursor, schema, login):
    cursor.execute(f"CREATE LOGIN {quoted(login)} WITH PASSWORD = N'{PASSWORD}'")
    cursor.execute(f"CREATE USER {quoted(login)} FOR LOGIN {quoted(login)}")
    cursor.execute(f"ALTER ROLE {quoted(schema + '_runtime')} ADD MEMBER {quoted(login)}")


def revoke(cursor, login):
    cursor.execute(f"DROP USER {quoted(login)}")
    cursor.execute(f"DROP LOGIN {quoted(login)}")


def catalogue(cursor):
    """Prints everything in the database that a script could have left behind."""
    for query in (
        "SELECT 'schema', name, '' FROM sys.schemas",
        "SELECT 'principal', name, type FROM sys.database_principals",
        "SELECT 'login', name, type FROM sys.server_principals",
        "SELECT SCHEMA_NAME(schema_id), name, type FROM sys.objects WHERE is_ms_shipped = 0",
        "SELECT CONCAT('permission of ', grantee_principal_id), permission_name, CONCAT(class, ' ', major_id)"
        " FROM sys.database_permissions",
    ):
        cursor.execute(query)
        for row in sorted(tuple(map(str, row)) for row in cursor.fetchall()):
            print("\t".join(row))


def main(command, *arguments):
    # The scripts have their own transaction, so the client must not begin one around them.
    with pytds.connect(
        dsn="127.0.0.1",
        port=int(os.environ["MSSQL_PORT"]),
        user="sa",
        password=PASSWORD,
        database="master",
        autocommit=True,
        timeout=60,
    ) as connection, connection.cursor() as cursor:
        if command == "script":
            for batch in batches(arguments[0]):
                cursor.execute(batch)
                while cursor.nextset():
                    pass
        else:
            {"grant": grant, "revoke": revoke, "catalogue": catalogue}[command](cursor, *arguments)


main(*sys.argv[1:])
