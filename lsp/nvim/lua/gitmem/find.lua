--- Finds the repository of a file, and the server.
local config = require('gitmem.config')

local M = {}
local uv = vim.uv or vim.loop

M.how_to_install = 'Install git-mem, or name the server in setup{ cmd = {...} }: see :help gitmem-install.'

--- Return the folder with `.git` above a path, or nil. `.git` may be a file: a linked worktree, a submodule.
function M.root(path)
  local folder = vim.fn.fnamemodify(path, ':p:h')
  while folder and folder ~= '' do
    if uv.fs_stat(folder .. '/.git') then
      return folder
    end
    local above = vim.fn.fnamemodify(folder, ':h')
    if above == folder then
      return nil
    end
    folder = above
  end
  return nil
end

--- Return the root of a buffer's repository; nil for a buffer that is not a file, or of no repository.
function M.buffer_root(bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) or vim.bo[bufnr].buftype ~= '' then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(bufnr)
  if name == '' or name:match('^%a[%w+.-]+://') then
    return nil
  end
  return M.root(name)
end

local found, asked_python

--- Return the command that starts the server, or nil and why there is none.
function M.command()
  if config.options.cmd then
    local program = config.options.cmd[1]
    if type(program) == 'string' and vim.fn.executable(program) == 1 then
      return config.options.cmd
    end
    return nil, ('`%s` cannot be run.'):format(tostring(program))
  end
  found = found or M.search()
  if found then
    return found
  end
  return nil, '`git-mem-lsp` is not on the PATH.'
end

--- Look for the server again at the next start.
function M.forget()
  found, asked_python = nil, false
end

--- Look on the PATH each time, for it may be installed at any moment; ask Python once, for that is slow.
function M.search()
  if vim.fn.executable('git-mem-lsp') == 1 then
    return { vim.fn.exepath('git-mem-lsp'), '--stdio' }
  end
  if not asked_python and vim.fn.executable('python3') == 1 then
    asked_python = true
    -- -P: a folder of the project that is called like the module is not the module
    local python = vim.fn.exepath('python3')
    vim.fn.system({ python, '-P', '-c', 'import importlib.util as u, sys; sys.exit(u.find_spec("gitmem_lsp") is None)' })
    if vim.v.shell_error == 0 then
      return { python, '-P', '-m', 'gitmem_lsp', '--stdio' }
    end
  end
  return nil
end

return M
