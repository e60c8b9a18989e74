-- Shows grants that are too few, too many, or on nothing.
CREATE ROLE [$(schema)_runtime];
CREATE ROLE observer;
GO
GRANT EXECUTE ON OBJECT::[$(schema)].access_path TO [$(schema)_runtime];
GRANT SELECT ON OBJECT::[$(schema)].v_wrong_column TO observer;
GRANT SELECT ON OBJECT::[$(schema)].v_other_name TO observer; -- wrong: permissions: v_other_name is granted to the observer
GRANT EXECUTE ON OBJECT::[$(schema)].begin_end TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].binding_missing_procedure TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].binding_missing_table TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].binding_wrong_column TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].binding_wrong_insert_column TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].cursor_declared TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].dialect TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].dynamic_sql TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].error_number TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].exec_arguments TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].get_system_metrics TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].wait_for_work TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].header_forgets_helper TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].header_incomplete TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].header_missing TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].header_untrue TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].header_wrong_method TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].isolation_level TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].local_binding TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].lock_order TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].lock_order_excuse TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].lock_order_read_before_write TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].lock_order_through_helper TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].lock_order_unknown_table TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].nolock_hint TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].parameter_width TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].procedure_file_long TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].procedure_file_plain TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].procedure_with_other_name TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].right_retry TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].select_star TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].semicolon_missing TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].set_options_missing TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].sp_prefix TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].temp_table TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].transaction_ends_callers TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].transaction_flag TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].transaction_in_loop TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].transaction_never_begun TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].transaction_open_after_catch TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].transaction_open_at_end TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].transaction_open_at_return TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].transaction_open_at_throw TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].two_part_name TO [$(schema)_runtime];
GRANT EXECUTE ON OBJECT::[$(schema)].where_missing TO [$(schema)_runtime];
GRANT EXECUTE ON [$(schema)].no_such_procedure TO [$(schema)_runtime]; -- wrong: binding: no_such_procedure
GRANT EXECUTE ON right_order TO [$(schema)_runtime]; -- wrong: two-part-name: the object right_order -- wrong: binding: [dbo].[right_order]
GRANT EXECUTE ON [$(schema)]._right_helper TO [$(schema)_runtime]; -- wrong: permissions: _right_helper is a helper
GRANT SELECT ON [$(schema)].instances TO [$(schema)_runtime]; -- wrong: permissions: SELECT is granted on instances
GRANT EXECUTE ON SCHEMA::[$(schema)] TO [$(schema)_runtime]; -- wrong: permissions: wider than one procedure
GRANT EXECUTE ON [$(schema)].right_claim TO [$(schema)_runtime]; -- wrong: permissions: nothing grants EXECUTE on merge_statement -- wrong: permissions: nothing grants EXECUTE on binding_missing_variable -- wrong: permissions: nothing grants SELECT on v_right
GO
