[(string_content) (heredoc_content) (escape_sequence)] @string
(subshell [(string_content) (escape_sequence)] @code)
(regex [(string_content) (escape_sequence)] @code)
