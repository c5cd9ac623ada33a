(name) @name
(qualified_name) @chain
(namespace_use_declaration) @import
(require_expression) @import
(require_once_expression) @import
(include_expression) @import
(include_once_expression) @import
(namespace_definition name: (_) @package)
[(method_declaration) (function_definition) (anonymous_function) (arrow_function)] @scope
(simple_parameter name: (variable_name) @local)
(argument name: (name) @label)
(assignment_expression left: (variable_name) @local)
(foreach_statement (variable_name) @local)
(catch_clause name: (variable_name) @local)
