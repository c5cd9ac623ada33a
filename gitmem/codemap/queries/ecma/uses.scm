(identifier) @name
(shorthand_property_identifier) @name
(member_expression) @chain
(import_statement) @import
(export_statement source: (string)) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
(call_expression function: (identifier) @_called arguments: (arguments . (string)) (#eq? @_called "require")) @import
(export_statement) @export
