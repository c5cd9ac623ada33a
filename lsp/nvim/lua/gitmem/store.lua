--- Whether a repository can have something to show, by a look at its files: one that has no store costs no server.
local M = {}
local uv = vim.uv or vim.loop

local function read(path)
  local file = io.open(path, 'rb')
  if file == nil then
    return nil
  end
  local text = file:read('*a')
  file:close()
  return text
end

local function join(folder, path)
  return path:match('^/') and path or path:match('^%a:[/\\]') and path or folder .. '/' .. path
end

--- Return the folder that holds the refs of the repository of a work tree: `.git`, or what a linked worktree or a submodule names.
function M.common_dir(root)
  local dir = root .. '/.git'
  local stat = uv.fs_stat(dir)
  if stat and stat.type == 'file' then
    local named = (read(dir) or ''):match('^gitdir: *([^\r\n]+)')
    if named == nil then
      return nil
    end
    dir = join(root, named)
  end
  local common = (read(dir .. '/commondir') or ''):match('^([^\r\n]+)')
  return common and join(dir, common) or dir
end

local packed = {} -- by path: when the file was read, and whether it named a store

local function is_packed(path)
  local stat = uv.fs_stat(path)
  if stat == nil then
    return false
  end
  local stamp = ('%d.%d.%d'):format(stat.mtime.sec, stat.mtime.nsec, stat.size)
  if packed[path] == nil or packed[path].stamp ~= stamp then
    packed[path] = { stamp = stamp, found = (read(path) or ''):find(' refs/gitmem/', 1, true) ~= nil }
  end
  return packed[path].found
end

--- Say whether a store may be there: the repository's, or the user's own, which is for all repositories.
function M.is_possible(root)
  local data = os.getenv('XDG_DATA_HOME')
  data = data ~= nil and data ~= '' and data or (uv.os_homedir() .. '/.local/share')
  if uv.fs_stat(data .. '/gitmem/user.git') then
    return true
  end
  local dir = M.common_dir(root)
  if dir == nil then
    return false
  end
  -- what is in a reftable only git can read
  return uv.fs_stat(dir .. '/refs/gitmem') ~= nil or uv.fs_stat(dir .. '/reftable') ~= nil or is_packed(dir .. '/packed-refs')
end

return M
