--- How many gotchas the file of a buffer has: for status lines, which cannot wait for a server.
local config = require('gitmem.config')

local M = {}

--- Ask the server again; the answer is in `b:gitmem_status` when the event `User GitmemChanged` fires.
function M.refresh(bufnr)
  local compat = require('gitmem.compat')
  local client = compat.clients(bufnr)[1]
  if client == nil or not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  local params = { command = 'gitmem.list', arguments = { vim.uri_from_bufnr(bufnr) } }
  compat.request(client, 'workspace/executeCommand', params, function(err, rows)
    if err or type(rows) ~= 'table' or not vim.api.nvim_buf_is_valid(bufnr) then
      return
    end
    local open, total = 0, 0
    for _, row in ipairs(rows) do
      if row.kind == 'gotcha' or row.kind == nil then
        total = total + 1
        if not row.resolved then
          open = open + 1
        end
      end
    end
    vim.api.nvim_buf_set_var(bufnr, 'gitmem_status', { count = open, total = total })
    M.redraw()
  end, bufnr)
end

--- Take the server's word that the gotchas of some files changed.
function M.on_changed(_, params)
  local changed = {}
  for _, uri in ipairs(type(params) == 'table' and type(params.uris) == 'table' and params.uris or {}) do
    changed[uri] = true
  end
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and (next(changed) == nil or changed[vim.uri_from_bufnr(bufnr)]) then
      M.refresh(bufnr)
    end
  end
end

--- Have status lines drawn again.
function M.redraw()
  vim.api.nvim_exec_autocmds('User', { pattern = 'GitmemChanged', modeline = false })
  vim.cmd('redrawstatus!')
end

--- Forget what the server said, which runs no more.
function M.forget()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    pcall(vim.api.nvim_buf_del_var, bufnr, 'gitmem_status')
  end
  vim.cmd('redrawstatus!')
end

--- Return the text for a status line: empty when the file has no gotcha that is open; the marks may be off.
function M.line(bufnr)
  bufnr = (bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr
  local ok, status = pcall(vim.api.nvim_buf_get_var, bufnr, 'gitmem_status')
  if not ok or type(status) ~= 'table' or (status.count or 0) == 0 then
    return ''
  end
  return config.options.status_sign .. status.count .. (config.options.settings.marks == false and ' off' or '')
end

return M
