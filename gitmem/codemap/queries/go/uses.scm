(identifier) @name
(type_identifier) @name
(selector_expression) @chain
(qualified_type) @chain
(import_spec) @import
(package_clause (package_identifier) @package)
[(function_declaration) (method_declaration) (func_literal) (function_type)] @scope
[(parameter_declaration name: (identifier) @local) (variadic_parameter_declaration name: (identifier) @local)]
(short_var_declaration left: (expression_list (identifier) @local))
[(var_spec name: (identifier) @local) (const_spec name: (identifier) @local)]
(range_clause left: (expression_list (identifier) @local))
(receive_statement left: (expression_list (identifier) @local))
(type_switch_statement alias: (expression_list (identifier) @local))
(keyed_element . (literal_element (identifier) @label))
((identifier) @label (#eq? @label "_"))
(type_parameter_declaration name: (identifier) @type_parameter)
(method_declaration receiver: (parameter_list (parameter_declaration type: [(generic_type type_arguments: (type_arguments (type_elem (type_identifier) @type_parameter))) (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @type_parameter))))])))
