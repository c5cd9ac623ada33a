;;; beside.el --- eglot and the notes of flymake in one buffer  -*- lexical-binding: t -*-

;; emacs --batch -Q -l beside.el FILE, with both set-ups of docs/editors/emacs.md: writes the lines that each marks.
(when (file-directory-p "/usr/share/emacs/site-lisp/elpa")
  (let ((default-directory "/usr/share/emacs/site-lisp/elpa")) (normal-top-level-add-subdirs-to-load-path)))
(require 'eglot)
(require 'json)
(load (getenv "GITMEM_SETUP") nil t)
(setq eglot-sync-connect 30 eglot-connect-timeout 30)

(defun lines-of (backend)
  (sort (mapcar (lambda (d) (line-number-at-pos (flymake-diagnostic-beg d)))
                (seq-filter (lambda (d) (eq (flymake-diagnostic-backend d) backend)) (flymake-diagnostics)))
        #'<))

(find-file (car command-line-args-left))
(apply #'eglot--connect (eglot--guess-contact))
(let ((end (+ (float-time) 30)))
  (flymake-start)
  (while (and (< (float-time) end) (not (and (lines-of 'eglot-flymake-backend) (lines-of 'gitmem-flymake))))
    (accept-process-output nil 0.02)))
(let ((seen (list (cons 'eglot (vconcat (lines-of 'eglot-flymake-backend)))
                  (cons 'notes (vconcat (lines-of 'gitmem-flymake))))))
  (with-temp-file (getenv "GITMEM_OUT") (insert (json-encode seen))))
(set-buffer-modified-p nil)
(eglot-shutdown (eglot--current-server-or-lose))
(kill-emacs 0)
