(identifier) @name
(type_identifier) @name
(scoped_type_identifier) @chain
(field_access) @chain
(import_declaration) @import
(package_declaration (_) @package)
[(method_declaration) (constructor_declaration) (compact_constructor_declaration) (lambda_expression) (static_initializer)] @scope
(formal_parameter name: (identifier) @local)
(spread_parameter (variable_declarator name: (identifier) @local))
(local_variable_declaration declarator: (variable_declarator name: (identifier) @local))
(enhanced_for_statement name: (identifier) @local)
(catch_formal_parameter name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(inferred_parameters (identifier) @local)
(resource name: (identifier) @local)
(instanceof_expression name: (identifier) @local)
(element_value_pair key: (identifier) @label)
[(marker_annotation name: (identifier) @annotation) (annotation name: (identifier) @annotation)]
(type_parameter . (type_identifier) @type_parameter)
