-- Shows a grant on a procedure that does not exist.
CREATE ROLE [$(schema)_runtime];
GO
GRANT EXECUTE ON [$(schema)].right_claim TO [$(schema)_runtime];
GRANT EXECUTE ON [$(schema)].no_such_procedure TO [$(schema)_runtime]; -- wrong: binding: no_such_procedure
GRANT EXECUTE ON right_order TO [$(schema)_runtime]; -- wrong: two-part-name: the object right_order -- wrong: binding: [dbo].[right_order]
GO
