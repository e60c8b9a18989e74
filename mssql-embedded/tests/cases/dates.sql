-- DATETIME ticks in 1/300 of a second and rounds to .000, .003 or .007; DATETIME2(n) rounds to n digits.
-- DATEDIFF counts the boundaries crossed, not the time elapsed. Month arithmetic stops at the month's end.

-- case: dateadd_stops_at_the_end_of_the_month
SELECT DATEADD(MONTH, 1, CAST('2024-01-31' AS DATE)) AS a, DATEADD(YEAR, 1, CAST('2024-02-29' AS DATE)) AS b, DATEADD(DAY, -1, CAST('2024-03-01' AS DATE)) AS c;
-- expect columns: a date, b date, c date
-- expect row: 2024-02-29 | 2025-02-28 | 2024-02-29

-- case: dateadd_of_a_string_is_datetime
SELECT DATEADD(HOUR, 25, '2024-01-01') AS a;
-- expect columns: a datetime
-- expect row: 2024-01-02 01:00:00.000

-- case: datediff_counts_boundaries
SELECT DATEDIFF(YEAR, '2023-12-31', '2024-01-01') AS a, DATEDIFF(DAY, '2024-01-01 23:59', '2024-01-02 00:01') AS b, DATEDIFF(HOUR, '2024-01-01 10:59', '2024-01-01 11:00') AS c, DATEDIFF(MONTH, '2024-03-31', '2024-02-01') AS d;
-- expect columns: a int, b int, c int, d int
-- expect row: 1 | 1 | 1 | -1

-- case: datediff_overflows
SELECT DATEDIFF(MILLISECOND, '1900-01-01', '2024-01-01') AS a;
-- expect error 535 16 0 The datediff function resulted in an overflow.

-- case: datediff_big_does_not
SELECT DATEDIFF_BIG(MILLISECOND, '19700101', CAST('2024-01-01' AS DATETIME2)) AS a;
-- expect columns: a bigint
-- expect row: 1704067200000

-- case: a_part_that_a_type_has_not
SELECT DATENAME(tzoffset, CAST('2024-01-31' AS DATETIME)) AS a;
-- expect error 9810 16 1 The datepart tzoffset is not supported by date function datename for data type datetime.
GO
SELECT DATEPART(hour, CAST('2024-01-31' AS DATE)) AS a;
-- expect error 9810 16 1 The datepart hour is not supported by date function datepart for data type date.
GO
SELECT DATEADD(microsecond, 1, CAST('2024-01-31' AS DATETIME)) AS a;
-- expect error 9810 16 1 The datepart microsecond is not supported by date function dateadd for data type datetime.

-- case: datetime_rounds_to_a_300th
SELECT CAST('2024-01-01 12:00:00.999' AS DATETIME) AS a, CAST('2024-01-01 12:00:00.998' AS DATETIME) AS b, CAST('2024-01-01 12:00:00.002' AS DATETIME) AS c, CAST('2024-01-01 12:00:00.001' AS DATETIME) AS d;
-- expect row: 2024-01-01 12:00:01.000 | 2024-01-01 12:00:00.997 | 2024-01-01 12:00:00.003 | 2024-01-01 12:00:00.000

-- case: datetime2_rounds_to_its_scale
SELECT CAST('2024-01-01 00:00:00.1235' AS DATETIME2(3)) AS a, CAST('2024-12-31 23:59:59.9999' AS DATETIME2(0)) AS b, CAST('2024-01-01' AS DATETIME2) AS c;
-- expect columns: a datetime2, b datetime2, c datetime2
-- expect row: 2024-01-01 00:00:00.124 | 2025-01-01 00:00:00 | 2024-01-01 00:00:00.0000000

-- case: parts_of_a_date
SELECT DATEPART(YEAR, '2024-12-31') AS a, DATEPART(QUARTER, '2024-12-31') AS b, DATEPART(DAYOFYEAR, '2024-12-31') AS c, DATEPART(WEEKDAY, '2024-01-01') AS d, DATEPART(ISO_WEEK, '2024-12-30') AS e, DATENAME(MONTH, '2024-01-01') AS f, DATENAME(WEEKDAY, '2024-01-01') AS g;
-- expect row: 2024 | 4 | 366 | 2 | 1 | 'January' | 'Monday'

-- case: year_month_day
SELECT YEAR('2024-02-03') AS a, MONTH('2024-02-03') AS b, DAY('2024-02-03') AS c, EOMONTH('2024-02-03') AS d, EOMONTH('2024-02-03', 1) AS e;
-- expect columns: a int, b int, c int, d date, e date
-- expect row: 2024 | 2 | 3 | 2024-02-29 | 2024-03-31

