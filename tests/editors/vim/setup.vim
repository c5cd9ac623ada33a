for s:type in ['python']
  call ale#linter#Define(s:type, {
  \ 'name': 'gitmem',
  \ 'lsp': 'stdio',
  \ 'executable': 'git-mem-lsp',
  \ 'command': '%e --stdio',
  \ 'project_root': {buffer -> fnamemodify(finddir('.git', expand('#' .. buffer .. ':p:h') .. ';'), ':h')},
  \ })
endfor
