(identifier) @name
(type_identifier) @name
(scoped_identifier) @chain
(scoped_type_identifier) @chain
(use_declaration) @import
(extern_crate_declaration) @import
(mod_item !body) @import
