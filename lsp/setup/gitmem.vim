silent! packadd ale
if empty(globpath(&runtimepath, 'autoload/ale/linter.vim'))
  echomsg 'git mem: ALE is not installed; see the page about Vim'
  finish
endif

call ale#linter#Define('gitmem', {
\ 'name': 'gitmem',
\ 'lsp': 'stdio',
\ 'executable': 'git-mem-lsp',
\ 'command': '%e --stdio',
\ 'language': {buffer -> getbufvar(buffer, '&filetype')},
\ 'project_root': {buffer -> fnamemodify(finddir('.git', expand('#' .. buffer .. ':p:h') .. ';'), ':h')},
\ })

" beside the linters that the type of a file has
function! s:AddGitmem(type) abort
  let l:names = map(ale#linter#Get(a:type), {_, linter -> linter.name})
  let b:ale_linter_aliases = ale#linter#ResolveFiletype(a:type) + ['gitmem']
  let b:ale_linters = filter(l:names, {_, name -> name !=# 'gitmem'}) + ['gitmem']
endfunction

augroup gitmem
  autocmd!
  autocmd FileType * call s:AddGitmem(expand('<amatch>'))
augroup END

" all marks off, and on again: in this clone, in each editor
function! s:ToggleMarks() abort
  let l:config = 'git -C ' .. shellescape(expand('%:p:h')) .. ' config --type=bool'
  let l:off = system(l:config .. ' --get gitmem.editorMarks') =~# 'false'
  let l:answer = system(l:config .. ' gitmem.editorMarks ' .. (l:off ? 'true' : 'false'))
  if v:shell_error
    echohl ErrorMsg | echomsg 'git mem: the marks stay as they are: ' .. trim(l:answer) | echohl None
    return
  endif
  echo 'git mem: marks are ' .. (l:off ? 'on' : 'off')
endfunction
command! -bar GitmemToggle call s:ToggleMarks()
