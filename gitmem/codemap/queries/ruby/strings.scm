[(string_content) (heredoc_content) (escape_sequence)] @string
