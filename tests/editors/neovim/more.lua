-- The rest of the subcommands of :Gitmem, each with what is seen of it.
local D = dofile(os.getenv('GITMEM_DRIVER'))

local said = {}
vim.notify = function(text)
  table.insert(said, text)
end

local function wait_said(what)
  D.wait('the message ' .. what .. ' among ' .. vim.inspect(said), function()
    return #vim.tbl_filter(function(text)
      return text:find(what, 1, true) ~= nil
    end, said) > 0
  end)
end

local function wait_document(file, text)
  D.wait('a document with ' .. text, function()
    return vim.api.nvim_get_current_buf() ~= file and vim.fn.search('\\V' .. text, 'w') > 0
  end)
end

D.main(function()
  local file = vim.api.nvim_get_current_buf()
  D.wait('two diagnostics', D.shows({ 5, 10 }))

  vim.api.nvim_win_set_cursor(0, { 10, 0 })
  vim.cmd('Gitmem verify')
  wait_said('confirmed')
  vim.cmd('Gitmem pin')
  wait_said(': pinned')
  vim.cmd('Gitmem unpin')
  wait_said('not pinned')

  local id = vim.fn.getcompletion('Gitmem snooze ', 'cmdline')[1]
  vim.cmd('Gitmem snooze ' .. id)
  wait_said('snoozed')
  D.wait('the snoozed gotcha to go', function()
    return #D.lines() == 1
  end)
  local snoozed = vim.fn.getcompletion('Gitmem unsnooze ', 'cmdline')
  assert(#snoozed == 1 and snoozed[1] == id, 'only what is snoozed is offered')
  vim.cmd('Gitmem unsnooze ' .. id)
  wait_said('shown again')
  D.wait('it to come back', D.shows({ 5, 10 }))

  -- reanchor: the gotcha of line 5 is about lines 1 and 2 from now on
  id = vim.tbl_filter(function(item)
    return item.lnum == 4
  end, vim.diagnostic.get(0))[1].user_data.lsp.code
  vim.cmd('1,2Gitmem reanchor ' .. id)
  wait_said('anchored here')
  D.wait('it at its new place', D.shows({ 1, 10 }))

  vim.cmd('Gitmem list all window')
  D.wait('the list', function()
    return #vim.fn.getloclist(0) == 2
  end)
  vim.cmd('lclose')
  vim.api.nvim_set_current_buf(file)

  vim.api.nvim_win_set_cursor(0, { 10, 4 })
  vim.cmd('Gitmem timeline')
  wait_document(file, 'Lock before the refund')
  vim.cmd('silent only')
  vim.api.nvim_set_current_buf(file)

  -- why: a page about the lines of a range
  vim.cmd('1,2Gitmem why')
  wait_document(file, 'is as it is')
  vim.cmd('silent only')
  vim.api.nvim_set_current_buf(file)

  -- code: who uses this file, in the location list
  vim.cmd('Gitmem code')
  wait_said('used by 1 file, rank 1 of')
  D.out.users = vim.tbl_map(function(item)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ':t')
  end, vim.fn.getloclist(0))
  vim.cmd('lclose')
  vim.cmd('edit notes.txt')
  vim.cmd('Gitmem code')
  wait_said('nothing is known of this file')
  vim.api.nvim_set_current_buf(file)

  -- draft: a document; saving it records
  vim.cmd('6Gitmem draft')
  wait_document(file, 'pay.py:6')
  vim.fn.search('^#')
  vim.api.nvim_set_current_line('# Rounds down')
  vim.cmd('silent write')
  vim.api.nvim_set_current_buf(file)
  D.wait('the recorded gotcha', D.shows({ 1, 6, 10 }))

  -- restart: another server, and everything is there again
  local before = D.client().id
  vim.cmd('Gitmem restart')
  D.wait('another client', function()
    return D.client() ~= nil and D.client().id ~= before
  end)
  D.wait('its diagnostics', D.shows({ 1, 6, 10 }))
  vim.cmd('Gitmem log')
  D.out.log = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':t')
end)
