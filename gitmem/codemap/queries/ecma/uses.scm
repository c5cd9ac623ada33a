(identifier) @name
(shorthand_property_identifier) @name
(member_expression) @chain
(import_statement) @import
(export_statement source: (string)) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
(call_expression function: (identifier) @_called arguments: (arguments . (string)) (#eq? @_called "require")) @import
(export_statement) @export
[(function_declaration) (function_expression) (arrow_function) (method_definition) (generator_function) (generator_function_declaration) (catch_clause) (for_statement) (for_in_statement) (statement_block)] @scope
(arrow_function parameter: (identifier) @local)
[(rest_pattern (identifier) @local) (array_pattern (identifier) @local) (pair_pattern value: (identifier) @local) (assignment_pattern left: (identifier) @local)]
(shorthand_property_identifier_pattern) @local
(variable_declarator name: (identifier) @local)
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
(labeled_statement label: (statement_identifier) @label)
(function_expression name: (identifier) @label)
((assignment_expression left: (member_expression) @_exports right: [(identifier) (function_expression) (class)]) @export (#eq? @_exports "module.exports"))
