--- `:checkhealth gitmem`
local M = {}

local health = vim.health or require('health')
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local warn = health.warn or health.report_warn
local fail = health.error or health.report_error
local info = health.info or health.report_info

--- Return the first line that a program prints, or nil when it fails.
local function first_line(command)
  local out = vim.fn.systemlist(command)
  return vim.v.shell_error == 0 and out[1] or nil
end

local function check_programs(find)
  if vim.fn.executable('git') == 1 then
    ok(first_line({ 'git', '--version' }) or 'git')
  else
    fail('git is not on the PATH.')
  end
  local cmd, why = find.command()
  if cmd == nil then
    fail(why, { 'Install git-mem and have `git-mem-lsp` on the PATH that Neovim sees.', 'Or name it: require("gitmem").setup{ cmd = { "/full/path/git-mem-lsp", "--stdio" } }', ':help gitmem-install' })
    return
  end
  local asked = vim.list_extend({}, cmd)
  if asked[#asked] == '--stdio' then
    asked[#asked] = nil
  end
  table.insert(asked, '--version')
  local version = first_line(asked)
  if version then
    ok(('%s: %s'):format(version, table.concat(cmd, ' ')))
  else
    fail(('`%s` does not run.'):format(table.concat(asked, ' ')))
  end
end

function M.check()
  local compat, find = require('gitmem.compat'), require('gitmem.find')
  start('gitmem')
  if vim.fn.has('nvim-0.7') == 1 then
    ok('Neovim is 0.7 or newer.')
  else
    fail('Neovim 0.7 or newer is needed.')
  end
  check_programs(find)
  local clients = compat.clients()
  if #clients == 0 then
    info('The server does not run yet: it starts with the first file of a repository that has a store, or with :Gitmem.')
  end
  local root = find.root(vim.fn.getcwd() .. '/.')
  if root and not require('gitmem.store').is_possible(root) then
    info(('%s has no store yet: the first :Gitmem record makes one.'):format(root))
  end
  for _, client in ipairs(clients) do
    local buffers = vim.tbl_filter(function(bufnr)
      return vim.lsp.buf_is_attached(bufnr, client.id)
    end, vim.api.nvim_list_bufs())
    ok(('The server runs for %d buffer%s.'):format(#buffers, #buffers == 1 and '' or 's'))
    local provider = client.server_capabilities.executeCommandProvider
    if not (provider and vim.tbl_contains(provider.commands or {}, 'gitmem.list')) then
      warn('This server is older than the plugin: some subcommands of :Gitmem will not work.')
    end
  end
end

return M
