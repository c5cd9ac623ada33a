--- The places where the client API of Neovim 0.7 to 0.9 and of today differ.
local M = {}

local methods = vim.fn.has('nvim-0.11') == 1

local started

--- Return the clients of this plugin that run or start, of one buffer when it is given.
function M.clients(bufnr)
  local all = (vim.lsp.get_clients or vim.lsp.get_active_clients)()
  local own = started and vim.lsp.get_client_by_id(started)
  if own and not vim.tbl_contains(vim.tbl_map(function(client)
    return client.id
  end, all), own.id) then
    table.insert(all, own) -- one that is not initialized is in no list
  end
  return vim.tbl_filter(function(client)
    if client.name ~= 'gitmem' or M.stopped(client) then
      return false
    end
    return bufnr == nil or vim.lsp.buf_is_attached(bufnr, client.id)
  end, all)
end

function M.stopped(client)
  if methods then
    return client:is_stopped()
  end
  return client.is_stopped()
end

function M.request(client, method, params, handler, bufnr)
  if methods then
    return client:request(method, params, handler, bufnr)
  end
  return client.request(method, params, handler, bufnr)
end

function M.notify(client, method, params)
  if methods then
    return client:notify(method, params)
  end
  return client.notify(method, params)
end

function M.stop(client)
  if methods then
    return client:stop()
  end
  return client.stop()
end

--- End a server that was asked to stop and did not.
function M.kill(client)
  if methods then
    return client.rpc.terminate() -- `stop(true)` does nothing for a client that is stopping
  end
  return client.stop(true)
end

--- Attach a buffer to the client that runs, or to a new one; returns its id. `vim.lsp.start` is there since 0.8.
function M.start(config, bufnr)
  local running = M.clients()[1]
  local id = running and running.id
  if id == nil and vim.lsp.start then
    id = vim.lsp.start(config, { bufnr = bufnr, reuse_client = config.reuse_client })
  elseif id == nil then
    id = vim.lsp.start_client(config)
  end
  started = id
  if id and not vim.lsp.buf_is_attached(bufnr, id) then
    vim.lsp.buf_attach_client(bufnr, id)
  end
  return id
end

--- Where Neovim writes what language servers say on standard error.
function M.log_path()
  if vim.lsp.log and vim.lsp.log.get_filename then
    return vim.lsp.log.get_filename()
  end
  return vim.lsp.get_log_path()
end

return M
