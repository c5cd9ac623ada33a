--- git-mem in Neovim: gotchas on the lines that they are about.
local M = {}

--- Take options; see :help gitmem-setup. The plugin works without it.
function M.setup(options)
  require('gitmem.config').set(options)
  if options and options.current_line ~= nil then
    require('gitmem.line').set(options.current_line)
  end
end

--- Attach the server to a buffer of a git repository (default: the current one); returns the id of the client, or nil.
function M.attach(bufnr)
  return require('gitmem.client').attach(bufnr)
end

--- Return `mem 3` for a file with three open gotchas, and nothing for one without: for 'statusline'.
function M.statusline(bufnr)
  return require('gitmem.status').line(bufnr)
end

return M
