(identifier) @name
(type_identifier) @name
(scoped_identifier) @chain
(scoped_type_identifier) @chain
(use_declaration) @import
(extern_crate_declaration) @import
(mod_item !body) @import
(call_expression function: (field_expression field: (field_identifier) @name))
(call_expression function: (generic_function function: (field_expression field: (field_identifier) @name)))
[(function_item) (closure_expression) (match_arm) (function_signature_item)] @scope
(parameter pattern: (identifier) @local)
(let_declaration pattern: (identifier) @local)
(closure_parameters (identifier) @local)
(for_expression pattern: (identifier) @local)
([(tuple_pattern (identifier) @local) (tuple_struct_pattern (identifier) @local) (slice_pattern (identifier) @local) (field_pattern pattern: (identifier) @local) (match_pattern (identifier) @local)] (#match? @local "^[a-z_]"))
(shorthand_field_identifier) @local
[(mut_pattern (identifier) @local) (ref_pattern (identifier) @local) (reference_pattern (identifier) @local)]
(captured_pattern . (identifier) @local)
(type_parameters (_ name: [(type_identifier) (identifier)] @type_parameter))
