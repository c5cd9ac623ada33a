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
(list_pattern (identifier) @local)
(as_pattern_target [(tuple (identifier) @local) (list (identifier) @local) (tuple (_ (identifier) @local)) (list (_ (identifier) @local))])
(case_pattern (dotted_name . (identifier) @local .))
(keyword_pattern . (identifier) @label)
(keyword_pattern (identifier) (dotted_name . (identifier) @local .))
(splat_pattern (identifier) @local)
(as_pattern (case_pattern) (identifier) @local)
[(function_definition name: (identifier) @rebound) (class_definition name: (identifier) @rebound) (type_alias_statement left: (type (identifier) @rebound))]
[(delete_statement (identifier) @rebound) (delete_statement (expression_list (identifier) @rebound)) (augmented_assignment left: (identifier) @rebound)]
[(nonlocal_statement (identifier) @rebound) (global_statement (identifier) @rebound) (named_expression name: (identifier) @rebound)]
[(import_statement name: (dotted_name . (identifier) @rebound @imported)) (import_from_statement name: (dotted_name (identifier) @rebound @imported)) (aliased_import alias: (identifier) @rebound @imported)]
