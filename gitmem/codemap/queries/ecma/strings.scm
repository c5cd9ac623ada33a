[(string_fragment) (escape_sequence)] @string
