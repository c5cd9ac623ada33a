(identifier) @name
(type_identifier) @name
(preproc_include) @import
(declaration declarator: (function_declarator declarator: (identifier) @declared))
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @declared)))
(declaration (storage_class_specifier) declarator: (identifier) @declared)
(function_definition) @scope
(parameter_declaration declarator: (identifier) @local @parameter)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @parameter))
(declaration declarator: (identifier) @local @parameter)
(init_declarator declarator: (identifier) @local @parameter)
[(pointer_declarator declarator: (identifier) @local) (array_declarator declarator: (identifier) @local)]
(labeled_statement label: (statement_identifier) @label)
(preproc_params (identifier) @parameter)
[(preproc_def value: (preproc_arg) @macro) (preproc_function_def value: (preproc_arg) @macro)]
