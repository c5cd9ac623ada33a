(identifier) @name
(qualified_name) @chain
(member_access_expression) @chain
(using_directive) @import
(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
