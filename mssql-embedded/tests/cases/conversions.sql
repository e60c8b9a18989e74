-- Where two types meet, the one with the higher precedence wins, and strings have nearly the lowest: a
-- string beside a number is converted to the number, and fails if it is none. TRY_ forms give NULL.

-- case: try_cast_gives_null
SELECT TRY_CAST('x' AS INT) AS a, TRY_CONVERT(DATE, 'x') AS b, TRY_CAST('12' AS INT) AS c;
-- expect columns: a int, b date, c int
-- expect row: NULL | NULL | 12

-- case: text_to_int
SELECT CAST(' 12 ' AS INT) AS a, CAST('' AS INT) AS b, CAST('-7' AS INT) AS c, CAST('+7' AS INT) AS d;
-- expect row: 12 | 0 | -7 | 7

-- case: text_that_is_no_int
SELECT CAST('12a' AS INT) AS a;
-- expect error 245 16 1 Conversion failed when converting the varchar value '12a' to data type int.

-- case: national_text_that_is_no_int
SELECT CAST(N'12a' AS INT) AS a;
-- expect error 245 16 1 Conversion failed when converting the nvarchar value '12a' to data type int.

-- case: a_decimal_text_is_no_int
SELECT CAST('1.5' AS INT) AS a;
-- expect error 245 16 1 Conversion failed when converting the varchar value '1.5' to data type int.

-- case: text_beyond_int
SELECT CAST('99999999999' AS INT) AS a;
-- expect error 248 16 1 The conversion of the varchar value '99999999999' overflowed an int column.

-- case: text_that_is_no_decimal
SELECT CAST('abc' AS DECIMAL(5, 2)) AS a;
-- expect error 8114 16 5 Error converting data type varchar to numeric.

-- case: text_that_is_no_bigint
SELECT CAST('abc' AS BIGINT) AS a;
-- expect error 8114 16 5 Error converting data type varchar to bigint.

-- case: number_beyond_tinyint
SELECT CAST(300 AS TINYINT) AS a;
-- expect error 220 16 * Arithmetic overflow error for data type tinyint, value = 300.

-- case: number_beyond_smallint
SELECT CAST(40000 AS SMALLINT) AS a;
-- expect error 220 16 * Arithmetic overflow error for data type smallint, value = 40000.

-- case: bigint_beyond_int
SELECT CAST(CAST(3000000000 AS BIGINT) AS INT) AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type int.

-- case: anything_but_zero_is_bit_one
SELECT CAST(5 AS BIT) AS a, CAST('true' AS BIT) AS b, CAST('FALSE' AS BIT) AS c, CAST(0.1 AS BIT) AS d;
-- expect columns: a bit, b bit, c bit, d bit
-- expect row: 1 | 1 | 0 | 1

-- case: text_that_is_no_guid
SELECT CAST('x' AS UNIQUEIDENTIFIER) AS a;
-- expect error 8169 16 2 Conversion failed when converting from a character string to uniqueidentifier.

-- case: guid_text_is_upper_case
SELECT CAST('6f9619ff-8b86-d011-b42d-00c04fc964ff' AS UNIQUEIDENTIFIER) AS a, CAST(CAST('6f9619ff-8b86-d011-b42d-00c04fc964ff' AS UNIQUEIDENTIFIER) AS VARCHAR(36)) AS b;
-- expect columns: a uniqueidentifier, b varchar
-- expect row: 6F9619FF-8B86-D011-B42D-00C04FC964FF | '6F9619FF-8B86-D011-B42D-00C04FC964FF'

-- case: binary_forms
SELECT CAST('AB' AS VARBINARY(4)) AS a, CAST(1 AS VARBINARY(4)) AS b, CAST(N'A' AS VARBINARY(4)) AS c, CONVERT(VARBINARY(4), '0x4142', 1) AS d, CONVERT(VARCHAR(10), 0x4142, 2) AS e, CONVERT(VARCHAR(10), 0x4142, 1) AS f, CAST(0x4142 AS VARCHAR(4)) AS g;
-- expect row: 0x4142 | 0x00000001 | 0x4100 | 0x4142 | '4142' | '0x4142' | 'AB'

-- case: binary_pads_and_varbinary_does_not
SELECT CAST(0x01 AS BINARY(3)) AS a, CAST(0x01 AS VARBINARY(3)) AS b, CAST(0x0102 AS INT) AS c;
-- expect columns: a binary, b varbinary, c int
-- expect row: 0x010000 | 0x01 | 258

