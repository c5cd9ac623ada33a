-- The server is not installed, then it is.
local D = dofile(os.getenv('GITMEM_DRIVER'))

D.main(function()
  for _ = 1, 5 do
    vim.cmd('doautocmd BufEnter')
  end
  D.out.asked = #vim.tbl_filter(function(line)
    return line:find('gitmem_lsp', 1, true) ~= nil -- Neovim itself asks it about other things
  end, vim.fn.readfile(os.getenv('GITMEM_ASKED')))
  assert((vim.uv or vim.loop).fs_symlink(os.getenv('GITMEM_SERVER'), os.getenv('GITMEM_TARGET')))
  vim.cmd('doautocmd BufEnter')
  D.wait('two diagnostics', D.shows({ 5, 10 }))
end)
