;;; eglot.el --- drives eglot on a file with gotchas  -*- lexical-binding: t -*-

;; emacs --batch -Q -l eglot.el FILE: writes what it saw to $GITMEM_OUT as JSON. The set-up is the one of docs/editors/emacs.md.

(when (file-directory-p "/usr/share/emacs/site-lisp/elpa")
  (let ((default-directory "/usr/share/emacs/site-lisp/elpa")) (normal-top-level-add-subdirs-to-load-path)))
(require 'eglot)
(require 'json)

(load (getenv "GITMEM_SETUP") nil t)

(defvar told nil "What was seen, as an alist.")
(defvar patience 30 "A deadline in seconds, not a pace.")
(setq eglot-sync-connect patience
      eglot-connect-timeout patience
      eglot-autoshutdown t
      eglot-send-changes-idle-time 0.1
      flymake-no-changes-timeout 0.1)

(defun tell (name value) (push (cons name value) told))

(defun wait-for (what condition)
  "Wait until CONDITION holds; WHAT is for the error."
  (let ((end (+ (float-time) patience)))
    (while (and (not (funcall condition)) (< (float-time) end))
      (accept-process-output nil 0.02))
    (or (funcall condition) (error "Waited in vain: %s; there are %S" what (shown)))))

(defun shown ()
  "The diagnostics as (line type text), by line."
  (sort (mapcar (lambda (d)
                  (list (line-number-at-pos (flymake-diagnostic-beg d)) (format "%s" (flymake-diagnostic-type d)) (flymake-diagnostic-text d)))
                (flymake-diagnostics))
        (lambda (a b) (< (car a) (car b)))))

(defun lines () (mapcar #'car (shown)))

(defun go-to (line) (goto-char (point-min)) (forward-line (1- line)))

(defun ask (method params) (jsonrpc-request (eglot--current-server-or-lose) method params :timeout patience))

(defun drive ()
  (find-file (car command-line-args-left))
  (apply #'eglot--connect (eglot--guess-contact))
  (wait-for "two diagnostics" (lambda () (equal (lines) '(5 10))))
  (tell 'diagnostics (vconcat (mapcar #'vconcat (shown))))
  (go-to 5)
  (forward-char 8)
  (let ((hover (ask :textDocument/hover (eglot--TextDocumentPositionParams))))
    (tell 'hover (let ((contents (plist-get hover :contents))) (if (stringp contents) contents (plist-get contents :value)))))
  (goto-char (point-min))
  (insert "# one\n# zwei é 😋\n")
  (eglot--signal-textDocument/didChange)
  (wait-for "the diagnostics to follow the code" (lambda () (equal (lines) '(7 12))))
  (go-to 7)
  (let* ((actions (eglot-code-actions (line-beginning-position) (line-end-position)))
         (resolve (seq-find (lambda (action) (string-prefix-p "Resolve" (plist-get action :title))) actions))
         (command (plist-get resolve :command)))
    (tell 'actions (vconcat (mapcar (lambda (action) (plist-get action :title)) actions)))
    (eglot-execute-command (eglot--current-server-or-lose) (plist-get command :command) (plist-get command :arguments)))
  (wait-for "the resolved gotcha to go" (lambda () (equal (lines) '(12))))
  (set-buffer-modified-p nil)
  (eglot-shutdown (eglot--current-server-or-lose)))

(let ((result 0))
  (condition-case problem
      (drive)
    (error (message "%s" (error-message-string problem)) (setq result 1)))
  (with-temp-file (getenv "GITMEM_OUT") (insert (json-encode (or told (list (cons 'nothing t))))))
  (kill-emacs result))
