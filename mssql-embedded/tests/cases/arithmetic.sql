-- Integer division truncates, overflow is an error rather than a wider result, and the precision and
-- scale of a decimal result follow fixed rules (for a quotient: at least six decimals). A sign binds
-- more weakly than * and /, so it takes the whole product behind it.

-- case: integer_division_truncates_towards_zero
SELECT 7 / 2 AS a, -7 / 2 AS b, 7 % 3 AS c, -7 % 3 AS d;
-- expect columns: a int, b int, c int, d int
-- expect row: 3 | -3 | 1 | -1

-- case: int_overflow_is_an_error
SELECT 2147483647 + 1 AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type int.

-- case: bigint_overflow_is_an_error
SELECT CAST(9223372036854775807 AS BIGINT) + 1 AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type bigint.

-- case: int_times_bigint_is_bigint
SELECT CAST(3000000000 AS BIGINT) * 2 AS a;
-- expect columns: a bigint
-- expect row: 6000000000

-- case: literal_beyond_int_is_decimal
SELECT 2147483647 AS a, 2147483648 AS b;
-- expect columns: a int, b decimal
-- expect row: 2147483647 | 2147483648

-- case: tinyint_variable_overflows_by_value
DECLARE @t TINYINT = 255;
SET @t = @t + 1;
-- expect error 220 16 * Arithmetic overflow error for data type tinyint, value = 256.

-- case: a_refused_operand_is_called_as_in_all_messages
SELECT ~1.5 AS a;
-- expect error 8117 16 1 Operand data type numeric is invalid for '~' operator.
GO
SELECT -CAST('x' AS VARCHAR(MAX)) AS a;
-- expect error 8117 16 1 Operand data type varchar(max) is invalid for minus operator.

-- case: division_by_zero
SELECT 1 / 0 AS a;
-- expect error 8134 16 1 Divide by zero error encountered.

-- case: modulo_by_zero
SELECT 1 % 0 AS a;
-- expect error 8134 16 1 Divide by zero error encountered.

-- case: quotient_of_literals_has_six_decimals
SELECT 1.0 / 3 AS a, 2 / 3.0 AS b;
-- expect columns: a decimal, b decimal
-- expect row: 0.333333 | 0.666666

-- case: quotient_of_declared_decimals_has_its_scale_by_rule
SELECT CAST(1 AS DECIMAL(10, 2)) / CAST(3 AS DECIMAL(10, 2)) AS a;
-- expect columns: a decimal
-- expect row: 0.3333333333333

-- case: product_adds_scales
SELECT CAST(1.5 AS DECIMAL(5, 2)) * CAST(2.25 AS DECIMAL(5, 2)) AS a;
-- expect row: 3.3750

-- case: sum_takes_the_larger_scale
SELECT 1.1 + 2.25 AS a, 5 - 0.5 AS b;
-- expect row: 3.35 | 4.5

-- case: factor_order_changes_the_intermediate_scale
SELECT 0.15 * 30 / 360 AS a, 0.15 / 360 * 30 AS b;
-- expect row: 0.012500 | 0.012480

-- case: a_sign_takes_the_whole_product
SELECT -100 / -100 * 10 AS a, (-100 / -100) * 10 AS b;
-- expect row: 0 | 10

-- case: bitwise_operators
SELECT 5 & 3 AS a, 5 | 3 AS b, 5 ^ 3 AS c, ~5 AS d;
-- expect columns: a int, b int, c int, d int
-- expect row: 1 | 7 | 6 | -6

-- case: bitwise_and_addition_share_a_level
SELECT 1 | 2 + 4 AS a, 2 + 1 & 1 AS b;
-- expect row: 7 | 1

-- case: compound_assignment
DECLARE @a INT = 10;
SET @a += 5; SET @a -= 3; SET @a *= 2; SET @a /= 5; SET @a %= 3; SET @a |= 4; SET @a &= 6; SET @a ^= 1;
SELECT @a AS a;
-- expect row: 5

-- case: float_arithmetic_is_binary
SELECT 0.1e0 + 0.2e0 AS a, 1e0 / 4 AS b;
-- expect columns: a float, b float
-- expect row: 0.30000000000000004 | 0.25

