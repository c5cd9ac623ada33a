-- What the drivers of Neovim share: waiting without fixed sleeps, writing down what was seen.
local D = { out = {} }

-- A deadline, not a pace: each wait ends as soon as what it waits for is there.
D.patience = 30000

function D.wait(what, condition)
  if not vim.wait(D.patience, condition, 20) then
    error('waited in vain: ' .. what .. '; there is ' .. vim.inspect(D.diagnostics()) .. '; messages: ' .. vim.api.nvim_exec('messages', true), 0)
  end
end

function D.client()
  for _, client in ipairs((vim.lsp.get_clients or vim.lsp.get_active_clients)()) do
    if client.name == 'gitmem' then
      return client
    end
  end
end

function D.diagnostics()
  local found = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, { line = diagnostic.lnum + 1, message = diagnostic.message, severity = diagnostic.severity, source = diagnostic.source })
  end
  table.sort(found, function(a, b)
    return a.line < b.line
  end)
  return found
end

function D.lines()
  return vim.tbl_map(function(diagnostic)
    return diagnostic.line
  end, D.diagnostics())
end

function D.shows(lines)
  return function()
    return vim.deep_equal(D.lines(), lines)
  end
end

function D.request(method, params)
  local answers, why = vim.lsp.buf_request_sync(0, method, params, D.patience)
  for _, answer in pairs(answers or {}) do
    if answer.result ~= nil then
      return answer.result
    end
    why = answer.error and answer.error.message or why
  end
  return nil, why
end

-- Run a driver; whatever happens, Neovim ends, and with an exit code that says how.
function D.main(body)
  local ok, why = xpcall(function()
    body()
    local file = assert(io.open(os.getenv('GITMEM_OUT'), 'w'))
    file:write(vim.fn.json_encode(D.out))
    file:close()
  end, debug.traceback)
  if not ok then
    io.stderr:write(tostring(why) .. '\n')
    vim.cmd('cquit 1')
  end
  vim.cmd('qall!')
end

return D
