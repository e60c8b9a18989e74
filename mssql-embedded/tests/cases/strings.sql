-- Strings are measured in UTF-16 units without their trailing spaces (LEN) or in bytes with them
-- (DATALENGTH). NULL swallows a + but not a CONCAT. Positions count from one, and a start before the
-- string still counts towards the length.

-- case: plus_gives_null_and_concat_skips_it
SELECT 'a' + NULL AS a, CONCAT('a', NULL, 1) AS b, CONCAT_WS(',', 'x', NULL, 'y') AS c;
-- expect row: NULL | 'a1' | 'x,y'

-- case: len_ignores_trailing_spaces
SELECT LEN('ab  ') AS a, DATALENGTH('ab  ') AS b, LEN('  ab') AS c, DATALENGTH(N'ab') AS d, LEN('') AS e;
-- expect columns: a int, b int, c int, d int, e int
-- expect row: 2 | 4 | 4 | 4 | 0

-- case: len_of_a_max_value_is_bigint
SELECT LEN(CAST('abc' AS VARCHAR(MAX))) AS a, DATALENGTH(CAST(N'abc' AS NVARCHAR(MAX))) AS b;
-- expect columns: a bigint, b bigint
-- expect row: 3 | 6

-- case: a_supplementary_character_is_two_units
SELECT LEN(N'😀') AS a, DATALENGTH(N'😀') AS b;
-- expect row: 2 | 4

-- case: substring_counts_from_one
SELECT SUBSTRING('hello', 2, 3) AS a, SUBSTRING('hello', 4, 100) AS b, SUBSTRING('hello', 10, 1) AS c;
-- expect row: 'ell' | 'lo' | ''

-- case: substring_before_the_start_shortens
SELECT SUBSTRING('hello', 0, 3) AS a, SUBSTRING('hello', -1, 4) AS b;
-- expect row: 'he' | 'he'

-- case: substring_with_negative_length_fails
SELECT SUBSTRING('hello', 1, -1) AS a;
-- expect error 537 16 * Invalid length parameter passed to the LEFT or SUBSTRING function.

-- case: left_and_right
SELECT LEFT('hello', 2) AS a, RIGHT('hello', 2) AS b, LEFT('hello', 100) AS c, RIGHT('hello', 0) AS d;
-- expect row: 'he' | 'lo' | 'hello' | ''

-- case: left_with_negative_length_fails
SELECT LEFT('hello', -1) AS a;
-- expect error 537 16 * Invalid length parameter passed to the LEFT or SUBSTRING function.

-- case: charindex_and_patindex
SELECT CHARINDEX('l', 'hello') AS a, CHARINDEX('l', 'hello', 4) AS b, CHARINDEX('z', 'hello') AS c, PATINDEX('%l_o%', 'hello') AS d;
-- expect columns: a int, b int, c int, d int
-- expect row: 3 | 4 | 0 | 3

-- case: replace_follows_the_collation
SELECT REPLACE('aXbx', 'x', '-') AS a, REPLACE('aXbx' COLLATE Latin1_General_BIN2, 'x', '-') AS b;
-- expect row: 'a-b-' | 'aXb-'

-- case: stuff_replaces_a_part
SELECT STUFF('abcdef', 2, 3, 'XY') AS a, STUFF('abc', 2, 0, '-') AS b, STUFF('abc', 5, 1, 'x') AS c;
-- expect row: 'aXYef' | 'a-bc' | NULL

-- case: replicate_and_space
SELECT REPLICATE('ab', 3) AS a, REPLICATE('a', -1) AS b, DATALENGTH(SPACE(3)) AS c;
-- expect row: 'ababab' | NULL | 3

-- case: replicate_stops_at_8000_bytes_unless_max
SELECT LEN(REPLICATE('a', 9000)) AS a, LEN(REPLICATE(CAST('a' AS VARCHAR(MAX)), 9000)) AS b;
-- expect row: 8000 | 9000

-- case: trimming
SELECT LTRIM('  a ') + '|' AS a, RTRIM(' a  ') + '|' AS b, TRIM('  a  ') + '|' AS c, TRIM('x' FROM 'xxaxx') AS d;
-- expect row: 'a |' | ' a|' | 'a|' | 'a'

-- case: case_and_reverse
SELECT UPPER('aé1') AS a, LOWER('AÉ1') AS b, REVERSE('abc') AS c;
-- expect row: 'AÉ1' | 'aé1' | 'cba'

-- case: characters_and_codes
SELECT CHAR(65) AS a, NCHAR(9731) AS b, ASCII('A') AS c, UNICODE(N'☃') AS d;
-- expect columns: a char, b nchar, c int, d int
-- expect row: 'A' | '☃' | 65 | 9731

-- case: translate_maps_characters
SELECT TRANSLATE('2*[3+4]/{7-2}', '[]{}', '()()') AS a;
-- expect row: '2*(3+4)/(7-2)'