-- case: decimal_and_float_make_float
SELECT 1.5 + 1e0 AS a;
-- expect columns: a float
-- expect row: 2.5

-- case: rounding_functions
SELECT ROUND(123.456, 1) AS a, ROUND(-2.5, 0) AS b, ROUND(125.315, 2, 1) AS c, CEILING(1.2) AS d, FLOOR(-1.2) AS e;
-- expect row: 123.500 | -3.0 | 125.310 | 2 | -2

-- case: power_keeps_the_type_of_its_base
SELECT POWER(2, 10) AS a, SQRT(16) AS b, ABS(-5) AS c, SIGN(-5) AS d, SQUARE(3) AS e;
-- expect columns: a int, b float, c int, d int, e float
-- expect row: 1024 | 4 | 5 | -1 | 9

-- case: null_makes_null
SELECT 1 + NULL AS a, NULL * 0 AS b, -CAST(NULL AS INT) AS c;
-- expect row: NULL | NULL | NULL

-- case: two_strings_cannot_be_multiplied
SELECT '2' * '3' AS a;
-- expect error 8117 16 1 Operand data type varchar is invalid for multiply operator.

-- case: a_string_next_to_a_number_becomes_a_number
SELECT '2' + 1 AS a, 3 * '4' AS b;
-- expect columns: a int, b int
-- expect row: 3 | 12

-- case: a_word_next_to_a_number_fails
SELECT 'a' + 1 AS a;
-- expect error 245 16 1 Conversion failed when converting the varchar value 'a' to data type int.

-- case: decimal_too_small_for_the_value
SELECT CAST(1000 AS DECIMAL(5, 2)) AS a;
-- expect error 8115 16 8 Arithmetic overflow error converting int to data type numeric.

-- case: cast_to_decimal_rounds_and_to_int_truncates
SELECT CAST(123.456 AS DECIMAL(5, 2)) AS a, CAST(1.9 AS INT) AS b, CAST(-1.9 AS INT) AS c, CAST(2.9e0 AS INT) AS d;
-- expect row: 123.46 | 1 | -1 | 2

-- case: checksum_of_integers
SELECT CHECKSUM(7) AS a, CASE WHEN CHECKSUM(1, 2) = CHECKSUM(1, 2) THEN 1 END AS b, CASE WHEN ABS(CHECKSUM(NEWID()) % 10) BETWEEN 0 AND 9 THEN 1 END AS c;
-- expect columns: a int, b int, c int
-- expect row: 7 | 1 | 1

-- "RAND (Transact-SQL)" shows 0.715436657367485, 0.28463380767982, 0.0131039082850364 for the first three;
-- RAND(1) and RAND(2) are in its discussion of seeds.
-- case: rand_repeats_its_sequence_for_a_seed
SELECT STR(RAND(100), 17, 15) AS a;
SELECT STR(RAND(), 17, 15) AS a;
SELECT STR(RAND(), 17, 15) AS a;
SELECT STR(RAND(1), 17, 15) AS a, STR(RAND(2), 17, 15) AS b;
-- expect row: '0.715436657367485'
-- expect set
-- expect row: '0.284633807679820'
-- expect set
-- expect row: '0.013103908285036'
-- expect set
-- expect row: '0.713591993212924' | '0.713610626184182'

-- What may overflow may be NULL, because it would be with ARITHABORT and ANSI_WARNINGS OFF.
-- case: results_of_arithmetic_are_nullable
CREATE TABLE [$(s)].t (a INT NOT NULL, v VARCHAR(5) NOT NULL, b AS a * 2);
SELECT a + 0 AS a, a AS c INTO [$(s)].u FROM [$(s)].t;
SELECT name, is_nullable FROM sys.columns WHERE object_id IN (OBJECT_ID(N'[$(s)].t'), OBJECT_ID(N'[$(s)].u')) ORDER BY object_id, column_id;
-- expect row: 'a' | 0
-- expect row: 'v' | 0
-- expect row: 'b' | 1
-- expect row: 'a' | 1
-- expect row: 'c' | 0

