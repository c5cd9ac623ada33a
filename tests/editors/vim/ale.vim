" Drives ALE on a file with gotchas; writes what it saw to $GITMEM_OUT as JSON. The set-up is the one of docs/editors/vim.md.
set nocompatible
packadd ale
execute 'source ' .. fnameescape($GITMEM_SETUP)
let g:ale_lint_delay = 50
let g:ale_echo_cursor = 0
let g:ale_hover_to_preview = 1
filetype plugin on
let s:told = {}
let s:patience = 30.0

" what a person types when ALE asks which of the code actions it is
runtime autoload/ale/util.vim
function! ale#util#Input(message, value, ...) abort
  let s:told.actions = a:message
  return matchstr(a:message, '\v\d+\ze\) Resolve gotcha')
endfunction

function! s:Shown() abort
  let l:ours = filter(copy(ale#engine#GetLoclist(bufnr(''))), {_, d -> d.linter_name ==# 'gitmem'})
  return map(l:ours, {_, d -> [d.lnum, d.type, d.text]})
endfunction

function! s:Lines() abort
  return sort(map(s:Shown(), {_, d -> d[0]}), 'n')
endfunction

function! s:Wait(what, lines) abort
  let l:start = reltime()
  while s:Lines() != a:lines
    if reltimefloat(reltime(l:start)) > s:patience
      throw 'waited in vain: ' .. a:what .. '; there are ' .. string(s:Shown())
    endif
    sleep 20m
  endwhile
endfunction

function! s:Hover() abort
  ALEHover
  let l:start = reltime()
  while reltimefloat(reltime(l:start)) < s:patience
    for l:window in range(1, winnr('$'))
      if getwinvar(l:window, '&previewwindow')
        return join(getbufline(winbufnr(l:window), 1, '$'), "\n")
      endif
    endfor
    sleep 20m
  endwhile
  throw 'waited in vain for the hover'
endfunction

function! s:Drive() abort
  execute 'silent edit ' .. fnameescape($GITMEM_FILE)
  call s:Wait('two diagnostics', [5, 10])
  let s:told.diagnostics = sort(s:Shown(), {a, b -> a[0] - b[0]})
  call cursor(5, 9)
  let s:told.hover = s:Hover()
  pclose
  call append(0, ['# one', '# zwei é 😋'])
  ALELint
  call s:Wait('the diagnostics to follow the code', [7, 12])
  call cursor(7, 9)
  ALECodeAction
  call s:Wait('the resolved gotcha to go', [12])
endfunction

let s:failed = 0
try
  call s:Drive()
catch
  let s:told.failed = v:exception .. ' at ' .. v:throwpoint
  let s:failed = 1
endtry
call writefile([json_encode(s:told)], $GITMEM_OUT)
if s:failed
  cquit
endif
qall!
