[(string_content) (escape_sequence) (nowdoc_string)] @string
(shell_command_expression [(string_content) (escape_sequence)] @code)
