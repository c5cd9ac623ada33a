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
-- the later ones are for a store that another program makes while the file is open
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufWritePost', 'FileType', 'BufEnter', 'CursorHold', 'FocusGained' }, {
  group = group,
  desc = 'Show the gotchas of a file in a git repository',
  callback = function(event)
    if require('gitmem.config').options.autostart then
      require('gitmem.client').attach_by_itself(event.buf)
    end
  end,
})

for _, name in ipairs({ 'resolve', 'snooze', 'edit', 'show', 'list', 'timeline', 'why', 'status', 'toggle', 'line', 'next', 'previous' }) do
  vim.keymap.set('n', ('<Plug>(gitmem-%s)'):format(name), ('<Cmd>Gitmem %s<CR>'):format(name))
end
vim.keymap.set({ 'n', 'x' }, '<Plug>(gitmem-record)', ':Gitmem record<CR>', { silent = true })
