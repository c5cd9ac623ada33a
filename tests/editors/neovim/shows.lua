-- Opens a file, looks at its gotchas, types, and resolves one by its code action.
local D = dofile(os.getenv('GITMEM_DRIVER'))

D.main(function()
  D.wait('two diagnostics', D.shows({ 5, 10 }))
  D.out.version = vim.api.nvim_exec('version', true)
  D.out.diagnostics = D.diagnostics()
  D.out.clients = #vim.tbl_filter(function(client)
    return client.name == 'gitmem'
  end, (vim.lsp.get_clients or vim.lsp.get_active_clients)())

  vim.api.nvim_win_set_cursor(0, { 5, 8 })
  local client = D.client()
  local hover = D.request('textDocument/hover', vim.lsp.util.make_position_params(0, client.offset_encoding))
  D.out.hover = hover and hover.contents and hover.contents.value

  vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# one', '# zwei é 😋' })
  D.wait('the diagnostics to follow the code', D.shows({ 7, 12 }))

  local at = { line = 6, character = 4 }
  local actions = D.request('textDocument/codeAction', {
    textDocument = vim.lsp.util.make_text_document_params(),
    range = { start = at, ['end'] = at },
    context = { diagnostics = {} },
  })
  D.out.actions = vim.tbl_map(function(action)
    return action.title
  end, actions or {})
  local resolve = assert(vim.tbl_filter(function(action)
    return action.title:match('^Resolve')
  end, actions or {})[1], 'no action resolves')
  D.request('workspace/executeCommand', resolve.command)
  D.wait('the resolved gotcha to go', D.shows({ 12 }))
end)
