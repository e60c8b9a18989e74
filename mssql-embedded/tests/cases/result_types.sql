-- Types of results with their lengths, precision and scale, as COLMETADATA tells them. Concatenation adds lengths;
-- CASE, COALESCE and UNION take the longest; ISNULL takes the first one's; CONVERT without a length gives 30;
-- arithmetic of decimals follows the documented formulas, and sums of decimals have precision 38.

-- case: literals
SELECT 'abc' AS a, N'ab' AS b, '' AS c, 0xABCD AS d, 1 AS e, 2147483648 AS f, 1.50 AS g, 1e0 AS h, NULL AS i, 'x ' AS j;
-- expect columns: a varchar(3), b nvarchar(2), c varchar(1), d varbinary(2), e int, f decimal(10,0), g decimal(3,2), h float, i int, j varchar(2)
-- expect row: 'abc' | 'ab' | '' | 0xABCD | 1 | 2147483648 | 1.50 | 1 | NULL | 'x '

-- case: concatenation_adds_lengths
DECLARE @a VARCHAR(10) = 'a', @b NVARCHAR(20) = N'b', @m VARCHAR(MAX) = 'm', @l VARCHAR(8000) = 'l';
SELECT @a + @a AS a, @a + @b AS b, @a + @m AS c, @l + @a AS d, 'ab' + 'cde' AS e, CONCAT('ab', 'cd') AS f;
-- expect columns: a varchar(20), b nvarchar(30), c varchar(max), d varchar(8000), e varchar(5), f varchar(4)
-- expect row: 'aa' | 'ab' | 'am' | 'la' | 'abcde' | 'abcd'

-- case: case_takes_the_longest
DECLARE @a VARCHAR(10) = 'a', @b NVARCHAR(20) = N'b';
SELECT CASE WHEN 1 = 1 THEN @a ELSE @b END AS a, CASE WHEN 1 = 1 THEN 'a' ELSE 'bcd' END AS b, COALESCE(@a, 'a long text of many letters') AS c,
       IIF(1 = 1, @a, N'x') AS d, NULLIF(@a, 'x') AS e, CASE WHEN 1 = 1 THEN 1 ELSE 2.50 END AS f;
-- expect columns: a nvarchar(20), b varchar(3), c varchar(27), d nvarchar(10), e varchar(10), f decimal(12,2)
-- expect row: 'a' | 'a' | 'a' | 'a' | 'a' | 1.00

-- case: isnull_takes_the_first
DECLARE @a VARCHAR(3), @d DECIMAL(5, 2);
SELECT ISNULL(@a, 'abcdef') AS a, ISNULL(NULL, 'ab') AS b, ISNULL(@d, 1.23456) AS c;
-- expect columns: a varchar(3), b varchar(2), c decimal(5,2)
-- expect row: 'abc' | 'ab' | 1.23

-- case: union_takes_the_longest
SELECT CAST('a' AS VARCHAR(2)) AS a, CAST(1.5 AS DECIMAL(4, 1)) AS b, CAST('2024-01-01' AS DATETIME2(3)) AS c
UNION ALL SELECT CAST('b' AS NVARCHAR(5)), CAST(1.25 AS DECIMAL(5, 3)), CAST('2024-01-01' AS DATETIME2(6));
-- expect columns: a nvarchar(5), b decimal(6,3), c datetime2(6)
-- expect row: 'a' | 1.500 | 2024-01-01 00:00:00.000000
-- expect row: 'b' | 1.250 | 2024-01-01 00:00:00.000000

-- case: convert_without_a_length
SELECT CAST(1 AS VARCHAR) AS a, CONVERT(NVARCHAR, 1) AS b, CAST('a' AS CHAR) AS c, CAST(1 AS DECIMAL) AS d, CAST(0x01 AS VARBINARY) AS e,
       CAST('2024-01-01' AS DATETIME2) AS f, CAST('12:00' AS TIME) AS g, CAST(1 AS NUMERIC(7)) AS h, CAST(1 AS FLOAT(24)) AS i;
-- expect columns: a varchar(30), b nvarchar(30), c char(30), d decimal(18,0), e varbinary(30), f datetime2(7), g time(7), h decimal(7,0), i real
-- expect row: '1' | '1' | 'a                             ' | 1 | 0x01 | 2024-01-01 00:00:00.0000000 | 12:00:00.0000000 | 1 | 1

