; inherits: ecma
(type_identifier) @name
(nested_type_identifier) @chain
