(identifier) @name
(constant) @name
(scope_resolution) @chain
(call method: (identifier) @_called arguments: (argument_list (string)) (#any-of? @_called "require" "require_relative" "load" "autoload")) @import
[(method) (singleton_method) (block) (do_block) (lambda)] @scope
[(method_parameters (identifier) @local) (block_parameters (identifier) @local) (lambda_parameters (identifier) @local) (destructured_parameter (identifier) @local)]
[(optional_parameter name: (identifier) @local) (keyword_parameter name: (identifier) @local) (splat_parameter name: (identifier) @local) (hash_splat_parameter name: (identifier) @local) (block_parameter name: (identifier) @local)]
(assignment left: (identifier) @local)
(operator_assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(exception_variable (identifier) @local)