-- case: numbers_that_do_not_fit_an_integer
DECLARE @x INT;
SET @x = 2147483648;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type int.
GO
DECLARE @r REAL = 12345.5;
SELECT CAST(@r AS TINYINT);
-- expect error 232 16 1 Arithmetic overflow error for type tinyint, value = 12345.500000.
GO
DECLARE @f FLOAT = 70000;
SELECT CAST(@f AS SMALLINT);
-- expect error 232 16 2 Arithmetic overflow error for type smallint, value = 70000.000000.

-- case: functions_that_leave_their_type
SELECT ABS(CAST(-2147483648 AS INT)) AS a;
-- expect error 8115 16 2
GO
SELECT CAST(-9223372036854775808 AS BIGINT) / -1 AS a;
-- expect error 8115 16 2
GO
SELECT POWER(10, 10) AS a;
-- expect error 232 16 3

-- "Returns the data type of expression, except that an unsigned tinyint expression is promoted to a signed smallint result"
-- (- (Negative)). The example of ABS that overflows has the literal -2147483648, which is therefore an INT.
-- case: signs_and_their_types
SELECT -CAST(200 AS TINYINT) AS a, -2147483648 AS b, 2147483648 AS c, -2147483649 AS d;
-- expect columns: a smallint, b int, c decimal(10,0), d decimal(10,0)
-- expect row: -200 | -2147483648 | 2147483648 | -2147483649
GO
SELECT ABS(-2147483648) AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type int.

-- A literal beside a decimal has the digits that are written, an INT ten.
-- case: digits_of_literals_beside_decimals
SELECT 10.0 / 3 AS a, 10.0 / -3 AS b, 10.0 / CAST(3 AS INT) AS c, 10.0 / (3 * 1) AS d;
-- expect columns: a decimal(8,6), b decimal(8,6), c decimal(14,12), d decimal(14,12)
-- expect row: 3.333333 | -3.333333 | 3.333333333333 | 3.333333333333

-- Neither BIT nor bytes have arithmetic, nor numbers of floating point a remainder
-- (github.com/RyanLamansky/sql-server-simulator, docs/claude/arithmetic.md, seen on SQL Server 2025).
-- case: operators_that_types_do_not_have
SELECT CAST(1 AS BIT) + CAST(1 AS BIT) AS a;
-- expect error 402 16 1 The data types bit and bit are incompatible in the add operator.
GO
SELECT CAST(1 AS BIT) * CAST(1 AS BIT) AS a;
-- expect error 8117 16 1 Operand data type bit is invalid for multiply operator.
GO
SELECT CAST(1 AS BIT) / CAST(1 AS BIT) AS a;
-- expect error 8117 16 1 Operand data type bit is invalid for divide operator.
GO
SELECT 0x01 - 0x01 AS a;
-- expect error 402 16 1 The data types varbinary and varbinary are incompatible in the subtract operator.
GO
SELECT 5e0 % 2 AS a;
-- expect error 402 16 1 The data types float and int are incompatible in the modulo operator.
GO
SELECT CAST(5 AS REAL) % 2e0 AS a;
-- expect error 8117 16 1 Operand data type real is invalid for modulo operator.

-- The quotient is formed for % too. What a result has no room for is state 2, what a value becomes is state 8, and text with more
-- digits than any decimal is state 6: github.com/RyanLamansky/sql-server-simulator, ExactNumericConversionErrorTests, seen on SQL Server 2025.
-- case: states_of_overflow
SELECT CAST(-2147483648 AS INT) % -1 AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type int.
GO
SELECT CAST(99999999999999999999999999999999999999 AS DECIMAL(38, 0)) * 10 AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type numeric.
GO
SELECT ROUND(CAST(94.5 AS DECIMAL(3, 1)), -2) AS a;
-- expect error 8115 16 2 Arithmetic overflow error converting expression to data type numeric.
GO
SELECT CAST('1234.5' AS DECIMAL(5, 2)) AS a;
-- expect error 8115 16 8 Arithmetic overflow error converting varchar to data type numeric.
GO
SELECT CAST('123456789012345678901234567890123456789' AS DECIMAL(38, 0)) AS a;
-- expect error 8115 16 6 Arithmetic overflow error converting varchar to data type numeric.
GO
SELECT CAST(1e30 AS INT) AS a;
-- expect error 232 16 3 Arithmetic overflow error for type int, value = 1000000000000000000000000000000.000000.
