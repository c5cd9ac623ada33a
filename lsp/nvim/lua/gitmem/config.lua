--- What the user may set, and what holds when nothing is set.
local M = {}

M.defaults = {
  --- Attach to the buffers of git repositories by itself. With `false`, call `require('gitmem').attach()` or `vim.lsp.enable('gitmem')`.
  autostart = true,
  --- How to start the server: a list of strings. Nil finds it: `git-mem-lsp` on PATH, else `python3 -P -m gitmem_lsp`.
  cmd = nil,
  --- Settings of the server, as in VS Code but without the prefix: `marks`, `codeLens`, ...
  settings = {},
  --- Write the gotcha of the cursor's line behind it; `:Gitmem line` switches it.
  current_line = false,
  --- Called as on_attach(client, bufnr).
  on_attach = nil,
  --- Capabilities for the server, when a completion plugin adds some.
  capabilities = nil,
  --- Border of the floating windows, as in |nvim_open_win()|.
  border = 'rounded',
  --- What `statusline()` puts before the number.
  status_sign = 'mem ',
}

M.options = vim.deepcopy(M.defaults)

local types = {
  autostart = 'boolean',
  cmd = 'table',
  settings = 'table',
  current_line = 'boolean',
  on_attach = 'function',
  capabilities = 'table',
  status_sign = 'string',
}

--- Take the user's options over the defaults; an option that is not known or not of its type is an error.
function M.set(options)
  options = options or {}
  for name, value in pairs(options) do
    local wanted = types[name]
    if wanted == nil and name ~= 'border' then
      error(("gitmem: '%s' is not an option; see :help gitmem-setup"):format(name), 0)
    end
    if wanted and type(value) ~= wanted then
      error(("gitmem: the option '%s' has to be a %s"):format(name, wanted), 0)
    end
  end
  M.options = vim.tbl_extend('force', vim.deepcopy(M.defaults), options)
end

return M