-- case: a_conversion_that_does_not_exist
SELECT CAST(GETDATE() AS UNIQUEIDENTIFIER) AS a;
-- expect error 529 16 * Explicit conversion from data type datetime to uniqueidentifier is not allowed.

-- case: an_implicit_conversion_that_does_not_exist
DECLARE @d DATETIME = CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS UNIQUEIDENTIFIER);
-- expect error 206 16 * Operand type clash: uniqueidentifier is incompatible with datetime

-- case: float_text_has_six_digits
SELECT CAST(CAST(1234567 AS FLOAT) AS VARCHAR(30)) AS a, CAST(0.1e0 AS VARCHAR(30)) AS b, CAST(CAST(100 AS FLOAT) AS VARCHAR(30)) AS c;
-- expect row: '1.23457e+006' | '0.1' | '100'

-- case: decimal_text_keeps_its_scale
SELECT CAST(CAST(1.5 AS DECIMAL(5, 2)) AS VARCHAR(10)) AS a, CAST(-0.5 AS VARCHAR(10)) AS b;
-- expect row: '1.50' | '-0.5'

-- case: a_string_is_compared_as_the_number
SELECT CASE WHEN 1 = '1' THEN 1 ELSE 0 END AS a, CASE WHEN '01' = 1 THEN 1 ELSE 0 END AS b, CASE WHEN '01' = '1' THEN 1 ELSE 0 END AS c;
-- expect row: 1 | 1 | 0

-- case: the_branches_of_case_take_one_type
SELECT CASE WHEN 1 = 1 THEN 'a' ELSE 1 END AS a;
-- expect error 245 16 1 Conversion failed when converting the varchar value 'a' to data type int.

-- case: the_columns_of_a_union_take_one_type
SELECT 1 AS a UNION ALL SELECT 2.5;
-- expect columns: a decimal
-- expect row: 1.0
-- expect row: 2.5

-- case: values_rows_take_one_type
SELECT x FROM (VALUES (1), ('2')) v(x) ORDER BY x;
-- expect columns: x int
-- expect row: 1
-- expect row: 2

-- case: parse_like_text_to_float
SELECT CAST('1e2' AS FLOAT) AS a, CAST('-.5' AS FLOAT) AS b;
-- expect row: 100 | -0.5

-- case: text_that_is_no_float
SELECT CAST('abc' AS FLOAT) AS a;
-- expect error 8114 16 5 Error converting data type varchar to float.

-- case: an_unknown_type
SELECT CAST(1 AS NOSUCHTYPE) AS a;
-- expect error 243 16 1 Type NOSUCHTYPE is not a defined system type.

-- case: result_types_of_literals
SELECT 1 AS a, 1.0 AS b, 1e0 AS c, 'x' AS d, N'x' AS e, 0x01 AS f, NULL AS g;
-- expect columns: a int, b decimal, c float, d varchar, e nvarchar, f varbinary, g int
-- expect row: 1 | 1.0 | 1 | 'x' | 'x' | 0x01 | NULL

-- case: facets_of_expressions
SELECT 'ab' + 'cde' AS a, N'ab' AS b, CAST(12.345 AS DECIMAL(5, 3)) AS c, CAST(1 AS BIGINT) + 1 AS d, CAST('x' AS VARCHAR(MAX)) AS e INTO [$(s)].made;
SELECT c.name, t.name AS type, c.max_length, c.precision, c.scale
FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id
WHERE c.object_id = OBJECT_ID(N'[$(s)].made') ORDER BY c.column_id;
-- expect row: 'a' | 'varchar' | 5 | 0 | 0
-- expect row: 'b' | 'nvarchar' | 4 | 0 | 0
-- expect row: 'c' | 'decimal' | 5 | 5 | 3
-- expect row: 'd' | 'bigint' | 8 | 19 | 0
-- expect row: 'e' | 'varchar' | -1 | 0 | 0

-- case: bytes_and_dates
-- embedded refuses conversion from varbinary to datetime2
CREATE PROCEDURE $(s).p @b VARBINARY(8) AS SELECT CAST(@b AS DATETIME2) AS a;
GO
EXEC $(s).p @b = NULL;
-- expect row: NULL
