(identifier) @name
(constant) @name
(scope_resolution) @chain
(call method: (identifier) @_called arguments: (argument_list (string)) (#any-of? @_called "require" "require_relative" "load" "autoload")) @import
