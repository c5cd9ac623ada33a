;;; page.el --- looks at what the set-up of docs/editors/emacs.md shows in a file  -*- lexical-binding: t -*-

;; It sets nothing; what it saw goes to $GITMEM_OUT as JSON. It looks between commands, as flymake starts after one.
(require 'json)
(require 'flymake)

(defvar told nil "What was seen, as an alist.")

(defun notes ()
  (mapcar (lambda (d) (vector (line-number-at-pos (flymake-diagnostic-beg d)) (flymake-diagnostic-text d)))
          (flymake-diagnostics)))

(defun end ()
  (with-temp-file (getenv "GITMEM_OUT") (insert (json-encode told)))
  (set-buffer-modified-p nil)
  (kill-emacs 0))

(defvar steps
  (list
   (cons #'notes
         (lambda ()
           (push (cons 'marks (vconcat (notes))) told)
           (push (cons 'backends (vconcat (mapcar #'symbol-name flymake-diagnostic-functions))) told)
           (push (cons 'echoes (and eldoc-mode (memq 'flymake-eldoc-function eldoc-documentation-functions) t)) told)
           (goto-char (point-min))
           (insert "\n\n") ; not saved: the notes move along
           (flymake-start)))
   (cons (lambda () (> (aref (car (notes)) 0) (aref (aref (alist-get 'marks told) 0) 0)))
         (lambda ()
           (push (cons 'moved (vconcat (notes))) told)
           (flymake-goto-next-error)
           (push (cons 'next (line-number-at-pos)) told)
           (gitmem-toggle)))
   (cons (lambda () (null (notes))) #'gitmem-toggle)
   (cons #'notes #'end))
  "What is waited for, and what is done then.")

(defun look (buffer until)
  (with-current-buffer buffer
    (condition-case problem
        (cond ((ignore-errors (funcall (caar steps)))
               (funcall (cdr (pop steps))))
              ((> (float-time) until)
               (error "Waited in vain, %d steps from the end; there are %S" (length steps) (notes))))
      (error (push (cons 'failed (error-message-string problem)) told) (end)))))

(run-with-timer 0.05 0.05 #'look (current-buffer) (+ (float-time) 30))
