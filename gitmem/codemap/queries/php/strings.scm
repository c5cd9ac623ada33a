[(string_content) (escape_sequence) (nowdoc_string)] @string
