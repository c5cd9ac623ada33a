-- Two repositories in one session: what is about the second is told of the second.
local D = dofile(os.getenv('GITMEM_DRIVER'))

D.main(function()
  D.wait('the gotchas of the first', D.shows({ 5, 10 }))
  vim.cmd('edit ' .. vim.fn.fnameescape(os.getenv('GITMEM_SECOND')))
  D.wait('the gotcha of the second', D.shows({ 1 }))
  vim.cmd('Gitmem list all')
  D.wait('the list', function()
    return #vim.fn.getqflist() > 0
  end)
  D.out.list = vim.tbl_map(function(item)
    return { vim.api.nvim_buf_get_name(item.bufnr), item.text:match('^%S+ (.*)$') }
  end, vim.fn.getqflist())
end)
