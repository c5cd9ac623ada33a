-- A server that ends, and one that does not when it is asked to.
local D = dofile(os.getenv('GITMEM_DRIVER'))

local said = {}
vim.notify = function(text)
  table.insert(said, text)
end

local function starts()
  return #vim.fn.readfile(os.getenv('GITMEM_STARTS'))
end

D.main(function()
  if os.getenv('GITMEM_HOW') == 'stubborn' then
    D.wait('the server', function()
      return D.client() ~= nil and D.client().initialized
    end)
    local before = D.client().id
    vim.cmd('Gitmem restart')
    D.wait('another server', function()
      return D.client() ~= nil and D.client().id ~= before and starts() == 2
    end)
  elseif os.getenv('GITMEM_HOW') == 'killed' then
    D.wait('the status line', function()
      return require('gitmem').statusline() == 'mem 2'
    end)
    vim.fn.system({ 'kill', '-9', vim.trim(vim.fn.readfile(os.getenv('GITMEM_STARTS'))[1]) })
    D.wait('an empty status line', function()
      return require('gitmem').statusline() == ''
    end)
  else -- it ends at once, each time
    D.wait('the message', function()
      vim.cmd('doautocmd CursorHold')
      return #said > 0 and D.client() == nil
    end)
    for _ = 1, 5 do -- it must not start again: there is nothing to wait for
      vim.cmd('doautocmd CursorHold')
      vim.wait(50)
    end
  end
  D.out.starts = starts()
  D.out.said = said
end)
