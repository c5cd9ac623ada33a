[(string_fragment) (escape_sequence)] @string
; what a tag reads: a command, a query, a page
(call_expression arguments: (template_string [(string_fragment) (escape_sequence)] @code))
