[(string_fragment) (multiline_string_fragment) (escape_sequence)] @string
