[(string_literal_content) (string_content) (raw_string_content) (verbatim_string_literal) (escape_sequence)] @string
