-- OPENJSON turns an object or array into rows: by default key, value and type (0 null, 1 string, 2 number,
-- 3 boolean, 4 array, 5 object), with a WITH clause into typed columns whose paths are lax.

-- case: default_schema_of_an_object
SELECT [key], value, type FROM OPENJSON(N'{"s":"x","n":1.5,"b":true,"z":null,"a":[1],"o":{"p":2}}');
-- expect columns: key nvarchar, value nvarchar, type tinyint
-- expect row: 's' | 'x' | 1
-- expect row: 'n' | '1.5' | 2
-- expect row: 'b' | 'true' | 3
-- expect row: 'z' | NULL | 0
-- expect row: 'a' | '[1]' | 4
-- expect row: 'o' | '{"p":2}' | 5

-- case: default_schema_of_an_array
SELECT [key], value FROM OPENJSON(N'["a","b"]');
-- expect row: '0' | 'a'
-- expect row: '1' | 'b'

-- case: a_path_selects_the_part
SELECT value FROM OPENJSON(N'{"a":{"b":[1,2]}}', '$.a.b');
-- expect row: '1'
-- expect row: '2'

-- case: a_lax_path_to_nothing_gives_no_rows
SELECT value FROM OPENJSON(N'{"a":1}', '$.x');
-- expect rows: none

-- case: a_strict_path_to_nothing_fails
SELECT value FROM OPENJSON(N'{"a":1}', 'strict $.x');
-- expect error 13608 16 * Property cannot be found on the specified JSON path.

-- case: with_clause_gives_types
SELECT * FROM OPENJSON(N'[{"id":1,"name":"x","on":true,"at":"2024-01-02T03:04:05"},{"id":2}]')
WITH (id INT, name NVARCHAR(20), [on] BIT, at DATETIME2(0));
-- expect columns: id int, name nvarchar, on bit, at datetime2
-- expect row: 1 | 'x' | 1 | 2024-01-02 03:04:05
-- expect row: 2 | NULL | NULL | NULL

-- case: with_clause_paths
SELECT * FROM OPENJSON(N'{"a":{"b":"x"},"l":[5,6]}') WITH (b NVARCHAR(10) '$.a.b', second INT '$.l[1]', whole NVARCHAR(MAX) '$.a' AS JSON, none INT '$.q');
-- expect row: 'x' | 6 | '{"b":"x"}' | NULL

-- case: an_object_without_as_json_is_null
SELECT * FROM OPENJSON(N'{"a":{"b":1}}') WITH (a NVARCHAR(100));
-- expect row: NULL

-- case: a_scalar_as_json_is_null
SELECT * FROM OPENJSON(N'{"a":1}') WITH (a NVARCHAR(MAX) AS JSON);
-- expect row: NULL

-- case: as_json_needs_nvarchar_max
SELECT * FROM OPENJSON(N'{"a":{}}') WITH (a NVARCHAR(100) AS JSON);
-- expect error 13618 16 * AS JSON option can be specified only for column of nvarchar(max) type in WITH clause.

-- case: long_strings_survive
DECLARE @j NVARCHAR(MAX) = N'[{"p":"' + REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 5000) + N'"}]';
SELECT LEN(p) AS n FROM OPENJSON(@j) WITH (p NVARCHAR(MAX));
-- expect row: 5000

-- case: null_gives_no_rows
SELECT * FROM OPENJSON(CAST(NULL AS NVARCHAR(MAX)));
-- expect rows: none

-- case: malformed_text_fails
SELECT * FROM OPENJSON(N'{"a":') WITH (a INT);
-- expect error 13609 16 * JSON text is not properly formatted.

-- case: a_value_of_the_wrong_type_fails
SELECT * FROM OPENJSON(N'{"a":"x"}') WITH (a INT);
-- expect error 245 16 1 Conversion failed when converting the nvarchar

-- case: cross_apply_unfolds_nested_arrays
SELECT o.id, i.value FROM OPENJSON(N'[{"id":1,"l":[7,8]},{"id":2,"l":[]}]') WITH (id INT, l NVARCHAR(MAX) AS JSON) AS o
CROSS APPLY OPENJSON(o.l) AS i ORDER BY o.id, i.value;
-- expect row: 1 | '7'
-- expect row: 1 | '8'

-- case: rows_can_be_joined_and_inserted
CREATE TABLE [$(s)].t (id INT PRIMARY KEY, v NVARCHAR(10));
INSERT [$(s)].t (id, v) SELECT id, v FROM OPENJSON(N'[{"id":2,"v":"b"},{"id":1,"v":"a"}]') WITH (id INT, v NVARCHAR(10));
SELECT t.v, j.n FROM [$(s)].t t JOIN OPENJSON(N'[{"id":1,"n":5}]') WITH (id INT, n INT) j ON j.id = t.id;
-- expect row: 'a' | 5

-- case: keys_match_in_their_case
SELECT * FROM OPENJSON(N'{"Id":1}') WITH (id INT, other INT '$.Id');
-- expect row: NULL | 1

-- case: a_key_has_4000_characters
SELECT LEN([key]) AS n FROM OPENJSON('{"' + REPLICATE(CAST('k' AS NVARCHAR(MAX)), 5000) + '":1}');
-- expect row: 4000
