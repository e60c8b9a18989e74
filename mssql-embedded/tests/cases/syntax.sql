-- A syntax error names the token it was found at: 156 for a reserved word, 102 for anything else, and at the end
-- of the text the last token. Nothing of a batch with a syntax error runs.

-- case: near_a_token
SELECT 1 1;
-- expect error 102 15 1 Incorrect syntax near '1'.

-- case: near_a_keyword
SELECT * FROM WHERE 1 = 1;
-- expect error 156 15 1 Incorrect syntax near the keyword 'WHERE'.

-- case: a_reserved_word_as_an_alias
SELECT 1 AS key;
-- expect error 156 15 1 Incorrect syntax near the keyword 'key'.

-- case: a_reserved_word_in_brackets
SELECT 1 AS [key], 2 AS "order";
-- expect columns: key int, order int
-- expect row: 1 | 2

-- case: words_that_are_not_reserved
SELECT 1 AS date, 2 AS value, 3 AS type, 4 AS name, 5 AS throw, 6 AS go;
-- expect columns: date int, value int, type int, name int, throw int, go int
-- expect row: 1 | 2 | 3 | 4 | 5 | 6

-- case: an_unfinished_statement
SELECT (1
-- expect error 102 15 1 Incorrect syntax near '1'.

-- case: an_unclosed_string
SELECT 'abc;
-- expect error 105 15 1 Unclosed quotation mark after the character string 'abc;

-- case: an_unclosed_comment
SELECT 1 AS a; /* and so on
-- expect error 113 15 1 Missing end comment mark '*/'.

-- case: comments_nest
SELECT 1 /* one /* two */ still */ AS a -- rest
-- expect row: 1

-- case: a_value_where_a_condition_is_needed
SELECT 1 AS a WHERE 1;
-- expect error 4145 15 1 An expression of non-boolean type specified in a context where a condition is expected, near ';'.

-- case: a_condition_where_a_value_is_needed
SELECT (1 = 1) AS a;
-- expect error 102 15 1 Incorrect syntax near '='.

-- case: nothing_of_the_batch_runs
CREATE TABLE [$(s)].t (a INT);
GO
INSERT [$(s)].t VALUES (1);
SELECT FROM [$(s)].t;
-- expect error 156 15 1 Incorrect syntax near the keyword 'FROM'.
GO
SELECT COUNT(*) AS n FROM [$(s)].t;
-- expect row: 0

-- case: an_empty_block
BEGIN
END;
-- expect error 156 15 1 Incorrect syntax near the keyword 'END'.

-- case: statements_without_semicolons
DECLARE @a INT = 1 SET @a = @a + 1 IF @a = 2 SELECT @a AS a ELSE SELECT 0 AS a SELECT 9 AS b
-- expect row: 2
-- expect set
-- expect row: 9

-- case: an_unknown_hint
CREATE TABLE [$(s)].t (a INT);
GO
SELECT a FROM [$(s)].t WITH (FROBLOCK);
-- expect error 321 15 1 "FROBLOCK" is not a recognized table hints option.

-- case: assignment_mixed_with_data
DECLARE @a INT;
SELECT @a = 1, 2 AS b;
-- expect error 141 15 1 A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations.

-- case: an_unknown_set_option
SET FROBNICATE ON;
-- expect error 195 15 5 'FROBNICATE' is not a recognized SET option.

-- case: an_empty_name
SELECT 1 AS [];
-- expect error 1038 15 4 An object or column name is missing or empty.

-- case: create_schema_must_be_first
SELECT 1 AS a;
CREATE SCHEMA [$(s)_two];
-- expect error 111 15 1 'CREATE SCHEMA' must be the first statement in a query batch.

-- case: a_subquery_in_print
PRINT (SELECT 1);
-- expect error 1046 15 1 Subqueries are not allowed in this context. Only scalar expressions are allowed.

-- case: one_hint_of_the_grain_of_locks
CREATE TABLE [$(s)].t (a INT);
GO
SELECT a FROM [$(s)].t WITH (ROWLOCK, TABLOCK);
-- expect error 1047 15 1 Conflicting locking hints specified.
GO
SELECT a FROM [$(s)].t WITH (NOLOCK, ROWLOCK);
-- expect error 1047 15 1
