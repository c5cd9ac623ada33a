; inherits: ecma
(type_identifier) @name
(nested_type_identifier) @chain
[(required_parameter pattern: (identifier) @local) (optional_parameter pattern: (identifier) @local)]
[(function_signature) (method_signature) (call_signature) (construct_signature) (function_type) (abstract_method_signature) (constructor_type)] @scope
[(required_parameter pattern: (identifier) @parameter) (optional_parameter pattern: (identifier) @parameter)]
(type_parameter name: (type_identifier) @type_parameter)
