[(string_content) (escape_sequence)] @string
