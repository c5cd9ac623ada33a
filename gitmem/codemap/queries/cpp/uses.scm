; inherits: c
(qualified_identifier) @chain
(namespace_identifier) @name
(call_expression function: (field_expression field: (field_identifier) @name))
(lambda_expression) @scope
(reference_declarator (identifier) @local)
(structured_binding_declarator (identifier) @local)
(for_range_loop declarator: (identifier) @local)
(optional_parameter_declaration declarator: (identifier) @local @parameter)
(template_parameter_list (_ (type_identifier) @type_parameter))
(template_parameter_list (_ (type_parameter_declaration (type_identifier) @type_parameter)))
