--- The marks in the code as a whole: whether they are shown, and going from one to the next.
local client = require('gitmem.client')
local compat = require('gitmem.compat')
local config = require('gitmem.config')

local M = {}

--- Return the diagnostics of gotchas in a buffer.
function M.of(bufnr)
  return vim.tbl_filter(function(diagnostic)
    return diagnostic.source == 'gitmem'
  end, vim.diagnostic.get(bufnr))
end

--- Show all marks or none, in all buffers, until Neovim ends.
function M.set(on)
  config.options.settings = vim.tbl_extend('force', config.options.settings, { marks = on })
  local settings = { gitmem = config.options.settings }
  for _, running in ipairs(compat.clients()) do
    running.config.settings = settings
    if running.settings then -- since 0.10 it is this that the server is answered from
      running.settings = settings
    end
    compat.notify(running, 'workspace/didChangeConfiguration', { settings = settings })
  end
  vim.notify(on and 'gitmem: marks are on.' or 'gitmem: marks are off; :Gitmem toggle shows them again.')
  require('gitmem.status').redraw()
end

--- Switch the marks off, or on again. Git's configuration may have them off: the server knows.
function M.toggle()
  local bufnr = vim.api.nvim_get_current_buf()
  local running = compat.clients(bufnr)[1]
  if running == nil then
    M.set(config.options.settings.marks == false)
    return
  end
  client.execute('gitmem.status', { vim.uri_from_bufnr(bufnr) }, function(status)
    M.set(status.marks == false)
  end, running, bufnr, client.foreign)
end

--- Go to the next line with a gotcha, or the one before; round the end of the file, as ]d does.
local function go(step)
  local lines = {}
  for _, diagnostic in ipairs(M.of(0)) do
    table.insert(lines, diagnostic.lnum + 1)
  end
  if #lines == 0 then
    vim.notify(config.options.settings.marks == false and 'gitmem: marks are off; :Gitmem toggle shows them again.' or 'gitmem: no line of this file has a gotcha.')
    return
  end
  table.sort(lines, function(a, b)
    return (a - b) * step < 0
  end)
  local here = vim.api.nvim_win_get_cursor(0)[1]
  local target = lines[1]
  for _, line in ipairs(lines) do
    if (line - here) * step > 0 then
      target = line
      break
    end
  end
  vim.cmd("normal! m'") -- CTRL-O comes back
  vim.api.nvim_win_set_cursor(0, { math.min(target, vim.api.nvim_buf_line_count(0)), 0 })
  vim.cmd('normal! ^zv')
end

function M.next()
  go(1)
end

function M.previous()
  go(-1)
end

return M
