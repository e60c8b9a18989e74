-- Shows cases on which the engine and Microsoft's parser disagree.
-- case: right_and_accepted
SELECT 1 AS x FROM $(s).t;
-- expect row: 1
GO
SELECT 1 / 0 AS x;
-- expect error 8134 16 1

-- case: right_and_refused_in_its_second_batch
SELECT 1 AS x;
GO
SELECT (1;
-- expect error 102 15 1

-- case: accepted_here_only
SELECT 1 AS x;
GO
SELECT 1 AS x FORM t y z; -- wrong: engine-case: wrong/accepted_here_only is meant to parse

-- case: refused_here_only
SELECT 1 AS x; -- wrong: engine-case: wrong/refused_here_only expects error 156
-- expect error 156 15 1

-- case: right_because_the_parser_need_not_find_it
SELECT TOP (1) 1 AS x ORDER BY x OFFSET 0 ROWS;
-- expect error 10741 15 2
GO
SET FROBNICATE ON;
-- expect error 195 15 5
GO
SELECT 'open
-- expect error 105 15 1 Unclosed quotation mark after the character string 'open

-- case: explained_difference
SELECT 2 AS x;
-- expect error 102 15 1
