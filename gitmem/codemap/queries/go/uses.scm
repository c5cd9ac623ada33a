(identifier) @name
(type_identifier) @name
(selector_expression) @chain
(qualified_type) @chain
(import_spec) @import
(package_clause (package_identifier) @package)
