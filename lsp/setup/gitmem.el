(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((python-mode text-mode conf-mode sh-mode) . ("git-mem-lsp" "--stdio"))))
