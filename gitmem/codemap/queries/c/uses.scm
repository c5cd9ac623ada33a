(identifier) @name
(type_identifier) @name
(preproc_include) @import
(declaration declarator: (function_declarator declarator: (identifier) @declared))
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @declared)))
(declaration (storage_class_specifier) declarator: (identifier) @declared)
