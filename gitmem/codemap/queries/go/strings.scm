[(interpreted_string_literal_content) (raw_string_literal_content) (escape_sequence)] @string
