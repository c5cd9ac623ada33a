-- Goes through the subcommands of :Gitmem as a person would.
local D = dofile(os.getenv('GITMEM_DRIVER'))

local said = {}
vim.notify = function(text)
  table.insert(said, text)
end

local function wait_said(what)
  D.wait('the message ' .. what, function()
    for _, text in ipairs(said) do
      if text:find(what, 1, true) then
        return true
      end
    end
    return false
  end)
end

local function quickfix()
  return vim.tbl_map(function(item)
    return { line = item.lnum, text = item.text, file = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ':t') }
  end, vim.fn.getqflist())
end

D.main(function()
  local file = vim.api.nvim_get_current_buf()
  D.wait('two diagnostics', D.shows({ 5, 10 }))
  D.wait('the status line', function()
    return require('gitmem').statusline() == 'mem 2'
  end)

  -- record: the title is asked for, the place is the range
  vim.ui.input = function(options, done)
    D.out.prompt = options.prompt
    done('An order may be None')
  end
  vim.cmd('9,9Gitmem record')
  wait_said('recorded')
  D.wait('the new gotcha', D.shows({ 5, 9, 10 }))
  D.wait('the status line to count it', function()
    return require('gitmem').statusline() == 'mem 3'
  end)

  vim.cmd('Gitmem list')
  D.wait('the list', function()
    return #vim.fn.getqflist() == 3
  end)
  D.out.list = quickfix()
  vim.cmd('cclose')
  vim.api.nvim_set_current_buf(file)

  -- show: the record of the cursor's line, in a window of its own
  vim.api.nvim_win_set_cursor(0, { 10, 0 })
  vim.cmd('Gitmem show')
  D.wait('the floating window', function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        D.out.float = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
        vim.api.nvim_win_close(window, true)
        return true
      end
    end
    return false
  end)

  D.out.complete = { vim.fn.getcompletion('Gitmem re', 'cmdline'), vim.fn.getcompletion('Gitmem resolve ', 'cmdline') }

  vim.api.nvim_win_set_cursor(0, { 5, 0 })
  vim.cmd('Gitmem resolve')
  wait_said('resolved')
  D.wait('the resolved gotcha to go', D.shows({ 9, 10 }))
  vim.cmd('Gitmem reopen')
  wait_said('reopened')
  D.wait('the reopened gotcha to come', D.shows({ 5, 9, 10 }))
  vim.api.nvim_win_set_cursor(0, { 10, 0 })
  vim.cmd('Gitmem snooze 3d')
  wait_said('snoozed')
  D.wait('the snoozed gotcha to go', D.shows({ 5, 9 }))
  vim.cmd('Gitmem status')
  wait_said('1 snoozed')

  -- edit: a document of its own; saving it changes the record
  vim.api.nvim_win_set_cursor(0, { 9, 0 })
  vim.cmd('Gitmem edit')
  D.wait('the document', function()
    return vim.api.nvim_get_current_buf() ~= file and vim.fn.search('An order may be None', 'w') > 0
  end)
  vim.cmd('%s/An order may be None/An order is None after a timeout/')
  vim.cmd('silent write')
  vim.cmd('wincmd p')
  vim.api.nvim_set_current_buf(file)
  D.wait('the new title', function()
    return vim.deep_equal(vim.tbl_map(function(diagnostic)
      return diagnostic.message
    end, vim.tbl_filter(function(diagnostic)
      return diagnostic.line == 9
    end, D.diagnostics())), { 'An order is None after a timeout' })
  end)
  D.out.said = said
end)
