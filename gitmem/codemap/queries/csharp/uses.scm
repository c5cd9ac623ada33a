(identifier) @name
(qualified_name) @chain
(member_access_expression) @chain
(using_directive) @import
(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
[(method_declaration) (constructor_declaration) (local_function_statement) (lambda_expression) (anonymous_method_expression) (operator_declaration) (conversion_operator_declaration) (indexer_declaration) (accessor_declaration) (delegate_declaration)] @scope
(parameter name: (identifier) @local)
(implicit_parameter) @local
(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(using_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(for_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(foreach_statement left: (identifier) @local)
(catch_declaration name: (identifier) @local)
[(declaration_pattern name: (identifier) @local) (declaration_expression name: (identifier) @local)]
(argument name: (identifier) @label)
(attribute_argument name: (identifier) @label)
(initializer_expression (assignment_expression left: (identifier) @label))
(preproc_if condition: (unary_expression) @_condition (#match? @_condition "^!")) @fallback
(attribute name: (identifier) @annotation)
[(_ type: (identifier) @typename) (_ returns: (identifier) @typename)]
[(type_argument_list (identifier) @typename) (base_list (identifier) @typename)]
(type_parameter name: (identifier) @type_parameter)
