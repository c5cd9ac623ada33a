-- All marks off and on, the text behind the cursor's line, and going from gotcha to gotcha.
local D = dofile(os.getenv('GITMEM_DRIVER'))

local said = {}
vim.notify = function(text)
  table.insert(said, text)
end

--- The signs of diagnostics, by line: signs before 0.10, extmarks since.
local function signs()
  local out = {}
  if vim.fn.has('nvim-0.10') == 1 then
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { type = 'sign' })) do
      table.insert(out, mark[2] + 1)
    end
  else
    for _, placed in ipairs(vim.fn.sign_getplaced('%', { group = '*' })[1].signs) do
      table.insert(out, placed.lnum)
    end
  end
  table.sort(out)
  return out
end

--- What is written behind lines: { line, text }.
local function behind()
  local out = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('gitmem-line'), 0, -1, { details = true })) do
    table.insert(out, { mark[2] + 1, mark[4].virt_text[1][1] })
  end
  return out
end

local function at(line)
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  vim.cmd('doautocmd CursorMoved')
  return behind()
end

local function step(word)
  vim.cmd('Gitmem ' .. word)
  return vim.api.nvim_win_get_cursor(0)[1]
end

D.main(function()
  D.wait('two diagnostics', D.shows({ 5, 10 }))
  D.wait('two signs', function()
    return vim.deep_equal(signs(), { 5, 10 })
  end)

  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  D.out.steps = { step('next'), step('next'), step('next'), step('previous'), step('previous') }
  vim.keymap.set('n', ']g', '<Plug>(gitmem-next)')
  vim.cmd('normal ]g')
  table.insert(D.out.steps, vim.api.nvim_win_get_cursor(0)[1])

  D.out.unasked = at(5)
  vim.cmd('Gitmem line')
  D.out.behind = { at(5), at(6), at(10) }
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# one' }) -- before the server has said anything of it
  D.out.typed = { at(5), at(6) }
  vim.cmd('Gitmem line')
  D.out.ended = at(6)
  vim.cmd('undo')
  D.wait('the old places', D.shows({ 5, 10 }))

  D.wait('the status line', function()
    return require('gitmem').statusline() == 'mem 2'
  end)
  vim.cmd('Gitmem line')
  vim.cmd('Gitmem toggle')
  D.wait('nothing to be shown', D.shows({}))
  D.out.off = { signs(), at(5), D.request('textDocument/codeLens', { textDocument = vim.lsp.util.make_text_document_params() }) or {}, require('gitmem').statusline() }
  vim.cmd('Gitmem next')
  vim.cmd('Gitmem toggle')
  D.wait('everything again', D.shows({ 5, 10 }))
  D.out.on = { #at(5), require('gitmem').statusline() }

  -- git's configuration has them off: the first toggle shows them
  vim.fn.system({ 'git', 'config', 'gitmem.editorMarks', 'false' })
  vim.cmd('Gitmem restart')
  require('gitmem.config').options.settings = {}
  vim.cmd('Gitmem restart')
  D.wait('nothing to be shown', D.shows({}))
  vim.cmd('Gitmem toggle')
  D.wait('everything again', D.shows({ 5, 10 }))

  -- the whole repository: by file and line, with what is about code or snoozed, and what is about no file
  vim.fn.system({ 'git-mem', 'add', '-k', 'gotcha', 'Deploys take an hour' })
  vim.fn.system({ 'git-mem', 'add', '-k', 'memory', '-t', 'decision', 'Money is decimal', '--anchor', 'pay.py:1' })
  vim.api.nvim_win_set_cursor(0, { 10, 0 })
  vim.cmd('Gitmem snooze')
  D.wait('the snoozed one to go', D.shows({ 5 }))
  vim.cmd('Gitmem list all')
  D.wait('the list', function()
    return #vim.fn.getqflist() == 4
  end)
  D.out.all = vim.tbl_map(function(item)
    return { vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ':t'), item.lnum, item.text:match('^%S+ (.*)$') }
  end, vim.fn.getqflist())

  -- a file that git keeps is none of the work tree
  vim.cmd('edit .git/COMMIT_EDITMSG')
  require('gitmem.client').attach(0)
  local before = #said
  vim.cmd('Gitmem toggle')
  D.wait('a word about the toggle', function()
    return #said > before
  end)
  vim.cmd('Gitmem status')
  D.wait('a word about the status', function()
    return #said > before + 1
  end)
  D.out.foreign = { said[before + 1], said[before + 2] }
  D.out.said = said
end)
