-- A repository without a store: nothing is loaded and nothing runs until there is one.
local D = dofile(os.getenv('GITMEM_DRIVER'))

D.main(function()
  D.out.loaded = package.loaded['vim.lsp'] ~= nil
  D.out.running = D.out.loaded and D.client() ~= nil
  D.out.added = vim.fn.system({ 'git-mem', 'add', '-k', 'gotcha', 'The first one', '--anchor', 'pay.py:5' })
  vim.cmd('doautocmd CursorHold')
  D.wait('the first gotcha', D.shows({ 5 }))
end)
