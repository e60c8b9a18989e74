-- A value too long for a column is an error (2628), but a variable, a parameter or a CAST cuts it silently. What
-- is cut are the last characters, never trailing spaces only.

-- case: a_column_refuses
CREATE TABLE [$(s)].t (a VARCHAR(3));
GO
INSERT [$(s)].t VALUES ('abcd');
-- expect error 2628 16 1 String or binary data would be truncated in table
GO
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 0

-- case: an_update_refuses
CREATE TABLE [$(s)].t (a NVARCHAR(3));
INSERT [$(s)].t VALUES (N'abc');
GO
UPDATE [$(s)].t SET a = a + N'd';
-- expect error 2628 16 1 column 'a'. Truncated value: 'abc'.

-- case: trailing_spaces_may_be_cut
CREATE TABLE [$(s)].t (a VARCHAR(3));
INSERT [$(s)].t VALUES ('abc     ');
SELECT a, DATALENGTH(a) AS n FROM [$(s)].t;
-- expect row: 'abc' | 3

-- case: a_variable_cuts
DECLARE @a VARCHAR(3) = 'abcdef', @b NVARCHAR(2);
SET @b = N'xyz';
SELECT @a AS a, @b AS b;
-- expect row: 'abc' | 'xy'

-- case: select_into_a_variable_cuts
DECLARE @a VARCHAR(3);
SELECT @a = 'abcdef';
SELECT @a AS a;
-- expect row: 'abc'

-- case: a_table_variable_refuses
DECLARE @t TABLE (a VARCHAR(3));
INSERT @t VALUES ('abcd');
-- expect error 2628 16 1 String or binary data would be truncated

-- case: a_binary_column_refuses
CREATE TABLE [$(s)].t (a VARBINARY(2));
GO
INSERT [$(s)].t VALUES (0x010203);
-- expect error 2628 16 1

-- case: varchar_counts_bytes_and_nvarchar_units
CREATE TABLE [$(s)].t (a NVARCHAR(2));
INSERT [$(s)].t VALUES (N'😀');
SELECT LEN(a) AS n FROM [$(s)].t;
-- expect row: 2
GO
INSERT [$(s)].t VALUES (N'😀x');
-- expect error 2628 16 1

-- case: concatenation_of_short_strings_stops_at_8000
DECLARE @a VARCHAR(8000) = REPLICATE('a', 8000);
SELECT LEN(@a + @a) AS a, LEN(CAST(@a AS VARCHAR(MAX)) + @a) AS b;
-- expect row: 8000 | 16000

-- case: char_pads
CREATE TABLE [$(s)].t (a CHAR(5), b NCHAR(3));
INSERT [$(s)].t VALUES ('ab', N'x');
SELECT a + '|' AS a, DATALENGTH(a) AS n, DATALENGTH(b) AS m FROM [$(s)].t;
-- expect row: 'ab   |' | 5 | 6
