; inherits: ecma
(jsx_text) @string
