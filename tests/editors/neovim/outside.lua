-- In files that are of no repository, or when the server is missing, nothing runs and nothing is in the way.
local D = dofile(os.getenv('GITMEM_DRIVER'))

local said = {}
vim.notify = function(text)
  table.insert(said, text)
end

D.main(function()
  vim.cmd('edit again.txt')
  vim.cmd('Gitmem list')
  vim.cmd('checkhealth gitmem')
  D.out.health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  D.out.messages = vim.api.nvim_exec('messages', true)
  D.out.running = D.client() ~= nil
  D.out.said = said
end)
