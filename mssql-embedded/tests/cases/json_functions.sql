-- Paths are lax by default: what is not there, or is of the wrong kind, gives NULL; strict paths raise
-- an error instead. JSON_VALUE returns NVARCHAR(4000), so a longer text is NULL in lax mode.

-- case: isjson
SELECT ISJSON('{"a":1}') AS a, ISJSON('[1,2]') AS b, ISJSON('x') AS c, ISJSON('') AS d, ISJSON(CAST(NULL AS NVARCHAR(10))) AS e, ISJSON('{"a":1') AS f;
-- expect columns: a int, b int, c int, d int, e int, f int
-- expect row: 1 | 1 | 0 | 0 | NULL | 0

-- case: json_value_of_scalars
DECLARE @j NVARCHAR(MAX) = N'{"s":"x","n":1.50,"t":true,"z":null,"o":{"p":"q"},"l":[10,20]}';
SELECT JSON_VALUE(@j, '$.s') AS s, JSON_VALUE(@j, '$.n') AS n, JSON_VALUE(@j, '$.t') AS t, JSON_VALUE(@j, '$.z') AS z, JSON_VALUE(@j, '$.o.p') AS p, JSON_VALUE(@j, '$.l[1]') AS l;
-- expect columns: s nvarchar, n nvarchar, t nvarchar, z nvarchar, p nvarchar, l nvarchar
-- expect row: 'x' | '1.50' | 'true' | NULL | 'q' | '20'

-- case: json_value_lax_path_gives_null
SELECT JSON_VALUE('{"a":{"b":1}}', '$.x') AS a, JSON_VALUE('{"a":{"b":1}}', '$.a') AS b, JSON_VALUE('[1]', '$[5]') AS c;
-- expect row: NULL | NULL | NULL

-- case: json_value_strict_path_missing
SELECT JSON_VALUE('{"a":1}', 'strict $.x') AS a;
-- expect error 13608 16 * Property cannot be found on the specified JSON path.

-- case: json_value_strict_path_of_an_object
SELECT JSON_VALUE('{"a":{}}', 'strict $.a') AS a;
-- expect error 13623 16 * Scalar value cannot be found in the specified JSON path.

-- case: json_query_of_objects_and_arrays
SELECT JSON_QUERY('{"a":{"b": 1}}', '$.a') AS a, JSON_QUERY('{"a":[1, 2]}', '$.a') AS b, JSON_QUERY('{"a":1}', '$.a') AS c, JSON_QUERY('[1]') AS d;
-- expect row: '{"b": 1}' | '[1, 2]' | NULL | '[1]'

-- case: json_query_strict_of_a_scalar
SELECT JSON_QUERY('{"a":1}', 'strict $.a') AS a;
-- expect error 13624 16 * Object or array cannot be found in the specified JSON path.

-- case: malformed_json
SELECT JSON_VALUE('x', '$.a') AS a;
-- expect error 13609 16 * JSON text is not properly formatted. Unexpected character 'x' is found at position 0.

-- case: malformed_path
SELECT JSON_VALUE('{}', 'a') AS a;
-- expect error 13607 16 * JSON path is not properly formatted. Unexpected character 'a' is found at position 0.

-- case: keys_are_case_sensitive
SELECT JSON_VALUE('{"a":1}', '$.A') AS a, JSON_VALUE('{"a b":2}', '$."a b"') AS b;
-- expect row: NULL | '2'

-- case: escapes_are_undone
SELECT JSON_VALUE(N'{"a":"x\ty\u0041\"\\\/"}', '$.a') AS a;
-- expect row: 'x	yA"\/'

-- case: json_value_stops_at_4000_characters
DECLARE @ok NVARCHAR(MAX) = N'{"a":"' + REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 4000) + N'"}';
DECLARE @long NVARCHAR(MAX) = N'{"a":"' + REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 4001) + N'"}';
SELECT LEN(JSON_VALUE(@ok, '$.a')) AS a, JSON_VALUE(@long, '$.a') AS b;
-- expect row: 4000 | NULL

-- case: json_value_beyond_4000_characters_strictly
DECLARE @long NVARCHAR(MAX) = N'{"a":"' + REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 4001) + N'"}';
SELECT JSON_VALUE(@long, 'strict $.a') AS a;
-- expect error 13625 16 * String value in the specified JSON path would be truncated.

-- case: json_modify
SELECT JSON_MODIFY('{"a":1}', '$.a', 2) AS a, JSON_MODIFY('{"a":1}', '$.b', 'x') AS b, JSON_MODIFY('{"a":1,"b":2}', '$.a', NULL) AS c, JSON_MODIFY('{"a":[1]}', 'append $.a', 2) AS d;
-- expect row: '{"a":2}' | '{"a":1,"b":"x"}' | '{"b":2}' | '{"a":[1,2]}'

-- case: json_modify_escapes_text_and_embeds_json
SELECT JSON_MODIFY('{}', '$.a', '{"b":1}') AS a, JSON_MODIFY('{}', '$.a', JSON_QUERY('{"b":1}')) AS b;
-- expect row: '{"a":"{\"b\":1}"}' | '{"a":{"b":1}}'

-- case: null_json_gives_null
SELECT JSON_VALUE(CAST(NULL AS NVARCHAR(10)), '$.a') AS a, JSON_QUERY(CAST(NULL AS NVARCHAR(MAX)), '$.a') AS b;
-- expect row: NULL | NULL
