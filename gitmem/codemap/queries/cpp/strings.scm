; inherits: c
(raw_string_content) @string
