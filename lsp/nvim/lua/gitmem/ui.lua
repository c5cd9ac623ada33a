--- What is shown: floating windows, lists, the documents that the server writes.
local config = require('gitmem.config')

local M = {}

--- Make a text of a record safe for one line.
function M.one_line(text)
  return (tostring(text or ''):gsub('%c+', ' '))
end

--- Show Markdown in a floating window; a second call goes into it.
function M.float(markdown)
  local lines = vim.split(tostring(markdown), '\n', { plain = true })
  return vim.lsp.util.open_floating_preview(lines, 'markdown', { border = config.options.border, focus_id = 'gitmem', max_width = 100, wrap = true })
end

--- Open a document that the server made and keep the server on it: saving it is what records.
function M.open(uri, client)
  local window = client and client.config.capabilities.window or {}
  if window.showDocument and window.showDocument.support and vim.lsp.handlers['window/showDocument'] then
    return -- the server has opened it: Neovim since 0.9 does that for it
  end
  local path = vim.uri_to_fname(uri)
  if vim.api.nvim_buf_get_name(0) ~= path then
    vim.cmd('split ' .. vim.fn.fnameescape(path))
  end
  local bufnr = vim.api.nvim_get_current_buf()
  if client and not vim.lsp.buf_is_attached(bufnr, client.id) then
    vim.lsp.buf_attach_client(bufnr, client.id)
  end
end

--- Show what a command answered, whichever of the two it is: a document, or Markdown.
function M.answer(result, client)
  if type(result) ~= 'table' then
    return
  end
  if type(result.uri) == 'string' then
    M.open(result.uri, client)
  elseif type(result.markdown) == 'string' then
    M.float(result.markdown)
  end
end

local quiet = { [''] = true, same = true, file = true, glob = true }
local types = { critical = 'W', warning = 'I', info = 'N' }

--- Return a row of `gitmem.list` as an entry of a quickfix list.
function M.entry(row, path)
  local marks = {}
  if row.resolved then
    table.insert(marks, 'resolved')
  end
  if row.kind ~= 'gotcha' and type(row.type) == 'string' and row.type ~= '' then
    table.insert(marks, M.one_line(row.type))
  end
  if type(row.snoozed_until) == 'string' then
    table.insert(marks, 'snoozed until ' .. row.snoozed_until:sub(1, 10))
  end
  if row.unconfirmed then
    table.insert(marks, 'unconfirmed')
  end
  if row.state and not quiet[row.state] then
    table.insert(marks, tostring(row.state))
  end
  local suffix = #marks > 0 and (' (%s)'):format(table.concat(marks, ', ')) or ''
  local nowhere = row.path == '' -- it is about the repository as a whole
  return {
    filename = not nowhere and (row.path and M.one_line(row.path) or path) or nil,
    lnum = nowhere and 0 or type(row.line) == 'number' and row.line + 1 or 1, -- the server counts from 0
    type = types[row.severity] or 'I',
    text = ('%s %s%s'):format(M.one_line(row.short or row.id), M.one_line(row.title), suffix),
  }
end

--- Put rows into the quickfix list (or the location list of the window) and open it.
function M.list(rows, path, title, in_window)
  local items = {}
  for _, row in ipairs(rows) do
    table.insert(items, M.entry(row, path))
  end
  if #items == 0 then
    vim.notify('gitmem: ' .. title .. ': nothing recorded.')
    return
  end
  local what = { title = 'gitmem: ' .. title, items = items }
  if in_window then
    vim.fn.setloclist(0, {}, ' ', what)
    vim.cmd('lopen')
  else
    vim.fn.setqflist({}, ' ', what)
    vim.cmd('copen')
  end
end

return M
