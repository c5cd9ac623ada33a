;; Gotchas of a file as notes of flymake: in every mode, beside a language's own server.
(defvar gitmem-program "git-mem")
(defvar gitmem-marks t "Whether anything is marked; `gitmem-toggle' switches it.")
(defvar-local gitmem--process nil "The one whose answer is wanted; a later one takes its place.")
(defvar-local gitmem--notes nil "A marker, a type and a text for each gotcha of the saved file.")

(defun gitmem--read (output)
  "Return a list for each gotcha in OUTPUT: its place in this buffer, how loud it is, what it says."
  (let ((answer (with-current-buffer output
                  (goto-char (point-min))
                  (ignore-errors (json-parse-buffer :object-type 'alist :array-type 'list
                                                    :null-object nil)))))
    (mapcar (lambda (row)
              (let-alist row
                (goto-char (point-min))
                (forward-line (1- (or .place.line 1))) ; a note of the whole file is on its first line
                (list (point-marker) (if (equal .severity "critical") :warning :note)
                      (concat .title (and .workaround (concat " → " .workaround))))))
            (seq-filter (lambda (row)
                          (let-alist row
                            (and (equal .kind "gotcha") (eq .is_resolved :false) .place
                                 (not (equal .place.state "adrift")))))
                        (alist-get 'data answer)))))

(defun gitmem--report (report)
  "Hand the notes to flymake, where they are by now."
  (save-excursion
    (funcall report
             (mapcar (lambda (note)
                       (goto-char (car note))
                       (let ((end (line-end-position)))
                         (back-to-indentation)
                         (apply #'flymake-make-diagnostic (current-buffer)
                                (min (point) (max (point-min) (1- end))) end (cdr note))))
                     (and gitmem-marks gitmem--notes)))))

(defun gitmem-flymake (report &rest _)
  "Ask for the gotchas of the file; what is not saved yet moves the notes of before along."
  (when (process-live-p gitmem--process)
    (kill-process gitmem--process))
  (setq gitmem--process nil)
  (if (or (buffer-modified-p) (not gitmem-marks))
      (gitmem--report report)
    (setq gitmem--process
          (make-process :name "git-mem" :noquery t :connection-type 'pipe
                        :buffer (generate-new-buffer " *gitmem*")
                        :stderr (get-buffer-create " *gitmem errors*")
                        :command (list gitmem-program "gotcha" "for" (buffer-file-name) "--json")
                        :sentinel #'gitmem--answered))
    (process-put gitmem--process 'asker (current-buffer))
    (process-put gitmem--process 'report report)))

(defun gitmem--answered (process _event)
  "Take the answer of a PROCESS that has ended."
  (unless (process-live-p process)
    (when (buffer-live-p (process-get process 'asker))
      (with-current-buffer (process-get process 'asker)
        (when (eq process gitmem--process)
          (save-excursion (setq gitmem--notes (gitmem--read (process-buffer process))))
          (gitmem--report (process-get process 'report)))))
    (kill-buffer (process-buffer process))))

(defun gitmem-start ()
  "Mark the gotchas of this file, if it is one of a git repository."
  (when (and buffer-file-name (locate-dominating-file buffer-file-name ".git")
             (executable-find gitmem-program))
    (require 'flymake)
    (add-hook 'flymake-diagnostic-functions #'gitmem-flymake nil t)
    (flymake-mode 1)
    (eldoc-mode 1))) ; the note of the line, in the echo area

(defun gitmem-toggle ()
  "Switch all marks off, or on again."
  (interactive)
  (setq gitmem-marks (not gitmem-marks))
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (bound-and-true-p flymake-mode) (flymake-start))))
  (message "git mem: marks are %s" (if gitmem-marks "on" "off")))

(add-hook 'find-file-hook #'gitmem-start)
(add-hook 'eglot-managed-mode-hook #'gitmem-start)
