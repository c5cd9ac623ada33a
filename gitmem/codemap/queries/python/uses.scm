(identifier) @name
(attribute) @chain
(import_statement) @import
(import_from_statement) @import
(decorator (call)) @decorator
