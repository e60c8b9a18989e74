-- FOR JSON PATH writes one object per row; NULL members are left out, dots in aliases nest, text is escaped
-- (the slash too) and the result of an inner FOR JSON or JSON_QUERY is embedded as it is.

-- case: rows_become_objects
SELECT (SELECT 1 AS a, N'x' AS b FOR JSON PATH) AS j;
-- expect row: '[{"a":1,"b":"x"}]'

-- case: nulls_are_left_out_unless_asked_for
SELECT (SELECT 1 AS a, CAST(NULL AS INT) AS b FOR JSON PATH) AS j, (SELECT 1 AS a, CAST(NULL AS INT) AS b FOR JSON PATH, INCLUDE_NULL_VALUES) AS k;
-- expect row: '[{"a":1}]' | '[{"a":1,"b":null}]'

-- case: without_array_wrapper
SELECT (SELECT 1 AS a FOR JSON PATH, WITHOUT_ARRAY_WRAPPER) AS j;
-- expect row: '{"a":1}'

-- case: root
SELECT (SELECT 1 AS a FOR JSON PATH, ROOT('r')) AS j;
-- expect row: '{"r":[{"a":1}]}'

-- case: dots_nest
SELECT (SELECT 1 AS [a.b], 2 AS [a.c], 3 AS d FOR JSON PATH) AS j;
-- expect row: '[{"a":{"b":1,"c":2},"d":3}]'

-- case: text_is_escaped
SELECT (SELECT N'a"b\c/d' + NCHAR(10) AS x FOR JSON PATH) AS j;
-- expect row: '[{"x":"a\"b\\c\/d\n"}]'

-- case: scalars_by_type
SELECT (SELECT CAST(1 AS BIT) AS b, CAST(1.50 AS DECIMAL(5, 2)) AS d, CAST('2024-01-02T03:04:05' AS DATETIME2(0)) AS t FOR JSON PATH) AS j;
-- expect row: '[{"b":true,"d":1.50,"t":"2024-01-02T03:04:05"}]'

-- case: several_rows_in_order
SELECT (SELECT x FROM (VALUES (2), (1)) v(x) ORDER BY x FOR JSON PATH) AS j;
-- expect row: '[{"x":1},{"x":2}]'

-- case: an_inner_result_is_embedded
SELECT (SELECT 1 AS a, (SELECT 2 AS b FOR JSON PATH) AS c, JSON_QUERY('{"k":1}') AS d, '{"k":1}' AS e FOR JSON PATH) AS j;
-- expect row: '[{"a":1,"c":[{"b":2}],"d":{"k":1},"e":"{\"k\":1}"}]'

-- case: no_rows_give_null
SELECT (SELECT 1 AS a WHERE 1 = 0 FOR JSON PATH) AS j;
-- expect row: NULL

-- case: the_column_has_a_fixed_name
SELECT 1 AS a FOR JSON PATH;
-- expect columns: JSON_F52E2B61-18A1-11d1-B105-00805F49916B nvarchar
-- expect row: '[{"a":1}]'

-- case: a_column_needs_a_name
SELECT 1 FOR JSON PATH;
-- expect error 13605 16 * Column expressions and data sources without names or aliases cannot be formatted as JSON text using FOR JSON clause.

-- Without its array wrapper a nested result need not be JSON, so it is escaped as any text ("JSON_MODIFY",
-- "Format Nested JSON Output": use JSON_QUERY to avoid it).
-- case: nested_without_array_wrapper_is_text
SELECT (SELECT 1 AS a FOR JSON PATH, WITHOUT_ARRAY_WRAPPER) AS z FOR JSON PATH;
-- expect row: '[{"z":"{\"a\":1}"}]'
GO
SELECT JSON_QUERY((SELECT 1 AS a FOR JSON PATH, WITHOUT_ARRAY_WRAPPER)) AS z FOR JSON PATH;
-- expect row: '[{"z":{"a":1}}]'
GO
SELECT JSON_MODIFY('{}', '$.a', (SELECT 1 AS b FOR JSON PATH, WITHOUT_ARRAY_WRAPPER)) AS x,
    JSON_MODIFY('{}', '$.a', (SELECT 1 AS b FOR JSON PATH)) AS y;
-- expect row: '{"a":"{\"b\":1}"}' | '{"a":[{"b":1}]}'
