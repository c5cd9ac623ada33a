(identifier) @name
(type_identifier) @name
(scoped_type_identifier) @chain
(field_access) @chain
(import_declaration) @import
(package_declaration (_) @package)
