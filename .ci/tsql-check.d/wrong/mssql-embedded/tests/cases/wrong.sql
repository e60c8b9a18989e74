-- case: right and accepted
SELECT 1 AS x;

-- case: right and refused
-- expect error 102
SELECT (1;

-- case: accepted here only
SELECT 1 AS x FORM t y z; -- wrong: engine-case: accepted here only is meant to parse

-- case: refused here only -- wrong: engine-case: refused here only expects a syntax error
-- expect error 156
SELECT 1 AS x;

-- case: explained difference
-- expect error 102
SELECT 2 AS x;
