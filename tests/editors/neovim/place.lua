-- A file somewhere: its gotchas, the list, and a record that is opened to be edited.
local D = dofile(os.getenv('GITMEM_DRIVER'))

D.main(function()
  local file = vim.api.nvim_get_current_buf()
  D.wait('two diagnostics', D.shows({ 5, 10 }))
  local capabilities = D.client().config.capabilities
  D.out.capabilities = { (capabilities.workspace or {}).applyEdit == true, capabilities.textDocument.gitmemTest == true }
  for _, words in ipairs({ 'list', 'list all' }) do
    vim.fn.setqflist({}, 'r')
    vim.cmd('Gitmem ' .. words)
    D.wait('the list', function()
      return #vim.fn.getqflist() == 2
    end)
    D.out[words] = vim.tbl_map(function(item)
      return vim.api.nvim_buf_get_name(item.bufnr)
    end, vim.fn.getqflist())
    vim.cmd('cclose')
    vim.api.nvim_set_current_buf(file)
  end
  vim.api.nvim_win_set_cursor(0, { 10, 0 })
  vim.cmd('Gitmem edit')
  D.wait('the document', function()
    return vim.api.nvim_get_current_buf() ~= file and vim.fn.search('Lock before the refund', 'w') > 0
  end)
end)