-- case: datefromparts
SELECT DATEFROMPARTS(2024, 2, 29) AS a, DATETIME2FROMPARTS(2024, 1, 2, 3, 4, 5, 67, 3) AS b;
-- expect columns: a date, b datetime2
-- expect row: 2024-02-29 | 2024-01-02 03:04:05.067

-- case: datefromparts_refuses_what_does_not_exist
SELECT DATEFROMPARTS(2024, 2, 30) AS a;
-- expect error 289 16 * Cannot construct data type date, some of the arguments have values which are not valid.

-- case: a_string_that_is_no_date
SELECT CAST('tomorrow' AS DATE) AS a;
-- expect error 241 16 1 Conversion failed when converting date and/or time from character string.

-- case: a_date_that_does_not_exist
SELECT CAST('2024-02-30' AS DATETIME2) AS a;
-- expect error 241 16 1 Conversion failed when converting date and/or time from character string.

-- case: datetime_begins_in_1753
SELECT CAST('17521231' AS DATETIME) AS a;
-- expect error 242 16 3 The conversion of a varchar data type to a datetime data type resulted in an out-of-range value.

-- case: styles
DECLARE @d DATETIME = '2024-03-05T06:07:08.123';
SELECT CONVERT(VARCHAR(30), @d, 126) AS a, CONVERT(VARCHAR(30), @d, 120) AS b, CONVERT(VARCHAR(30), @d, 121) AS c, CONVERT(VARCHAR(30), @d, 112) AS d, CONVERT(VARCHAR(30), @d, 101) AS e, CONVERT(VARCHAR(30), @d, 103) AS f, CONVERT(VARCHAR(30), @d, 108) AS g;
-- expect row: '2024-03-05T06:07:08.123' | '2024-03-05 06:07:08' | '2024-03-05 06:07:08.123' | '20240305' | '03/05/2024' | '05/03/2024' | '06:07:08'

-- case: default_text_of_dates
SELECT CAST(CAST('2024-03-05T06:07:08' AS DATETIME) AS VARCHAR(30)) AS a, CAST(CAST('2024-03-05T06:07:08.123' AS DATETIME2(3)) AS VARCHAR(30)) AS b, CAST(CAST('2024-03-05' AS DATE) AS VARCHAR(30)) AS c;
-- expect row: 'Mar  5 2024  6:07AM' | '2024-03-05 06:07:08.123' | '2024-03-05'

-- case: datetime_plus_a_number_adds_days
SELECT CAST('2024-01-31' AS DATETIME) + 1 AS a, CAST('2024-01-31' AS DATETIME) - 0.5 AS b;
-- expect columns: a datetime, b datetime
-- expect row: 2024-02-01 00:00:00.000 | 2024-01-30 12:00:00.000

-- case: date_plus_a_number_is_refused
SELECT CAST('2024-01-31' AS DATE) + 1 AS a;
-- expect error 206 16 2 Operand type clash: date is incompatible with int

-- case: datetimeoffset_keeps_its_offset_and_compares_in_utc
SELECT CAST('2024-01-01 12:00:00 +02:00' AS DATETIMEOFFSET(0)) AS a, SWITCHOFFSET(CAST('2024-01-01 12:00:00 +02:00' AS DATETIMEOFFSET(0)), '-05:00') AS b,
       CASE WHEN CAST('2024-01-01 12:00:00 +02:00' AS DATETIMEOFFSET) = CAST('2024-01-01 10:00:00 +00:00' AS DATETIMEOFFSET) THEN 1 ELSE 0 END AS c;
-- expect columns: a datetimeoffset, b datetimeoffset, c int
-- expect row: 2024-01-01 12:00:00 +02:00 | 2024-01-01 05:00:00 -05:00 | 1

-- case: types_of_the_clock_functions
SELECT CASE WHEN ABS(DATEDIFF(SECOND, SYSUTCDATETIME(), GETUTCDATE())) <= 1 THEN 1 ELSE 0 END AS a;
SELECT TOP (0) SYSUTCDATETIME() AS a, GETDATE() AS b, SYSDATETIMEOFFSET() AS c, CURRENT_TIMESTAMP AS d;
-- expect set
-- expect row: 1
-- expect columns: a datetime2, b datetime, c datetimeoffset, d datetime
-- expect rows: none

