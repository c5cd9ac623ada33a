-- For vim.lsp.enable('gitmem'), Neovim 0.11 and later. The plugin starts the server without it.
local config = require('gitmem.client').config()
config.root_dir = nil
config.root_markers = { '.git' }
config.workspace_required = true
return config
