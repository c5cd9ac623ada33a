--- The gotcha of the cursor's line, written behind it. Places are kept as extmarks, so that they move with what is typed.
local marks = require('gitmem.marks')

local M = {}
local places = vim.api.nvim_create_namespace('gitmem-places')
local shown = vim.api.nvim_create_namespace('gitmem-line')
local texts = {} -- by buffer: { [id of the extmark] = { text, highlight } }
local highlights = { 'DiagnosticVirtualTextError', 'DiagnosticVirtualTextWarn', 'DiagnosticVirtualTextInfo', 'DiagnosticVirtualTextHint' }
local group

local function clear(bufnr)
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, shown, 0, -1)
  end
end

local function show()
  local bufnr = vim.api.nvim_get_current_buf()
  clear(bufnr)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local here = vim.api.nvim_buf_get_extmarks(bufnr, places, { line, 0 }, { line, -1 }, { limit = 1 })[1]
  local chunk = here and (texts[bufnr] or {})[here[1]]
  if chunk then
    vim.api.nvim_buf_set_extmark(bufnr, shown, line, 0, { virt_text = { chunk }, virt_text_pos = 'eol', hl_mode = 'combine' })
  end
end

--- Note where the gotchas of a buffer are.
local function track(bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    texts[bufnr] = nil
    return
  end
  vim.api.nvim_buf_clear_namespace(bufnr, places, 0, -1)
  texts[bufnr] = {}
  local last = vim.api.nvim_buf_line_count(bufnr) - 1
  for _, diagnostic in ipairs(marks.of(bufnr)) do
    local id = vim.api.nvim_buf_set_extmark(bufnr, places, math.min(diagnostic.lnum, last), 0, {})
    texts[bufnr][id] = { '  ' .. diagnostic.message:gsub('%c+', ' '), highlights[diagnostic.severity] }
  end
end

local function watch()
  group = vim.api.nvim_create_augroup('gitmem-line', { clear = true })
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, desc = 'Show the gotcha of the line', callback = callback })
  end
  on({ 'CursorMoved', 'CursorMovedI', 'TextChanged', 'TextChangedI', 'BufEnter' }, show)
  on('DiagnosticChanged', function(event)
    track(event.buf)
    if event.buf == vim.api.nvim_get_current_buf() then
      show()
    end
  end)
  on('BufLeave', function(event)
    clear(event.buf)
  end)
  on('BufWipeout', function(event)
    texts[event.buf] = nil
  end)
end

--- Write the gotcha of the cursor's line behind it, or write nothing.
function M.set(on)
  if group then
    vim.api.nvim_del_augroup_by_id(group)
    group = nil
  end
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    clear(bufnr)
    if on then
      track(bufnr)
    end
  end
  if on then
    watch()
    show()
  end
end

function M.toggle()
  local on = group == nil
  M.set(on)
  vim.notify(on and 'gitmem: the gotcha of the line is shown behind it.' or 'gitmem: nothing is shown behind lines.')
end

return M
