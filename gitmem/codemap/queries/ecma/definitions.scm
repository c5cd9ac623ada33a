(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @method
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (class)]) @function
(program [(lexical_declaration (variable_declarator name: (identifier) @name) @constant)
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @constant))])
(assignment_expression left: (member_expression object: (_) @owner property: (property_identifier) @name) right: [(arrow_function) (function_expression)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @method
