" Looks at what the set-up of docs/editors/vim.md shows in a file, and sets nothing: writes it to $GITMEM_OUT as JSON.
function! s:Ours() abort
  let l:ours = filter(copy(ale#engine#GetLoclist(bufnr(''))), {_, d -> d.linter_name ==# 'gitmem'})
  return map(l:ours, {_, d -> [d.lnum, d.text]})
endfunction

function! s:Signs() abort
  return map(copy(sign_getplaced('%', {'group': '*'})[0].signs), {_, s -> s.lnum})
endfunction

function! s:Wait(what, condition) abort
  let l:start = reltime()
  while !a:condition()
    if reltimefloat(reltime(l:start)) > 30.0
      throw 'waited in vain: ' .. a:what .. '; there are ' .. string(s:Ours()) .. '; messages: ' .. execute('messages')
    endif
    sleep 20m
  endwhile
endfunction

let s:told = {}
try
  call s:Wait('the gotcha', {-> !empty(s:Ours()) && !empty(s:Signs())})
  let s:told.marks = s:Ours()
  let s:told.signs = s:Signs()
  ALENextWrap
  let s:told.next = line('.')
  GitmemToggle
  call s:Wait('nothing to be marked', {-> empty(s:Ours()) && empty(s:Signs())})
  GitmemToggle
  call s:Wait('the gotcha again', {-> !empty(s:Ours())})
catch
  let s:told.failed = v:exception .. ' at ' .. v:throwpoint
endtry
call writefile([json_encode(s:told)], $GITMEM_OUT)
qall!