-- case: declare_without_a_length
DECLARE @a VARCHAR = 'abc', @b NVARCHAR = N'abc', @c VARBINARY = 0x0102;
SELECT @a AS a, @b AS b, @c AS c;
-- expect columns: a varchar(1), b nvarchar(1), c varbinary(1)
-- expect row: 'a' | 'a' | 0x01

-- case: string_functions
DECLARE @a VARCHAR(10) = 'abc', @n NVARCHAR(7) = N'abc', @m VARCHAR(MAX) = 'abc';
SELECT UPPER(@a) AS a, LTRIM(@n) AS b, REPLACE(@a, 'b', 'xx') AS c, REPLACE(@n, 'b', 'xx') AS d, SUBSTRING(@a, 1, LEN(@n)) AS e, REVERSE(@n) AS f,
       REPLACE(@m, 'b', 'c') AS g, QUOTENAME(@a) AS i, CHAR(65) AS j, NCHAR(65) AS k;
-- expect columns: a varchar(10), b nvarchar(7), c varchar(8000), d nvarchar(4000), e varchar(10), f nvarchar(7), g varchar(max), i nvarchar(258), j char(1), k nchar(1)
-- expect row: 'ABC' | 'abc' | 'axxc' | 'axxc' | 'abc' | 'cba' | 'acc' | '[abc]' | 'A' | 'A'

-- case: constant_lengths_shorten
DECLARE @a VARCHAR(10) = 'abcdef', @n NVARCHAR(7) = N'abc';
SELECT LEFT(@a, 3) AS a, RIGHT(@a, 3) AS b, SUBSTRING(@a, 1, 2) AS c, LEFT(@n, 100) AS d;
-- expect columns: a varchar(3), b varchar(3), c varchar(2), d nvarchar(7)
-- expect row: 'abc' | 'def' | 'ab' | 'abc'

-- case: lengths_of_max_values_are_bigint
DECLARE @a VARCHAR(10) = 'abc', @m NVARCHAR(MAX) = N'abc';
SELECT LEN(@a) AS a, LEN(@m) AS b, DATALENGTH(@a) AS c, DATALENGTH(@m) AS d, CHARINDEX('c', @a) AS e, CHARINDEX('c', @m) AS f;
-- expect columns: a int, b bigint, c int, d bigint, e int, f bigint
-- expect row: 3 | 3 | 3 | 6 | 3 | 3

-- case: system_functions
SELECT TOP (0) DB_NAME() AS a, SUSER_SNAME() AS b, OBJECT_NAME(1) AS c, NEWID() AS d, HASHBYTES('SHA2_256', 'a') AS e, GETDATE() AS f, SYSUTCDATETIME() AS g,
       SYSDATETIMEOFFSET() AS h, JSON_VALUE('{}', '$.a') AS i, JSON_QUERY('{}', '$.a') AS j, DATENAME(DAY, GETDATE()) AS k, EOMONTH(GETDATE()) AS l, ERROR_MESSAGE() AS m;
-- expect columns: a nvarchar(128), b nvarchar(128), c nvarchar(128), d uniqueidentifier, e varbinary(8000), f datetime, g datetime2(7), h datetimeoffset(7), i nvarchar(4000), j nvarchar(max), k nvarchar(30), l date, m nvarchar(4000)
-- expect rows: none

-- case: dateadd_keeps_its_type
DECLARE @d DATE = '2024-01-31', @t DATETIME2(3) = '2024-01-31', @o TIME(0) = '12:00';
SELECT DATEADD(DAY, 1, @d) AS a, DATEADD(DAY, 1, @t) AS b, DATEADD(MINUTE, 1, @o) AS c, DATEADD(DAY, 1, '2024-01-31') AS d, DATEDIFF(DAY, @d, @t) AS e, DATEDIFF_BIG(DAY, @d, @t) AS f;
-- expect columns: a date, b datetime2(3), c time(0), d datetime, e int, f bigint
-- expect row: 2024-02-01 | 2024-02-01 00:00:00.000 | 12:01:00 | 2024-02-01 00:00:00.000 | 0 | 0

-- case: decimal_arithmetic
DECLARE @a DECIMAL(9, 2) = 10.00, @b DECIMAL(5, 3) = 2.500;
SELECT @a + @b AS a, @a - @b AS b, @a * @b AS c, @a / @b AS d, @a % @b AS e, -@a AS f;
-- expect columns: a decimal(11,3), b decimal(11,3), c decimal(15,5), d decimal(18,8), e decimal(5,3), f decimal(9,2)
-- expect row: 12.500 | 7.500 | 25.00000 | 4.00000000 | 0.000 | -10.00

