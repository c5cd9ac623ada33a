; inherits: ecma
(formal_parameters (identifier) @local)
