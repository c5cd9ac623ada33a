if vim.g.loaded_gitmem or vim.fn.has('nvim-0.7') == 0 then
  return
end
vim.g.loaded_gitmem = true

vim.api.nvim_create_user_command('Gitmem', function(call)
  require('gitmem.commands').run(call)
end, {
  nargs = '*',
  range = true,
  desc = 'Gotchas of this file: record, resolve, list, ...',
  complete = function(lead, line)
    return require('gitmem.commands').complete(lead, line)
  end,
})

local group = vim.api.nvim_create_augroup('gitmem', { clear = true })
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufWritePost', 'FileType' }, {
  group = group,
  desc = 'Show the gotchas of a file in a git repository',
  callback = function(event)
    if require('gitmem.config').options.autostart then
      require('gitmem.client').attach(event.buf)
    end
  end,
})

-- what a code lens names, shown in a list or a window of ours
for _, name in ipairs({ 'gitmem.report', 'gitmem.list' }) do
  vim.lsp.commands[name] = vim.lsp.commands[name] or function()
    vim.cmd('Gitmem list')
  end
end
vim.lsp.commands['gitmem.show'] = vim.lsp.commands['gitmem.show'] or function(command)
  vim.cmd('Gitmem show ' .. tostring((command.arguments or {})[1] or ''))
end

for _, name in ipairs({ 'resolve', 'snooze', 'edit', 'show', 'list', 'timeline', 'status' }) do
  vim.keymap.set('n', ('<Plug>(gitmem-%s)'):format(name), ('<Cmd>Gitmem %s<CR>'):format(name))
end
vim.keymap.set({ 'n', 'x' }, '<Plug>(gitmem-record)', ':Gitmem record<CR>', { silent = true })
