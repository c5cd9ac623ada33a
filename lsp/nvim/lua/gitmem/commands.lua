--- The subcommands of `:Gitmem`.
local client = require('gitmem.client')
local compat = require('gitmem.compat')
local marks = require('gitmem.marks')
local ui = require('gitmem.ui')

local M = {}
local everything = { memories = true, snoozed = true } -- also what has no diagnostic

local function uri()
  return vim.uri_from_bufnr(vim.api.nvim_get_current_buf())
end

--- Return the range of some lines, from 1. A column beyond the end of a line means its end, in every encoding; column 0 would mean the line before.
local function range(first, last)
  local line = vim.api.nvim_buf_get_lines(0, last - 1, last, false)[1] or ''
  return { start = { line = first - 1, character = 0 }, ['end'] = { line = last - 1, character = math.max(#line, 1) } }
end

local function path()
  return vim.api.nvim_buf_get_name(0)
end

local function label(row)
  return ('%s %s'):format(ui.one_line(row.short or row.id), ui.one_line(row.title))
end

--- Hand the gotcha that is meant to a function: the one named, else the one of the cursor's line, else the one that is chosen.
local function with_gotcha(named, wanted, done)
  local running = client.current()
  if running == nil then
    return
  end
  local bufnr, here, line = vim.api.nvim_get_current_buf(), uri(), vim.api.nvim_win_get_cursor(0)[1]
  client.execute('gitmem.list', { here, everything }, function(rows)
    local fitting, at_cursor = {}, {}
    for _, row in ipairs(rows) do
      if named and (row.id == named or row.short == named) then
        return done(row.id, running, here)
      end
      if wanted(row) then
        table.insert(fitting, row)
        if type(row.line) == 'number' and row.line + 1 == line then -- the server counts from 0
          table.insert(at_cursor, row)
        end
      end
    end
    if named then
      return done(named, running, here)
    end
    local rest = #at_cursor > 0 and at_cursor or fitting
    if #rest == 0 then
      vim.notify('gitmem: this file has nothing to choose from.')
    elseif #at_cursor == 1 then
      done(rest[1].id, running, here)
    else
      vim.ui.select(rest, { prompt = 'Which one?', format_item = label }, function(row)
        if row then
          done(row.id, running, here)
        end
      end)
    end
  end, running, bufnr)
end

local function any()
  return true
end

local function is_snoozed(row)
  return type(row.snoozed_until) == 'string'
end

local function open(row)
  return row.kind == 'gotcha' and not row.resolved and not is_snoozed(row)
end

local function resolved(row)
  return row.kind == 'gotcha' and row.resolved
end

--- Make a subcommand that runs a command of the server on one gotcha and says what was done.
local function on_one(command, wanted, said, with_uri)
  return function(call)
    with_gotcha(call.args[1], wanted, function(id, running, here)
      client.execute(command, with_uri and { id, here } or { id }, function(result)
        if said then
          vim.notify('gitmem: ' .. said)
        end
        ui.answer(result, running)
      end, running)
    end)
  end
end

local function record(call)
  local running = client.current()
  if running == nil then
    return
  end
  local where, lines = uri(), range(call.line1, call.line2)
  local function write(title)
    if title == nil or vim.trim(title) == '' then
      return
    end
    client.execute('gitmem.record', { where, lines, vim.trim(title), vim.empty_dict() }, function(result)
      vim.notify('gitmem: recorded.')
      ui.answer(result, running)
    end, running)
  end
  if #call.args > 0 then
    write(table.concat(call.args, ' '))
  else
    vim.ui.input({ prompt = 'Gotcha: ' }, write)
  end
end

--- Open a draft of a gotcha about the lines; saving it records it.
local function draft(call)
  local running = client.current()
  if running then
    client.execute('gitmem.record', { uri(), range(call.line1, call.line2) }, function(result)
      ui.answer(result, running)
    end, running)
  end
end

local function snooze(call)
  local days
  local args = vim.tbl_filter(function(arg)
    days = days or tonumber(arg:match('^(%d+)d?$'))
    return not arg:match('^%d+d?$')
  end, call.args)
  with_gotcha(args[1], open, function(id, running)
    client.execute('gitmem.snooze', days and { id, days } or { id }, function()
      vim.notify('gitmem: snoozed; :Gitmem unsnooze brings it back.')
    end, running)
  end)
end

local function reanchor(call)
  local where, lines = uri(), range(call.line1, call.line2)
  with_gotcha(call.args[1], any, function(id, running)
    client.execute('gitmem.reanchor', { id, where, lines }, function()
      vim.notify('gitmem: anchored here.')
    end, running)
  end)
end

local function show(call)
  with_gotcha(call.args[1], any, function(id, running)
    client.execute('gitmem.show', { id }, function(result)
      ui.answer(result, running)
    end, running)
  end)
end

--- By file and line, which is how a list of a repository is gone through.
local function by_place(a, b)
  if (a.path or '') ~= (b.path or '') then
    return (a.path or '') < (b.path or '')
  end
  local first, second = tonumber(a.line) or 0, tonumber(b.line) or 0
  return first == second and a.id < b.id or first < second
end

local function list(call)
  local all, in_window = vim.tbl_contains(call.args, 'all'), vim.tbl_contains(call.args, 'window')
  local here, root = path(), require('gitmem.find').buffer_root(0)
  local options = vim.tbl_extend('force', everything, { all = all })
  client.execute('gitmem.list', { uri(), options }, function(rows)
    for _, row in ipairs(rows) do
      if row.path and row.path ~= '' and root then
        row.path = root .. '/' .. row.path
      end
    end
    if all then
      table.sort(rows, by_place)
    end
    ui.list(rows, not all and here or nil, all and 'this repository' or vim.fn.fnamemodify(here, ':t'), in_window)
  end)
end

local function timeline()
  local running = client.current()
  if running then
    local position = vim.lsp.util.make_position_params(0, running.offset_encoding).position
    client.execute('gitmem.timeline', { uri(), position }, function(result)
      ui.answer(result, running)
    end, running)
  end
end

--- Tell where the lines of a range, or the cursor's, come from.
local function why(call)
  local running = client.current()
  if running then
    local first, last = vim.api.nvim_win_get_cursor(0)[1], nil
    if call.range > 0 then
      first, last = call.line1, call.line2
    end
    client.execute('gitmem.why', { uri(), range(first, last or first) }, function(result)
      ui.answer(result, running)
    end, running)
  end
end

--- List the files that use this one, in the location list, by how much hangs on them.
local function code()
  local buffer = vim.api.nvim_get_current_buf()
  client.execute('gitmem.code', { uri() }, function(told)
    local root = require('gitmem.find').buffer_root(buffer)
    local items = {}
    for _, user in ipairs(told.usedBy) do
      table.insert(items, { filename = root .. '/' .. user, lnum = 1, text = 'uses ' .. ui.one_line(told.path) })
    end
    vim.fn.setloclist(0, {}, ' ', { title = 'Uses ' .. ui.one_line(told.path), items = items })
    vim.notify(('gitmem: used by %d file%s, rank %d of %d'):format(told.users, told.users == 1 and '' or 's', told.place, told.of))
    if #items > 0 then
      vim.cmd('lopen')
    end
  end, nil, buffer, 'gitmem: nothing is known of this file: it is not committed, or in no language that is read.')
end

local function status()
  client.execute('gitmem.status', { uri() }, function(told)
    local parts = {}
    for _, name in ipairs({ 'gotchas', 'unresolved', 'unconfirmed', 'adrift', 'snoozed' }) do
      if told[name] ~= nil then
        table.insert(parts, ('%s %s'):format(tostring(told[name]), name))
      end
    end
    vim.notify(('gitmem: %s: %s'):format(ui.one_line(told.root), table.concat(parts, ', ')))
  end, nil, nil, client.foreign)
end

local function log()
  vim.cmd('tabnew ' .. vim.fn.fnameescape(compat.log_path()))
end

--- Each subcommand: what it runs, and which gotchas its completion offers.
M.all = {
  record = { run = record },
  draft = { run = draft },
  resolve = { run = on_one('gitmem.resolve', open, 'resolved; :Gitmem reopen takes it back.', true), ids = open },
  reopen = { run = on_one('gitmem.reopen', resolved, 'reopened.', true), ids = resolved },
  snooze = { run = snooze, ids = open },
  unsnooze = { run = on_one('gitmem.unsnooze', is_snoozed, 'shown again.'), ids = is_snoozed },
  pin = { run = on_one('gitmem.pin', any, 'pinned.'), ids = any },
  unpin = { run = on_one('gitmem.unpin', any, 'not pinned any more.'), ids = any },
  verify = { run = on_one('gitmem.verify', any, 'confirmed.'), ids = any },
  reanchor = { run = reanchor, ids = any },
  edit = { run = on_one('gitmem.edit', any), ids = any },
  supersede = { run = on_one('gitmem.supersede', any), ids = any },
  show = { run = show, ids = any },
  list = { run = list, words = { 'all', 'window' } },
  toggle = { run = marks.toggle },
  line = { run = require('gitmem.line').toggle },
  next = { run = marks.next },
  previous = { run = marks.previous },
  timeline = { run = timeline },
  why = { run = why },
  code = { run = code },
  status = { run = status },
  log = { run = log },
  restart = { run = client.restart },
}

--- Run `:Gitmem`: without a subcommand, `list`.
function M.run(call)
  local args = vim.deepcopy(call.fargs)
  local name = table.remove(args, 1) or 'list'
  local found = M.all[name]
  if found == nil then
    vim.notify(("gitmem: '%s' is not a subcommand; see :help :Gitmem"):format(name), vim.log.levels.ERROR)
    return
  end
  found.run({ args = args, line1 = call.line1, line2 = call.line2, range = call.range })
end

--- Complete subcommands, and the ids that a subcommand can be about.
function M.complete(lead, line)
  local words = vim.split(vim.trim(line:gsub("^.*Gitmem!?", "")), '%s+', { trimempty = true })
  local found = M.all[words[1] or '']
  local out = {}
  if found == nil or (#words == 1 and lead ~= '') then
    out = vim.tbl_keys(M.all)
  elseif found.words then
    out = vim.deepcopy(found.words)
  elseif found.ids then
    for _, row in ipairs(client.execute_sync('gitmem.list', { uri(), everything }) or {}) do
      if found.ids(row) then
        table.insert(out, row.short or row.id)
      end
    end
  end
  out = vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, out)
  table.sort(out)
  return out
end

return M