-- case: decimal_arithmetic_with_integers
DECLARE @a DECIMAL(9, 2) = 10.00, @i INT = 3, @b BIGINT = 3, @t TINYINT = 3;
SELECT @a + @i AS a, @a * @b AS b, @a / @t AS c, 1.0 / 3 AS d, 1 / 2.0 AS e, @a * 2 AS f;
-- expect columns: a decimal(13,2), b decimal(29,2), c decimal(13,6), d decimal(7,6), e decimal(8,6), f decimal(11,2)
-- expect row: 13.00 | 30.00 | 3.333333 | 0.333333 | 0.500000 | 20.00

-- case: decimal_precision_is_cut_at_38
DECLARE @a DECIMAL(38, 10) = 1, @b DECIMAL(38, 10) = 3, @c DECIMAL(30, 15) = 1;
SELECT @a + @b AS a, @a * @b AS b, @a / @b AS c, @c * @c AS d;
-- expect columns: a decimal(38,10), b decimal(38,6), c decimal(38,6), d decimal(38,7)
-- expect row: 4.0000000000 | 3.000000 | 0.333333 | 1.0000000

-- case: aggregates
CREATE TABLE [$(s)].t (i INT, t TINYINT, b BIGINT, d DECIMAL(9, 2), r REAL, f FLOAT, v VARCHAR(12), n NVARCHAR(9), w DATETIME2(2));
SELECT SUM(i) AS a, SUM(t) AS b, SUM(b) AS c, SUM(d) AS d, SUM(r) AS e, AVG(d) AS f, AVG(i) AS g, COUNT(*) AS h, COUNT_BIG(*) AS i, MIN(v) AS j, MAX(n) AS k, MAX(w) AS l, AVG(t) AS m
FROM [$(s)].t;
-- expect columns: a int, b int, c bigint, d decimal(38,2), e float, f decimal(38,6), g int, h int, i bigint, j varchar(12), k nvarchar(9), l datetime2(2), m int
-- expect row: NULL | NULL | NULL | NULL | NULL | NULL | NULL | 0 | 0 | NULL | NULL | NULL | NULL

-- case: string_agg_types
SELECT STRING_AGG(CAST('a' AS VARCHAR(10)), ',') AS a, STRING_AGG(CAST(N'a' AS NVARCHAR(10)), ',') AS b, STRING_AGG(CAST(N'a' AS NVARCHAR(MAX)), ',') AS c, STRING_AGG(1, ',') AS d;
-- expect columns: a varchar(8000), b nvarchar(4000), c nvarchar(max), d nvarchar(4000)
-- expect row: 'a' | 'a' | 'a' | '1'

-- case: columns_keep_their_types
CREATE TABLE [$(s)].t (a CHAR(5), b NCHAR(4), c VARCHAR(MAX), d VARBINARY(16), e BINARY(4), f DECIMAL(12, 4), g DATETIME2(0), h TIME(3), i DATETIMEOFFSET(5), j SMALLDATETIME, k BIT, l SYSNAME);
SELECT * FROM [$(s)].t;
-- expect columns: a char(5), b nchar(4), c varchar(max), d varbinary(16), e binary(4), f decimal(12,4), g datetime2(0), h time(3), i datetimeoffset(5), j smalldatetime, k bit, l nvarchar(128)
-- expect rows: none

-- case: ranking_and_windows
SELECT ROW_NUMBER() OVER (ORDER BY v) AS a, RANK() OVER (ORDER BY v) AS b, NTILE(2) OVER (ORDER BY v) AS c, SUM(v) OVER () AS d, LAG(v) OVER (ORDER BY v) AS e
FROM (VALUES (CAST(1.5 AS DECIMAL(5, 2)))) AS x (v);
-- expect columns: a bigint, b bigint, c bigint, d decimal(38,2), e decimal(5,2)
-- expect row: 1 | 1 | 1 | 1.50 | NULL

-- case: rounding
DECLARE @d DECIMAL(7, 3) = 12.345;
SELECT ROUND(@d, 1) AS a, CEILING(@d) AS b, FLOOR(@d) AS c, ROUND(CAST(1.5 AS FLOAT), 0) AS d, SQRT(4) AS e, SIGN(-3) AS f, ABS(-3) AS g;
-- expect columns: a decimal(7,3), b decimal(7,0), c decimal(7,0), d float, e float, f int, g int
-- expect row: 12.300 | 13 | 12 | 2 | 2 | -1 | 3
