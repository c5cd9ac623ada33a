(identifier) @name
(attribute) @chain
(import_statement) @import
(import_from_statement) @import
(decorator (call)) @decorator
[(function_definition) (lambda) (list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope
(parameters (identifier) @local)
(lambda_parameters (identifier) @local)
[(default_parameter name: (identifier) @local) (typed_default_parameter name: (identifier) @local)]
(typed_parameter . (identifier) @local)
[(list_splat_pattern (identifier) @local) (dictionary_splat_pattern (identifier) @local)]
(assignment left: (identifier) @local)
[(pattern_list (identifier) @local) (tuple_pattern (identifier) @local)]
[(for_statement left: (identifier) @local) (for_in_clause left: (identifier) @local)]
(as_pattern_target (identifier) @local)
(named_expression name: (identifier) @local)
(keyword_argument name: (identifier) @label)
(_ type_parameters: (type_parameter (type [(identifier) @type_parameter (constrained_type . (type (identifier) @type_parameter)) (splat_type (identifier) @type_parameter)])))