-- case: quotename_doubles_the_closing_mark
SELECT QUOTENAME('a]b') AS a, QUOTENAME('it''s', '''') AS b;
-- expect row: '[a]]b]' | '''it''''s'''

-- Half goes away from zero, as with ROUND.
-- case: str_rounds_and_pads
SELECT STR(123.456, 8, 2) AS a, STR(7) AS b;
-- expect row: '  123.46' | '         7'
GO
SELECT STR(2.5) AS a, STR(-2.5) AS b, STR(0.125, 6, 2) AS c, STR(0.5) AS d;
-- expect row: '         3' | '        -3' | '  0.13' | '         1'

-- case: like_wildcards
SELECT CASE WHEN 'abc' LIKE 'a_c' THEN 1 ELSE 0 END AS a,
       CASE WHEN 'abc' LIKE 'a[b-d]c' THEN 1 ELSE 0 END AS b,
       CASE WHEN 'abc' LIKE 'a[^b]c' THEN 1 ELSE 0 END AS c,
       CASE WHEN '50%' LIKE '50!%' ESCAPE '!' THEN 1 ELSE 0 END AS d,
       CASE WHEN '5_' LIKE '5[_]' THEN 1 ELSE 0 END AS e;
-- expect row: 1 | 1 | 0 | 1 | 1

-- case: like_keeps_trailing_spaces_of_the_pattern
SELECT CASE WHEN 'abc' LIKE 'abc ' THEN 1 ELSE 0 END AS a, CASE WHEN 'abc ' LIKE 'abc%' THEN 1 ELSE 0 END AS b;
-- expect row: 0 | 1

-- case: string_split_gives_one_row_per_part
SELECT value FROM STRING_SPLIT('a,b,,c', ',') ORDER BY value;
-- expect columns: value varchar
-- expect row: ''
-- expect row: 'a'
-- expect row: 'b'
-- expect row: 'c'

-- case: cast_shortens_silently
SELECT CAST('abc' AS VARCHAR(2)) AS a, CAST('abc' AS CHAR(5)) + '|' AS b, CONVERT(NVARCHAR(2), N'xyz') AS c;
-- expect columns: a varchar, b varchar, c nvarchar
-- expect row: 'ab' | 'abc  |' | 'xy'

-- case: a_number_too_long_for_its_string_is_a_star
SELECT CAST(12345 AS VARCHAR(3)) AS a;
-- expect row: '*'

-- case: a_number_too_long_for_an_nvarchar_fails
SELECT CAST(12345 AS NVARCHAR(3)) AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type nvarchar.

-- "*" stands for a result that is too short, "E" for an error (CAST and CONVERT, truncating and rounding results). The table
-- does not name BIGINT, which is an error; the message names the type of varying length, and NVARCHAR has one for all:
-- sql-server-helper.com, "Msg 8115", and github.com/mirek/msduck, docs/float-character-reference.md, seen on SQL Server 2025.
-- case: numbers_too_long_for_their_string
SELECT CAST(CAST(12345 AS SMALLINT) AS CHAR(3)) AS a;
-- expect row: '*  '
GO
SELECT CAST(CAST(12345 AS BIGINT) AS VARCHAR(3)) AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type varchar.
GO
SELECT CAST(99.999 AS VARCHAR(5)) AS a;
-- expect error 8115 16 5 Arithmetic overflow error converting numeric to data type varchar.
GO
SELECT CAST(99.999 AS CHAR(5)) AS a;
-- expect error 8115 16 5 Arithmetic overflow error converting numeric to data type varchar.
GO
SELECT CAST(99.999 AS NVARCHAR(5)) AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type nvarchar.
GO
SELECT CAST(1.23456789e0 AS VARCHAR(4)) AS a;
-- expect error 232 16 2 Arithmetic overflow error for type varchar, value = 1.234568.
GO
SELECT CAST(1.23456789e0 AS NCHAR(4)) AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type nvarchar.
GO
SELECT CAST(NEWID() AS VARCHAR(35)) AS a;
-- expect error 8170 16 2 Insufficient result space to convert uniqueidentifier value to char.
GO
SELECT CAST(NEWID() AS NVARCHAR(35)) AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type nvarchar.

-- case: varchar_without_length_is_30_in_cast_and_1_in_declare
DECLARE @v VARCHAR = 'abc';
SELECT LEN(CAST(REPLICATE('a', 50) AS VARCHAR)) AS a, @v AS b;
-- expect row: 30 | 'a'

-- case: a_character_outside_the_code_page_becomes_a_question_mark
SELECT CAST(N'☃x' AS VARCHAR(10)) AS a, CAST(N'é' AS VARCHAR(10)) AS b;
-- expect row: '?x' | 'é'

-- case: quotes_are_doubled
SELECT 'it''s' AS a, N'' AS b, 'a' + '' AS c;
-- expect columns: a varchar, b nvarchar, c varchar
-- expect row: 'it''s' | '' | 'a'

-- case: varchar_and_nvarchar_make_nvarchar
SELECT 'a' + N'b' AS a;
-- expect columns: a nvarchar
-- expect row: 'ab'

-- case: hashbytes
SELECT HASHBYTES('SHA2_256', 'abc') AS a, HASHBYTES('MD5', 'abc') AS b;
-- expect columns: a varbinary, b varbinary
-- expect row: 0xBA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD | 0x900150983CD24FB0D6963F7D28E17F72

-- case: like_ignores_trailing_blanks_of_varchar
SELECT CASE WHEN CAST('King' AS CHAR(10)) LIKE '%ing' THEN 1 ELSE 0 END,
       CASE WHEN CAST(N'King' AS NCHAR(10)) LIKE N'%ing' THEN 1 ELSE 0 END,
       CASE WHEN 'abc  ' LIKE 'abc' THEN 1 ELSE 0 END,
       CASE WHEN 'abc' LIKE 'abc ' THEN 1 ELSE 0 END,
       CASE WHEN N'abc  ' LIKE 'abc' THEN 1 ELSE 0 END,
       CASE WHEN 'abc  ' LIKE N'abc' THEN 1 ELSE 0 END,
       CASE WHEN 'abc ' LIKE 'abc_' THEN 1 ELSE 0 END;
-- expect row: 1 | 0 | 1 | 0 | 0 | 0 | 1