-- case: isdate_asks_for_datetime
SELECT ISDATE('2024-02-29') AS a, ISDATE('2023-02-29') AS b, ISDATE('x') AS c;
-- expect row: 1 | 0 | 0

-- case: time_of_day
SELECT CAST('23:59:59.1234567' AS TIME) AS a, CAST('2024-01-01 10:20:30' AS TIME(0)) AS b;
-- expect columns: a time, b time
-- expect row: 23:59:59.1234567 | 10:20:30

-- case: an_unknown_date_part
SELECT DATEADD(fortnight, 1, '2024-01-01') AS a;
-- expect error 155 15 * 'fortnight' is not a recognized dateadd option.

-- case: unseparated_dates_are_always_year_month_day
SELECT CAST('20240203' AS DATE) AS a, CAST('20240203 04:05:06' AS DATETIME2(0)) AS b;
-- expect row: 2024-02-03 | 2024-02-03 04:05:06

-- case: at_time_zone_utc
SELECT CONVERT(VARCHAR(40), CAST('2024-01-31 10:00:00' AS DATETIME2(0)) AT TIME ZONE 'UTC') AS a,
       CONVERT(VARCHAR(40), CAST('2024-01-31 10:00:00 +02:00' AS DATETIMEOFFSET(0)) AT TIME ZONE 'UTC') AS b;
-- expect row: '2024-01-31 10:00:00 +00:00' | '2024-01-31 08:00:00 +00:00'

-- case: at_time_zone_types
SELECT CAST('2024-01-31' AS DATETIME) AT TIME ZONE 'UTC' AS a;
-- expect columns: a datetimeoffset
-- expect row: *

-- case: an_unknown_time_zone
SELECT SYSUTCDATETIME() AT TIME ZONE 'Nowhere' AS a;
-- expect error 9820 16 1 The time zone parameter 'Nowhere' provided to AT TIME ZONE clause is invalid.

-- case: convert_style_22
SELECT CONVERT(VARCHAR(30), CAST('2024-01-31 13:14:15' AS DATETIME), 22) AS a;
-- expect row: '01/31/24  1:14:15 PM'

-- case: types_of_dates_that_do_not_add
SELECT GETDATE() + CAST('10:00' AS TIME);
-- expect error 402 16 1 The data types datetime and time are incompatible in the add operator.
GO
SELECT GETDATE() - CAST('2020-01-01' AS DATE);
-- expect error 402 16 1 The data types datetime and date are incompatible in the subtract operator.
GO
SELECT CAST('2020-01-01' AS DATE) + CAST('10:00' AS TIME);
-- expect error 402 16 1 The data types date and time are incompatible in the add operator.
GO
SELECT CAST('2020-01-01' AS DATE) + CAST('2020-01-01' AS DATE);
-- expect error 8117 16 1 Operand data type date is invalid for add operator.
GO
SELECT CAST('2020-01-01' AS DATE) + 1;
-- expect error 206 16 2 Operand type clash: date is incompatible with int
GO
SELECT 'x' + CAST('2020-01-01' AS DATE);
-- expect error 402 16 1 The data types varchar and date are incompatible in the add operator.

-- case: bytes_beyond_datetime
SELECT CAST(0x7FFFFFFF00000000 AS DATETIME) AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type datetime.
GO
SELECT CAST(0x8000000000000000 AS DATETIME) AS a;
-- expect error 8115 16 2
GO
SELECT CAST(0xFFFF2E46018B81FF AS DATETIME) AS a;
-- expect row: 1753-01-01 23:59:59.997

-- case: an_offset_that_leaves_the_calendar
SELECT CAST(SWITCHOFFSET(CAST('0001-01-01 00:00 +00:00' AS DATETIMEOFFSET), '-14:00') AS DATE) AS a;
-- expect error 9813 16 0 The timezone provided to builtin function switchoffset would cause the datetimeoffset to overflow
GO
SELECT SWITCHOFFSET(CAST('9999-12-31 23:00 +00:00' AS DATETIMEOFFSET), '+05:00') AS a;
-- expect error 9813 16 0
GO
SELECT TODATETIMEOFFSET(CAST('0001-01-01 00:30' AS DATETIME2), '+05:00') AS a;
-- expect error 9813 16 2 The timezone provided to builtin function todatetimeoffset would cause the datetimeoffset to overflow
GO
SELECT TODATETIMEOFFSET(CAST('9999-12-31 23:30' AS DATETIME2), '-05:00') AS a;
-- expect error 9813 16 2
GO
SELECT TODATETIMEOFFSET(CAST('2024-01-01' AS DATETIME2), '+15:00') AS a;
-- expect error 9812 16 1 The timezone provided to builtin function todatetimeoffset is invalid.

