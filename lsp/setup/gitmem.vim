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
