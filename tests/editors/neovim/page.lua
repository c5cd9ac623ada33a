-- Looks at what the set-up of docs/editors/neovim.md shows in a file; it sets nothing.
local D = dofile(os.getenv('GITMEM_DRIVER'))

D.main(function()
  D.wait('the gotcha', function()
    return #D.diagnostics() > 0
  end)
  D.out.marks = vim.tbl_map(function(diagnostic)
    return { diagnostic.line, diagnostic.message }
  end, D.diagnostics())
  vim.cmd('Gitmem next')
  D.out.next = vim.api.nvim_win_get_cursor(0)[1]
end)
