--- The one client of this plugin: one server serves the files of all repositories.
local compat = require('gitmem.compat')
local config = require('gitmem.config')
local find = require('gitmem.find')

local M = {}
local told = false
local crashes, most_crashes = 0, 3
local patience = 3000 -- milliseconds that a server has to stop by itself
local reads = { ['gitmem.list'] = true, ['gitmem.show'] = true, ['gitmem.status'] = true, ['gitmem.timeline'] = true, ['gitmem.why'] = true, ['gitmem.code'] = true }

-- what is said where an answer is about the repository of a buffer, and there is none
M.foreign = 'gitmem: this buffer is not a file of a git repository; open one first.'

--- What a code lens names, shown in a list or a window of ours.
local function list()
  require('gitmem.commands').run({ fargs = { 'list' } })
end

local shown_here = {
  ['gitmem.report'] = list,
  ['gitmem.list'] = list,
  ['gitmem.show'] = function(command)
    require('gitmem.commands').run({ fargs = { 'show', (command.arguments or {})[1] } })
  end,
}

--- Return the configuration of the client for |vim.lsp.start()| and |vim.lsp.config()|.
function M.config(root)
  local cmd = find.command()
  local options = config.options
  local settings = vim.tbl_isempty(options.settings) and vim.empty_dict() or options.settings
  return {
    name = 'gitmem',
    cmd = cmd or { 'git-mem-lsp', '--stdio' },
    root_dir = root,
    -- Neovim before 0.11 takes these for all there are; completion plugins give only what they add
    capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), options.capabilities or {}),
    commands = shown_here,
    settings = { gitmem = settings },
    init_options = { notifyChanges = true, settings = settings },
    handlers = { ['gitmem/changed'] = require('gitmem.status').on_changed },
    on_attach = function(client, bufnr)
      require('gitmem.status').refresh(bufnr)
      if options.on_attach then
        options.on_attach(client, bufnr)
      end
    end,
    on_exit = vim.schedule_wrap(function(code, signal)
      require('gitmem.status').forget()
      if code ~= 0 or signal ~= 0 then
        crashes = crashes + 1
        if crashes == most_crashes then
          vim.notify(('gitmem: the server stopped %d times by itself. :Gitmem log shows why, :Gitmem restart starts it.'):format(crashes), vim.log.levels.WARN)
        end
      end
    end),
    reuse_client = function(client, wanted)
      return client.name == wanted.name and not compat.stopped(client)
    end,
  }
end

--- Attach to a buffer when its repository can have something to show. Called for each file: it must cost next to nothing.
function M.attach_by_itself(bufnr)
  local root = find.buffer_root(bufnr)
  if root and crashes < most_crashes and require('gitmem.store').is_possible(root) then
    M.attach(bufnr)
  end
end

--- Attach to a buffer of a git repository; does nothing for any other. Returns the id of the client.
function M.attach(bufnr)
  bufnr = (bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr
  if compat.clients(bufnr)[1] then
    return compat.clients(bufnr)[1].id
  end
  local root = find.buffer_root(bufnr)
  if root == nil then
    return nil
  end
  local cmd, why = find.command()
  if cmd == nil then
    M.complain(why)
    return nil
  end
  return compat.start(M.config(root), bufnr)
end

--- Say once a session that the server is missing: every buffer would say so.
function M.complain(why)
  if not told then
    told = true
    vim.notify(('gitmem: %s %s'):format(why, find.how_to_install), vim.log.levels.WARN)
  end
end

--- Return the client of the current buffer, or nil after telling why there is none.
function M.current()
  local bufnr = vim.api.nvim_get_current_buf()
  M.attach(bufnr)
  local client = compat.clients(bufnr)[1]
  if client == nil then
    local root = find.buffer_root(bufnr)
    local _, why = find.command()
    local text = root == nil and 'this buffer is not a file of a git repository.' or why and (why .. ' ' .. find.how_to_install) or 'the server does not run; see :Gitmem log.'
    vim.notify('gitmem: ' .. text, vim.log.levels.WARN)
  end
  return client
end

--- Run a command of the server and hand its answer to a function; an answer of null or an error is not handed on. `none` is said for null.
function M.execute(command, arguments, done, client, bufnr, none)
  client = client or M.current()
  if client == nil then
    return
  end
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  compat.request(client, 'workspace/executeCommand', { command = command, arguments = arguments }, function(err, result)
    if err then
      vim.notify(('gitmem: %s'):format(err.message or vim.inspect(err)), vim.log.levels.ERROR)
      return
    end
    if done and result ~= nil and result ~= vim.NIL then
      done(result)
    elseif none then
      vim.notify(none)
    end
    if not reads[command] then
      require('gitmem.status').refresh(bufnr)
    end
  end, bufnr)
end

--- Run a command of the server and wait for its answer; nil when none came in time. For completion, which cannot wait otherwise.
function M.execute_sync(command, arguments, timeout)
  local client = compat.clients(vim.api.nvim_get_current_buf())[1]
  if client == nil then
    return nil
  end
  local answer
  compat.request(client, 'workspace/executeCommand', { command = command, arguments = arguments }, function(_, result)
    answer = result == nil and vim.NIL or result
  end, vim.api.nvim_get_current_buf())
  vim.wait(timeout or 1000, function()
    return answer ~= nil
  end, 10)
  return answer ~= vim.NIL and answer or nil
end

--- Stop the server, and start it again for all buffers that it served.
function M.restart()
  find.forget()
  told = false
  local buffers = {}
  local running = compat.clients()
  for _, client in ipairs(running) do
    for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
      if vim.lsp.buf_is_attached(bufnr, client.id) then
        table.insert(buffers, bufnr)
      end
    end
    compat.stop(client)
  end
  local function left()
    return vim.tbl_filter(function(client)
      return vim.lsp.get_client_by_id(client.id) ~= nil
    end, running)
  end
  local function gone()
    return #left() == 0
  end
  if not vim.wait(patience, gone, 20) then
    vim.tbl_map(compat.kill, left())
    vim.wait(patience, gone, 20)
  end
  crashes = 0
  if #running == 0 then
    M.current()
  end
  for _, bufnr in ipairs(buffers) do
    M.attach(bufnr)
  end
end

return M