-- case: dates_that_leave_the_calendar
SELECT DATEADD(YEAR, 2147483647, CAST('2024-01-01' AS DATE)) AS a;
-- expect error 517 16 1 Adding a value to a 'date' column caused an overflow.
GO
SELECT DATEADD(HOUR, -2147483648, CAST('2024-01-01' AS DATETIME2)) AS a;
-- expect error 517 16 1 Adding a value to a 'datetime2' column caused an overflow.
GO
SELECT DATEDIFF(SECOND, '0001-01-01', '9999-12-31') AS a;
-- expect error 535 16 0 The datediff function resulted in an overflow.
GO
SELECT DATEDIFF_BIG(NANOSECOND, '0001-01-01', '9999-12-31') AS a;
-- expect error 535 16 0 The datediff_big function resulted in an overflow.
GO
SELECT DATEFROMPARTS(2147483647, 1, 1) AS a;
-- expect error 289 16 1 Cannot construct data type date, some of the arguments have values which are not valid.
GO
SELECT DATEDIFF_BIG(MICROSECOND, '0001-01-01', '9999-12-31') AS a, EOMONTH(CAST('9999-12-01' AS DATE)) AS b;
-- expect row: 315537811200000000 | 9999-12-31

-- TIME becomes a DATETIME where the two share a type, but no operator compares them.
-- case: a_time_is_not_compared_with_a_date
SELECT COALESCE(CAST('10:00' AS TIME), CAST('2024-01-01' AS DATETIME)) AS a;
-- expect columns: a datetime
-- expect row: 1900-01-01 10:00:00.000
GO
SELECT 1 AS a WHERE CAST('10:00' AS TIME) = CAST('2024-01-01' AS DATETIME);
-- expect error 402 16 1 The data types time and datetime are incompatible in the equal to operator.
GO
SELECT 1 AS a WHERE CAST('10:00' AS TIME) BETWEEN CAST('2024-01-01' AS DATETIME) AND CAST('2024-01-02' AS DATETIME);
-- expect error 402 16 1 The data types time and datetime are incompatible in the greater than or equal to operator.
GO
SELECT 1 AS a WHERE CAST('2024-01-01' AS DATETIME2) > CAST('10:00' AS TIME);
-- expect error 402 16 1 The data types datetime2 and time are incompatible in the greater than operator.

-- A style of times shows nothing of a date, nor one of dates a time: 8114. Styles that a date has not at all are 281
-- (github.com/RyanLamansky/sql-server-simulator, docs/claude/casting.md, seen on SQL Server 2025).
-- case: styles_that_show_nothing
SELECT CONVERT(VARCHAR(20), CAST('2024-01-01' AS DATE), 108) AS a;
-- expect error 8114 16 5 Error converting data type date to varchar.
GO
SELECT CONVERT(VARCHAR(20), CAST('10:00' AS TIME), 112) AS a;
-- expect error 8114 16 5 Error converting data type time to varchar.
GO
SELECT CONVERT(VARCHAR(20), CAST('2024-01-01' AS DATE), 114) AS a;
-- expect error 281 16 1 114 is not a valid style number when converting from date to a character string.
GO
SELECT TRY_CONVERT(VARCHAR(20), CAST('10:00' AS TIME), 112) AS a;
-- expect row: NULL

-- The part is a word, neither a text nor a variable; the number of DATEADD is none as a text, and DATEDIFF counts no offsets and no weeks
-- of ISO 8601 (github.com/RyanLamansky/sql-server-simulator, seen on SQL Server 2025).
-- case: arguments_that_date_functions_do_not_take
SELECT DATEADD('day', 1, GETDATE()) AS a;
-- expect error 1023 15 * Invalid parameter 1 specified for dateadd.
GO
DECLARE @p VARCHAR(5) = 'day';
SELECT DATEDIFF(@p, 0, 1) AS a;
-- expect error 1023 15 * Invalid parameter 1 specified for datediff.
GO
SELECT DATEADD(DAY, '1', GETDATE()) AS a;
-- expect error 8116 16 1 Argument data type varchar is invalid for argument 2 of dateadd function.
GO
SELECT DATEDIFF(ISO_WEEK, '20240101', '20240201') AS a;
-- expect error 9806 16 1 The datepart iso_week is not supported by date function datediff.
