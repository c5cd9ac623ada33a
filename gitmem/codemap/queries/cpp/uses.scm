; inherits: c
(qualified_identifier) @chain
(namespace_identifier) @name
