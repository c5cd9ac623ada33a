# Completion of `git-mem`, and with it of `git mem`, for fish.
#
# fish's own completion of git hands `git mem ...` to the completion of `git-mem`.
# Ids are asked of `git-mem __complete`, which answers from the index and never waits for git.

# Print the commands that a command has; nothing when it has none.
function __git_mem_parts -a command
    switch "$command"
        case gotcha
            printf '%s\n' add list show edit resolve reopen snooze verify search for context stats page
        case session
            printf '%s\n' start end current note mark list show export resume context task handover workflows cost
        case work
            printf '%s\n' start story phase checkpoint error override pause abort complete resume discard show list import
        case error
            printf '%s\n' record list
        case native
            printf '%s\n' status pull push sync watch-once
        case event
            printf '%s\n' add list
        case trace
            printf '%s\n' export import
        case code
            printf '%s\n' graph imports prune rank refs symbols
        case dna
            printf '%s\n' refresh show
        case snapshot
            printf '%s\n' save list show diff restore drop prune share
        case remote
            printf '%s\n' enable disable show
        case model
            printf '%s\n' check
        case summary
            printf '%s\n' show update edit add done pin unpin drop history diff
    end
end

# Print the words after `git-mem`, without options: first the command, with its part ('gotcha add') where it has one.
function __git_mem_words
    set -l line (commandline -opc)
    set -e line[1]
    argparse -s C=+ no-pager color= version h/help -- $line 2>/dev/null
    or return
    set -l command $argv[1]
    set -e argv[1]
    test -n "$command"
    or return
    set -l parts (__git_mem_parts $command)
    set -l rest
    set -l skip 0
    for word in $argv
        if test $skip = 1
            set skip 0
            continue
        end
        if test "$word" = --project; and contains -- $command install uninstall
            continue
        end
        if test "$word" = --branch; and test "$command" = 'remote enable'
            continue
        end
        switch $word
            case -k --kind -t --type -i --importance -m --message -F --file -n --limit -o --output --accept --agent --agents --anchor --at --budget \
                --bundle --category --code --command --depth --error --for --format --into --language --link --merge --project --query --reason \
                --reject --remote --session --severity --since --sort --status --tag --task --text --title --until --untag --workaround --to --timeout \
                --answer --attempt --epic --executor --id --name --next --note --result --story --total --branch --commits --date --decision --evidence --from --history --line --open --state --subtask --with --keep --days --tokens --write --source --level --ref -e -r -s
                set skip 1
            case '-*'
            case '*'
                if set -q parts[1]
                    set command "$command $word"
                    set -e parts
                else
                    set -a rest $word
                end
        end
    end
    printf '%s\n' $command $rest
end

function __git_mem_needs_command
    test (count (__git_mem_words)) = 0
end

# Say whether the command is one of those given.
function __git_mem_using
    set -l words (__git_mem_words)
    test (count $words) -gt 0
    and contains -- $words[1] $argv
end

# Say whether so many arguments stand before the cursor, for one of the commands given.
function __git_mem_argument -a count
    set -l words (__git_mem_words)
    test (count $words) = (math $count + 1)
    and contains -- $words[1] $argv[2..]
end

# Run git in the folder that -C names.
function __git_mem_in_folder
    set -l command $argv
    set -l line (commandline -opc)
    set -e line[1]
    if argparse -s C=+ no-pager color= version h/help -- $line 2>/dev/null; and set -q _flag_C
        # each -C is meant from the one before it
        set -l folders
        for folder in $_flag_C
            set -a folders -C $folder
        end
        git $folders $command 2>/dev/null
    else
        git $command 2>/dev/null
    end
end

# Print ids and titles, of one kind of record when it is given.
function __git_mem_ids -a kind
    __git_mem_in_folder mem __complete ids (commandline -ct | string replace -r '^--?[a-z]+=' '') $kind
end

function __git_mem_remotes
    __git_mem_in_folder remote
end

# Print a setting and what it is.
function __git_mem_settings
    printf '%s\t%s\n' backend 'libgit2, git or auto' sign 'sign memory commits' agent 'your namespace' remote 'the remote that memory is pushed to' \
        remoteRef 'the ref on that remote' syncOnPush 'exchange memory when git pushes' syncTimeout 'seconds of one exchange' capture 'make gotchas of errors that repeat' captureThreshold 'errors that make a gotcha' \
        captureWindow 'hours in which they must happen' captureSessions 'count an error once a session' ownEmail 'further addresses that you commit under' inject 'answer agent hooks' ignore 'files that are never stored' snapshotKeep 'how many snapshots stay' snapshotDays 'for how many days' dna 'which store keeps the DNA of the project' dnaBudget 'tokens that it may have' scout 'name to agents the files of a task' preCommit 'what a commit is told of critical gotchas' commitTrailer 'name the session in commits of agents' editorWhyHover 'tell in a hover what made a line' digest 'which store keeps digests' summary 'which store keeps the summary' shareExtracted 'share what is extracted at once' summaryLimit 'characters from which on it is condensed' propose 'put what a session taught into the inbox' native 'keep memory files in step' historyLimit 'bytes from which on a history is condensed' saveReminder 'remark that nothing was recorded' \
        injectUnconfirmed 'tell agents what nobody has confirmed' startBudget 'tokens at a session start' \
        promptBudget 'tokens at a prompt' fileBudget 'tokens at a tool call' allowSecret 'values that are no secrets' \
        editorCritical 'how loud editors show a critical gotcha' editorWarning 'how loud editors show one of severity warning' \
        editorInfo 'how loud editors show one of severity info' editorCodeLens 'count gotchas above a file' \
        editorSymbolLens 'count gotchas above a function' editorInlayHints 'write titles behind lines' \
        editorOutline 'list gotchas among symbols' editorCompletion 'complete ids in editors' \
        editorUnconfirmed 'show what nobody has confirmed' editorMaxPerFile 'lines marked at most' \
        summariser 'who reads sessions' geminiModel 'the model of Gemini' geminiKey 'its key' geminiUrl 'its server' \
        modelCommand 'the program that is asked' modelTimeout 'seconds of one answer' modelBudget 'tokens of one session' \
        editorSnoozeDays 'days of an editor snooze' pager 'pager of git mem'
end

complete -c git-mem -f

complete -c git-mem -n __git_mem_needs_command -s C -x -a '(__fish_complete_directories)' -d 'Run as if started in DIR'
complete -c git-mem -n __git_mem_needs_command -l no-pager -d 'Write straight to the terminal'
complete -c git-mem -n __git_mem_needs_command -l color -x -a 'auto always never' -d 'When to colour'
complete -c git-mem -n __git_mem_needs_command -l version -d 'Print the version'
complete -c git-mem -s h -l help -d 'Show help'

complete -c git-mem -n __git_mem_needs_command -a init -d 'Make the store of this repository'
complete -c git-mem -n __git_mem_needs_command -a status -d 'Show where you are, and what needs a look'
complete -c git-mem -n __git_mem_needs_command -a doctor -d 'Check everything; --fix repairs it'
complete -c git-mem -n __git_mem_needs_command -a config -d 'Show and change settings'
complete -c git-mem -n __git_mem_needs_command -a wipe -d 'Remove gitmem from this repository'
complete -c git-mem -n __git_mem_needs_command -a model -d 'Ask the model that reads sessions, as a test'
complete -c git-mem -n __git_mem_needs_command -a completion -d 'Print the completion script of a shell'
complete -c git-mem -n __git_mem_needs_command -a add -d 'Add a record'
complete -c git-mem -n __git_mem_needs_command -a edit -d 'Change a record in your editor or by flags'
complete -c git-mem -n __git_mem_needs_command -a supersede -d 'Replace a record by a newer one'
complete -c git-mem -n __git_mem_needs_command -a link -d 'Link a record to others'
complete -c git-mem -n __git_mem_needs_command -a unlink -d 'Remove links between records'
complete -c git-mem -n __git_mem_needs_command -a pin -d 'Pin a record, so that it never decays'
complete -c git-mem -n __git_mem_needs_command -a unpin -d 'Unpin a record'
complete -c git-mem -n __git_mem_needs_command -a archive -d 'Archive a record'
complete -c git-mem -n __git_mem_needs_command -a restore -d 'Restore what was archived or forgotten'
complete -c git-mem -n __git_mem_needs_command -a forget -d 'Delete a record'
complete -c git-mem -n __git_mem_needs_command -a purge -d 'Remove a secret from all of history'
complete -c git-mem -n __git_mem_needs_command -a gotcha -d 'Record, find and resolve gotchas'
complete -c git-mem -n __git_mem_needs_command -a inbox -d 'Confirm or reject what was captured'
complete -c git-mem -n __git_mem_needs_command -a error -d 'Count an error, and see what is counted'
complete -c git-mem -n __git_mem_needs_command -a show -d 'Show records'
complete -c git-mem -n __git_mem_needs_command -a list -d 'List records'
complete -c git-mem -n __git_mem_needs_command -a search -d 'Find records by their words'
complete -c git-mem -n __git_mem_needs_command -a recall -d 'Search this session and memory'
complete -c git-mem -n __git_mem_needs_command -a extract -d 'Find decisions, fixes and tasks in a session or a file'
complete -c git-mem -n __git_mem_needs_command -a briefing -d 'Show what is known about this project, within a budget'
complete -c git-mem -n __git_mem_needs_command -a summary -d 'Show the project summary'
complete -c git-mem -n __git_mem_needs_command -a graph -d 'Show what links to what'
complete -c git-mem -n __git_mem_needs_command -a code -d 'Show definitions, references, imports, what hangs on which file'
complete -c git-mem -n __git_mem_needs_command -a scout -d 'Find what matters for a task: files, definitions, memories'
complete -c git-mem -n __git_mem_needs_command -a dna -d 'Show what a project is made of, on one page'
complete -c git-mem -n __git_mem_needs_command -a log -d 'Show the history of the store'
complete -c git-mem -n __git_mem_needs_command -a diff -d 'Compare two states of the store'
complete -c git-mem -n __git_mem_needs_command -a undo -d 'Take back the last change'
complete -c git-mem -n __git_mem_needs_command -a sync -d 'Exchange memory with a remote'
complete -c git-mem -n __git_mem_needs_command -a remote -d 'Choose where memory is pushed to'
complete -c git-mem -n __git_mem_needs_command -a session -d 'Start, end, list, show and hand over sessions'
complete -c git-mem -n __git_mem_needs_command -a work -d 'Track epics and stories'
complete -c git-mem -n __git_mem_needs_command -a activate -d 'Print an agent\'s greeting'
complete -c git-mem -n __git_mem_needs_command -a opening -d 'Decide how a session opens: greet, ask or say nothing'
complete -c git-mem -n __git_mem_needs_command -a off -d 'Turn hooks of agents off'
complete -c git-mem -n __git_mem_needs_command -a on -d 'Turn hooks of agents on again'
complete -c git-mem -n __git_mem_needs_command -a install -d 'Install hooks for an agent\'s CLI or git'
complete -c git-mem -n __git_mem_needs_command -a uninstall -d 'Remove hooks'
complete -c git-mem -n __git_mem_needs_command -a why -d 'Show why lines are as they are'
complete -c git-mem -n __git_mem_needs_command -a evolution -d 'Show how a file or a symbol came to be'
complete -c git-mem -n __git_mem_needs_command -a drift -d 'Show which branches change the same code'
complete -c git-mem -n __git_mem_needs_command -a timeline -d 'Show what happened, in one order'
complete -c git-mem -n __git_mem_needs_command -a trends -d 'Show hot files, hours, errors, what was learned'
complete -c git-mem -n __git_mem_needs_command -a event -d 'Note what happened outside of git'
complete -c git-mem -n __git_mem_needs_command -a trace -d 'Exchange who wrote which lines with other tools'
complete -c git-mem -n __git_mem_needs_command -a snapshot -d 'Save the work in hand, and bring it back'
complete -c git-mem -n __git_mem_needs_command -a native -d 'Exchange memory with agents\' own files'
complete -c git-mem -n __git_mem_needs_command -a hook -d 'Answer a hook of an agent\'s CLI'

complete -c git-mem -n '__git_mem_using init' -l no-remote -d 'Do not ask the remote whether it has memory already'
complete -c git-mem -n '__git_mem_using init status doctor config add edit supersede restore inbox show list search graph log diff sync' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "gotcha "{add,list,show,edit,resolve,reopen,snooze,verify,search,for,context,stats}' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "error "{record,list} "session "{start,end,current,note,mark,list,show,resume,context,task,handover,workflows,cost}' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "remote show"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using init' -l agents -x -a 'claude gemini codex opencode copilot cursor all none' -d 'Install hooks for these agents too'
complete -c git-mem -n '__git_mem_using install uninstall' -l local -d 'For you, in this repository'
complete -c git-mem -n '__git_mem_using install uninstall' -l project -d 'For everybody who uses this repository'
complete -c git-mem -n '__git_mem_using install uninstall' -l user -d 'For you, in all repositories'
complete -c git-mem -n '__git_mem_using install uninstall' -l dry-run -d 'Print the change, and write nothing'
complete -c git-mem -n '__git_mem_using install uninstall' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using install' -l list -d 'List what is installed where'
complete -c git-mem -n '__git_mem_using doctor' -l fix -d 'Repair what can be repaired; never loses a record'
complete -c git-mem -n '__git_mem_using config' -l global -d 'For all repositories of yours'
complete -c git-mem -n '__git_mem_using config' -l unset -d 'Go back to the default'
complete -c git-mem -n '__git_mem_using hook' -l settings -d 'Print the hooks to merge into the agent\'s settings'
complete -c git-mem -n '__git_mem_using hook' -l package -d 'Print the folder of its plugin, extension or instructions'
complete -c git-mem -n '__git_mem_using wipe purge' -l remote -x -a '(__git_mem_remotes)' -d 'On this remote, for everybody'
complete -c git-mem -n '__git_mem_using wipe purge' -s y -l yes -d 'Do not ask'
complete -c git-mem -n '__git_mem_using "remote enable"' -s y -l yes -d 'Do not ask'
complete -c git-mem -n '__git_mem_using add list search' -s k -l kind -x -a 'memory gotcha summary snapshot work dna event' -d 'Kind of record'
complete -c git-mem -n '__git_mem_using add edit supersede list search "gotcha "{add,edit,list}' -l agent -x -a 'global all' -d 'A namespace'
complete -c git-mem -n '__git_mem_using add edit supersede' -l project -x -d 'The project it belongs to'
complete -c git-mem -n '__git_mem_using add edit supersede "gotcha "{add,edit}' -l workaround -x -d 'Workaround of a gotcha'
complete -c git-mem -n '__git_mem_using add edit supersede "gotcha "{add,edit,list}' -l severity -x -a 'critical warning info' -d 'Severity of a gotcha'
complete -c git-mem -n '__git_mem_using add edit supersede "gotcha "{add,edit,list}' -l category -x -a 'build test lint runtime integration security general' -d 'Category of a gotcha'
complete -c git-mem -n '__git_mem_using add edit supersede "gotcha "{add,edit,verify}' -l anchor -r -F -d 'The code it is about'
complete -c git-mem -n '__git_mem_using add edit supersede list "gotcha "{add,edit}' -l tag -x -d 'A tag'
complete -c git-mem -n '__git_mem_using add edit supersede' -s i -l importance -x -d '0 to 10'
complete -c git-mem -n '__git_mem_using add edit supersede list search' -s t -l type -x -a 'decision pattern rule bug insight context fact preference task' -d 'Type of memory'
complete -c git-mem -n '__git_mem_using add edit supersede "gotcha "{add,edit}' -s F -l file -r -F -d 'A file'
complete -c git-mem -n '__git_mem_using add edit supersede "gotcha "{add,edit}' -s m -l message -x -d 'The text; - reads stdin'
complete -c git-mem -n '__git_mem_using add' -l link -x -a '(__git_mem_ids)' -d 'Link it to another record'
complete -c git-mem -n '__git_mem_using add "gotcha add" "error record"' -l session -x -d 'The session it comes from'
complete -c git-mem -n '__git_mem_using add list search log diff undo "gotcha "{add,list}' -l shared -d 'The shared store'
complete -c git-mem -n '__git_mem_using add list search log diff undo "gotcha "{add,list}' -l private -d 'The private store'
complete -c git-mem -n '__git_mem_using add list search log "gotcha "{add,list}' -l user -d 'Your own store'
complete -c git-mem -n '__git_mem_using edit "gotcha edit"' -l title -x -d 'A new title'
complete -c git-mem -n '__git_mem_using edit "gotcha edit"' -l untag -x -d 'Remove a tag'
complete -c git-mem -n '__git_mem_using edit "gotcha edit"' -l unanchor -d 'Remove all anchors'
complete -c git-mem -n '__git_mem_using restore' -l list -d 'List what history has and the store has not'
complete -c git-mem -n '__git_mem_using forget inbox' -l reason -x -d 'Why; kept with the mark that is left'
complete -c git-mem -n '__git_mem_using purge' -l text -x -d 'Mask this text in every record of all times'
complete -c git-mem -n '__git_mem_using show list graph "gotcha show"' -l at -x -d 'As it was then'
complete -c git-mem -n '__git_mem_using show "gotcha show"' -l raw -d 'Print the file as it is stored'
complete -c git-mem -n '__git_mem_using show list search log "gotcha show"' -l format -x -d 'Print a template for each'
complete -c git-mem -n '__git_mem_using list' -l status -x -a 'active decayed archived pinned' -d 'With this status'
complete -c git-mem -n '__git_mem_using list search' -s a -l all -d 'Archived and decayed ones too'
complete -c git-mem -n '__git_mem_using list "gotcha list"' -l file -r -F -d 'A file'
complete -c git-mem -n '__git_mem_using list "gotcha list"' -l resolved -d 'Only resolved gotchas'
complete -c git-mem -n '__git_mem_using list "gotcha "{list,search}' -l unresolved -d 'Only unresolved gotchas'
complete -c git-mem -n '__git_mem_using list' -l conflicts -d 'Records whose text met in conflict'
complete -c git-mem -n '__git_mem_using list' -l since -x -d 'Created after a date, as git takes it'
complete -c git-mem -n '__git_mem_using list' -l until -x -d 'Created before a date'
complete -c git-mem -n '__git_mem_using list' -l sort -x -a 'created updated title importance severity' -d 'Order'
complete -c git-mem -n '__git_mem_using inbox list search log "gotcha "{list,search,context}' -s n -l limit -x -d 'At most so many'
complete -c git-mem -n '__git_mem_using graph' -l depth -x -d 'How many steps from ID'
complete -c git-mem -n '__git_mem_using graph' -l dot -d 'Print Graphviz DOT'
complete -c git-mem -n '__git_mem_using log' -l oneline -d 'One line a commit'
complete -c git-mem -n '__git_mem_using log' -s p -l patch -d 'With what each commit changed'
complete -c git-mem -n '__git_mem_using log' -l reverse -d 'Oldest first'
complete -c git-mem -n '__git_mem_using diff' -l name-status -d 'Only what was added, changed, removed'
complete -c git-mem -n '__git_mem_using sync' -l bundle -r -F -d 'Write everything to a bundle file'
complete -c git-mem -n '__git_mem_using purge' -l quarantine-list -d 'List what a purge by somebody else took out of this clone'
complete -c git-mem -n '__git_mem_using purge' -l quarantine-restore -d 'Bring back records out of the quarantine'
complete -c git-mem -n '__git_mem_using purge' -l quarantine-drop -d 'Remove what is in the quarantine now'
complete -c git-mem -n '__git_mem_using purge' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using purge sync' -l follow-purge -d 'Follow a purge of many records without a question'
complete -c git-mem -n '__git_mem_using sync' -l pull-only -d 'Fetch and merge, push nothing'
complete -c git-mem -n '__git_mem_using "remote enable"' -l branch -d 'Keep it on the branch gitmem/main there'

complete -c git-mem -n '__git_mem_using add edit supersede "gotcha "{add,edit,context}' -l error -x -d 'The error as it was printed; - reads stdin'
complete -c git-mem -n '__git_mem_using add edit supersede "gotcha "{add,edit}' -l code -x -d 'Code that a gotcha is about: a regular expression'
complete -c git-mem -n '__git_mem_using add edit supersede "gotcha "{add,edit}' -l query -x -d 'Code that a gotcha is about: a tree-sitter query'
complete -c git-mem -n '__git_mem_using add edit supersede "gotcha "{add,edit}' -l language -x -a 'python javascript typescript tsx rust go java c cpp ruby csharp php' -d 'The language of --code or --query'
complete -c git-mem -n '__git_mem_using "gotcha list"' -l unconfirmed -d 'Those that nobody has confirmed'
complete -c git-mem -n '__git_mem_using "gotcha list"' -l snoozed -d 'Those that you have snoozed, too'
complete -c git-mem -n '__git_mem_using "gotcha "{list,page}' -s a -l all -d 'Resolved ones too'
complete -c git-mem -n '__git_mem_using "gotcha "{resolve,reopen}' -s m -l message -x -d 'How, or why'
complete -c git-mem -n '__git_mem_using "gotcha snooze"' -l for -x -k -a '12h 1d 7d 2w' -d 'How long'
complete -c git-mem -n '__git_mem_using "gotcha snooze"' -l off -d 'Show them again'
complete -c git-mem -n '__git_mem_using "gotcha context"' -s t -l task -x -d 'What is to be done; - reads stdin'
complete -c git-mem -n '__git_mem_using "gotcha context"' -l budget -x -d 'Tokens that the block may have'
complete -c git-mem -n '__git_mem_using "gotcha page"' -s o -l output -r -F -d 'Write it to a file'
complete -c git-mem -n '__git_mem_using inbox' -l accept -x -k -a '(__git_mem_ids)' -d 'It is so'
complete -c git-mem -n '__git_mem_using inbox' -l reject -x -k -a '(__git_mem_ids)' -d 'It is not worth keeping'
complete -c git-mem -n '__git_mem_using inbox' -l merge -x -k -a '(__git_mem_ids gotcha)' -d 'It is part of another gotcha'
complete -c git-mem -n '__git_mem_using inbox' -l into -x -k -a '(__git_mem_ids gotcha)' -d 'The gotcha that --merge goes into'
complete -c git-mem -n '__git_mem_using inbox' -l accept-all -d 'Everything that waits is so'
complete -c git-mem -n '__git_mem_using inbox' -s a -l all -d 'All that wait'
complete -c git-mem -n '__git_mem_using "session start"' -l agent -x -d 'Whose session it is, for an agent without hooks.'
complete -c git-mem -n '__git_mem_using "session start"' -l title -x -d 'What it is for'
complete -c git-mem -n '__git_mem_using "session start"' -l story -x -d 'The story at work, for workflows'
complete -c git-mem -n '__git_mem_using "session start"' -l new -d 'Another one: the one that this terminal has open ends, and is digested'
complete -c git-mem -n '__git_mem_using "session note"' -l session -x -d 'Of another session than the one that this runs in'
complete -c git-mem -n '__git_mem_using "session mark"' -l last -d 'The last turn (what is meant without anything)'
complete -c git-mem -n '__git_mem_using "session mark"' -l line -x -d 'The line with this number, as ’git mem session show’ has it'
complete -c git-mem -n '__git_mem_using "session mark"' -l session -x -d 'Of another session than the one that this runs in'
complete -c git-mem -n '__git_mem_using "session list"' -l agent -x -d 'Of one agent'
complete -c git-mem -n '__git_mem_using "session list"' -l since -x -d 'With a sign of life since then'
complete -c git-mem -n '__git_mem_using "session list"' -l until -x -d 'Begun before then'
complete -c git-mem -n '__git_mem_using "session list"' -l branch -x -d 'Begun on a branch'
complete -c git-mem -n '__git_mem_using "session list"' -l kind -x -a 'new existing workflow' -d 'What it was when it began'
complete -c git-mem -n '__git_mem_using "session list"' -l state -x -a 'running ended interrupted' -d 'How it stands'
complete -c git-mem -n '__git_mem_using "session list"' -s n -l limit -x -d 'How many'
complete -c git-mem -n '__git_mem_using "session show"' -l date -x -d 'All sessions of a day'
complete -c git-mem -n '__git_mem_using "session show"' -l turns -d 'Only what was said'
complete -c git-mem -n '__git_mem_using "session export"' -l date -x -d 'All sessions of a day'
complete -c git-mem -n '__git_mem_using "session export"' -s o -l output -r -F -d 'Write to a file that only you read; \'-\' is standard output'
complete -c git-mem -n '__git_mem_using "session export"' -s f -l force -d 'Write over a file that is there'
complete -c git-mem -n '__git_mem_using "session resume"' -l show -d 'Only show it'
complete -c git-mem -n '__git_mem_using "session context"' -l agent -x -d 'For which agent.'
complete -c git-mem -n '__git_mem_using "session context"' -l history -r -F -d 'A conversation to go by instead'
complete -c git-mem -n '__git_mem_using "session task"' -l success -d 'How it went.'
complete -c git-mem -n '__git_mem_using "session task"' -l failed -d 'How it went.'
complete -c git-mem -n '__git_mem_using "session task"' -l story -x -d 'The story that it belongs to'
complete -c git-mem -n '__git_mem_using "session task"' -l agent -x -d 'Who did it.'
complete -c git-mem -n '__git_mem_using "session handover"' -s m -l message -x -d 'What the other one has to know'
complete -c git-mem -n '__git_mem_using "session handover"' -l from -x -d 'Who hands over.'
complete -c git-mem -n '__git_mem_using "session handover"' -l decision -x -d 'Something decided, beside what was recorded since the work began. May be repeated'
complete -c git-mem -n '__git_mem_using "session handover"' -l open -x -d 'Something still to do, beside the open tasks. May be repeated'
complete -c git-mem -n '__git_mem_using "session handover"' -l evidence -x -d 'What shows it'
complete -c git-mem -n '__git_mem_using "session handover"' -l private -d 'Keep it in the private store, never pushed'
complete -c git-mem -n '__git_mem_using "session handover"' -l shared -d 'The shared store (default)'
complete -c git-mem -n '__git_mem_using "session cost"' -l all -d 'Of all sessions together'
complete -c git-mem -n '__git_mem_using "work start"' -s s -l story -x -d 'A story, in their order'
complete -c git-mem -n '__git_mem_using "work start"' -l title -x -d 'The epic\'s title'
complete -c git-mem -n '__git_mem_using "work start"' -l id -x -d 'Its id elsewhere: EPIC-12'
complete -c git-mem -n '__git_mem_using "work start"' -l total -x -d 'How many stories it will have, if not all are known yet'
complete -c git-mem -n '__git_mem_using "work "{start,story,phase,error}' -l executor -x -d 'Who does it: an agent, a person'
complete -c git-mem -n '__git_mem_using "work "{start,story,phase,checkpoint,error,override,pause,abort,complete,resume,discard,show,list,import}' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "work story"' -l done -d 'It is done'
complete -c git-mem -n '__git_mem_using "work story"' -l reopen -d 'It is not done after all'
complete -c git-mem -n '__git_mem_using "work story"' -l add -d 'Add stories behind the others: ID or ID=TITLE'
complete -c git-mem -n '__git_mem_using "work story"' -l next -x -d 'With --done: the story that comes next'
complete -c git-mem -n '__git_mem_using "work story"' -l title -x -d 'Its title'
complete -c git-mem -n '__git_mem_using "work "{story,phase,checkpoint,error,override}' -s e -l epic -x -k -a '(__git_mem_ids work)' -d 'Of this epic'
complete -c git-mem -n '__git_mem_using "work phase"' -s r -l result -x -d 'What the phase came to: passed, failed, a sentence'
complete -c git-mem -n '__git_mem_using "work phase"' -l attempt -x -d 'This is the attempt number N at the story'
complete -c git-mem -n '__git_mem_using "work phase"' -l file -r -F -d 'A file that was changed'
complete -c git-mem -n '__git_mem_using "work "{phase,checkpoint,error}' -s s -l story -x -d 'Of this story'
complete -c git-mem -n '__git_mem_using "work checkpoint"' -l answer -x -a 'go pause review abort' -d 'What was decided at the checkpoint'
complete -c git-mem -n '__git_mem_using "work override"' -l clear -d 'Clear KEY'
complete -c git-mem -n '__git_mem_using "work "{pause,abort,complete}' -s m -l note -x -d 'Why, in a sentence'
complete -c git-mem -n '__git_mem_using "work complete"' -l yes -d 'Also when stories are not done'
complete -c git-mem -n '__git_mem_using "work resume"' -l continue -d 'Go on where it stopped'
complete -c git-mem -n '__git_mem_using "work resume"' -l review -d 'See what was done'
complete -c git-mem -n '__git_mem_using "work resume"' -l restart -d 'Begin the current story anew'
complete -c git-mem -n '__git_mem_using "work resume"' -l discard -d 'Put the epic aside'
complete -c git-mem -n '__git_mem_using "work resume"' -l force -d 'Although another session is at it'
complete -c git-mem -n '__git_mem_using "work discard"' -l force -d 'Although a session is at it'
complete -c git-mem -n '__git_mem_using "work list"' -s a -l all -d 'Those that were discarded, too'
complete -c git-mem -n '__git_mem_using "work import"' -l name -x -d 'What the epic is called here'
complete -c git-mem -n '__git_mem_using "work import"' -l dry-run -d 'Say what would be read, and write nothing'
complete -c git-mem -n '__git_mem_using off on' -l session -d 'For one session'
complete -c git-mem -n '__git_mem_using briefing' -l budget -x -d 'At most so many lines or tokens'
complete -c git-mem -n '__git_mem_using briefing' -l tokens -x -d 'At most so many tokens'
complete -c git-mem -n '__git_mem_using briefing' -l write -r -d 'Write it to a file'
complete -c git-mem -n '__git_mem_using briefing' -l force -d 'Replace a file that git mem did not write'
complete -c git-mem -n '__git_mem_using briefing' -l agent -x -d 'As this agent sees it'
complete -c git-mem -n '__git_mem_using "summary "{show,add}' -l kind -x -a 'decision error pattern task done preference context' -d 'What it is'
complete -c git-mem -n '__git_mem_using "summary show"' -l ids -d 'With the id of each entry'
complete -c git-mem -n '__git_mem_using "summary show"' -l at -x -d 'As it was then'
complete -c git-mem -n '__git_mem_using "summary update"' -l session -x -d 'Of this session'
complete -c git-mem -n '__git_mem_using "summary add"' -l pin -d 'Keep it, whatever its age'
complete -c git-mem -n '__git_mem_using "summary history"' -s n -l limit -x -d 'At most so many steps'
complete -c git-mem -n '__git_mem_using "summary history"' -s p -l patch -d 'With the entries that came and went'
complete -c git-mem -n '__git_mem_using "summary "{show,update,add,done,pin,unpin,drop,history,diff}' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using opening' -l history -r -d 'The session before, as a file tells it'
complete -c git-mem -n '__git_mem_using opening' -l resumed -d 'The conversation of before goes on'
complete -c git-mem -n '__git_mem_using briefing opening' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using recall' -l session -d 'Only in the history of a session'
complete -c git-mem -n '__git_mem_using recall' -l past -d 'Only in memory'
complete -c git-mem -n '__git_mem_using recall' -l all-sessions -d 'In the histories of other sessions too'
complete -c git-mem -n '__git_mem_using recall' -l since -x -d 'Nothing older'
complete -c git-mem -n '__git_mem_using recall' -s n -l limit -x -d 'At most so many of each group'
complete -c git-mem -n '__git_mem_using extract' -l from -x -a 'auto claude gemini codex history export text plan commits' -d 'What the files are'
complete -c git-mem -n '__git_mem_using extract' -l session -x -d 'A session that hooks told of'
complete -c git-mem -n '__git_mem_using extract' -l commits -x -d 'Commit messages'
complete -c git-mem -n '__git_mem_using extract' -l kind -x -a 'decision error pattern task done preference context' -d 'Only this kind'
complete -c git-mem -n '__git_mem_using extract' -l save -d 'Put what is found into the inbox'
complete -c git-mem -n '__git_mem_using extract' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using extract' -F
complete -c git-mem -n '__git_mem_using recall activate' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using activate' -l list -d 'List the agents that are defined'
complete -c git-mem -n '__git_mem_using activate' -l history -r -F -d 'A conversation, as JSON'
complete -c git-mem -n '__git_mem_using activate' -l timeout -x -d 'Milliseconds in all'
complete -c git-mem -n '__git_mem_using off on' -l machine -d 'For all repositories of this machine'
complete -c git-mem -n '__git_mem_using off' -l for -x -d 'For so long: 30m, 2h, 1d'
complete -c git-mem -n '__git_mem_using "error record"' -l command -x -d 'The command that printed it'
complete -c git-mem -n '__git_mem_using "error list"' -s a -l all -d 'All that is remembered'

complete -c git-mem -n '__git_mem_using "gotcha "{show,resolve,reopen,snooze,verify}; or __git_mem_argument 0 "gotcha edit"' -k -a '(__git_mem_ids gotcha)'
complete -c git-mem -n '__git_mem_using "gotcha "{for,context}' -F
complete -c git-mem -n '__git_mem_argument 0 gotcha' -k -a "add\t'Record a trap and what helps'
list\t'List gotchas, critical ones first'
show\t'Show gotchas whole'
edit\t'Change one in your editor or by flags'
resolve\t'Say that it is dealt with'
reopen\t'Say that it is not dealt with after all'
snooze\t'Hide it from yourself for a while'
verify\t'Say that it is still so, or see which may not be'
search\t'Find gotchas by their words'
for\t'Show what to know about files or lines'
context\t'Show what a task should know, for a prompt'
stats\t'Count them by what they are'
page\t'Print all as one readable page'"
complete -c git-mem -n '__git_mem_argument 0 summary' -k -a "show\t'Show what the sessions added up to'
update\t'Read sessions anew, and integrate what they taught'
edit\t'Change it in your editor'
add\t'Put in an entry'
done\t'Say that a pending task is done'
pin\t'Keep an entry, whatever its age'
unpin\t'Let a pinned entry age again'
drop\t'Take out an entry for good'
history\t'Show how it grew'
diff\t'Compare two states of it'"
complete -c git-mem -n '__git_mem_argument 0 session' -k -a "start\t'Start a session of your own'
end\t'End a session, and have it digested'
current\t'Show which session this is'
note\t'Write something into a session'
mark\t'Mark what matters in a session'
list\t'List sessions, the latest first'
show\t'Show a whole session'
export\t'Export a session as JSON'
resume\t'Show where a session stood, and how to go on with it'
context\t'Show the work in hand, for the next agent'
task\t'Record that a task is done, or has failed'
handover\t'Hand the work over to another agent'
workflows\t'List the workflows that are known'
cost\t'Show what the hooks of a session cost'"
complete -c git-mem -n '__git_mem_argument 0 work' -k -a "start\t'Begin an epic, or choose one'
story\t'Begin a story, complete one, or list them'
phase\t'Enter a phase of a story, or say what it came to'
checkpoint\t'Reach a checkpoint, or answer it'
error\t'Say that something went wrong'
override\t'Set, show or clear what this epic does otherwise'
pause\t'Put an epic down for now'
abort\t'Give an epic up'
complete\t'Close an epic'
resume\t'Go on: continue, review, restart or discard'
discard\t'Put an epic aside'
show\t'Show an epic, and what comes next'
list\t'List epics'
import\t'Read state files of other tools'"
complete -c git-mem -n '__git_mem_argument 0 "work phase"' -k -a 'validation development self_healing quality_gate push checkpoint'
complete -c git-mem -n '__git_mem_argument 0 "work "{show,pause,abort,complete,resume,discard}' -k -a '(__git_mem_ids work)'
complete -c git-mem -n '__git_mem_using "work import"' -F
complete -c git-mem -n '__git_mem_argument 0 error' -k -a "record\t'Count an error that happened'
list\t'List the errors that are counted'"
complete -c git-mem -n '__git_mem_using show link unlink pin unpin archive restore forget purge supersede' -k -a '(__git_mem_ids)'
complete -c git-mem -n '__git_mem_argument 0 edit graph log' -k -a '(__git_mem_ids)'
complete -c git-mem -n '__git_mem_argument 0 config' -a '(__git_mem_settings)'
complete -c git-mem -n '__git_mem_argument 1 config; and contains -- backend (__git_mem_words)' -a 'libgit2 git auto'
complete -c git-mem -n '__git_mem_argument 1 config; and string match -qr "^(sign|syncOnPush|commitTrailer|scout|saveReminder|propose|shareExtracted|capture|captureSessions|inject|injectUnconfirmed|editor(CodeLens|SymbolLens|WhyHover|InlayHints|Outline|Completion|Unconfirmed))\$" (__git_mem_words)' -a 'true false'
complete -c git-mem -n '__git_mem_argument 1 config; and string match -qr "^editor(Critical|Warning|Info)\$" (__git_mem_words)' -a 'error warning information hint off'
complete -c git-mem -n '__git_mem_argument 1 config; and contains -- digest (__git_mem_words)' -a 'private shared off'
complete -c git-mem -n '__git_mem_argument 1 config; and contains -- dna (__git_mem_words)' -a 'shared private off'
complete -c git-mem -n '__git_mem_argument 1 config; and contains -- summary (__git_mem_words)' -a 'shared private off'
complete -c git-mem -n '__git_mem_argument 1 config; and contains -- remote (__git_mem_words)' -a '(__git_mem_remotes)'
complete -c git-mem -n '__git_mem_argument 0 hook' -a 'claude gemini codex opencode copilot cursor'
complete -c git-mem -n '__git_mem_using install uninstall' -a 'claude gemini codex opencode copilot cursor git-hooks all'
complete -c git-mem -n '__git_mem_argument 0 completion' -a 'bash zsh fish'
complete -c git-mem -n '__git_mem_using "model check"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_argument 0 model' -a check -d 'Ask it one small question'
complete -c git-mem -n '__git_mem_argument 1 config; and contains -- summariser (__git_mem_words)' -a 'offline claude gemini codex command'
complete -c git-mem -n '__git_mem_argument 0 event' -k -a "add\t'Note an event'
list\t'List the events that were noted'"
complete -c git-mem -n '__git_mem_argument 0 trace' -k -a "export\t'Print Agent Trace records of commits, one a line'
import\t'Read the records that other tools left in git notes, or a file'"
complete -c git-mem -n '__git_mem_using why' -l at -x -d 'As the code stood in this commit'
complete -c git-mem -n '__git_mem_using why' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using evolution' -l since -x -d 'Not before this'
complete -c git-mem -n '__git_mem_using evolution' -l until -x -d 'Not after this'
complete -c git-mem -n '__git_mem_using evolution' -l agent -x -d 'Only what sessions of this agent had a part in'
complete -c git-mem -n '__git_mem_using evolution' -l session -x -d 'Only what this session had a part in'
complete -c git-mem -n '__git_mem_using evolution' -l story -x -d 'Only what belongs to this story'
complete -c git-mem -n '__git_mem_using evolution' -s n -l limit -x -d 'At most so many, the newest'
complete -c git-mem -n '__git_mem_using evolution' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using drift' -l level -x -a 'none low medium high critical' -d 'Show pairs of this level or worse'
complete -c git-mem -n '__git_mem_using drift' -l days -x -d 'Look at branches that were committed to in so many days'
complete -c git-mem -n '__git_mem_using drift' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using timeline' -l since -x -d 'Not before this: yesterday, \'2 weeks ago\', 2026-11-21'
complete -c git-mem -n '__git_mem_using timeline' -l until -x -d 'Not after this'
complete -c git-mem -n '__git_mem_using timeline' -s s -l source -x -a 'commit memory gotcha snapshot session work event' -d 'Only from here'
complete -c git-mem -n '__git_mem_using timeline' -l file -r -d 'Only what is about this file'
complete -c git-mem -n '__git_mem_using timeline' -l agent -x -d 'Only of this agent'
complete -c git-mem -n '__git_mem_using timeline' -l session -x -d 'Only of this session'
complete -c git-mem -n '__git_mem_using timeline' -l story -x -d 'Only of this story'
complete -c git-mem -n '__git_mem_using timeline' -s n -l limit -x -d 'At most so many, the newest'
complete -c git-mem -n '__git_mem_using timeline' -l reverse -d 'Oldest first'
complete -c git-mem -n '__git_mem_using timeline' -l csv -d 'Print CSV'
complete -c git-mem -n '__git_mem_using timeline' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using trends' -l since -x -d 'Not before this'
complete -c git-mem -n '__git_mem_using trends' -l until -x -d 'Not after this'
complete -c git-mem -n '__git_mem_using trends' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "event add"' -l at -x -d 'When it happened: yesterday, \'2026-11-21 14:00\'. Default: now'
complete -c git-mem -n '__git_mem_using "event add"' -s m -l message -x -d 'More about it'
complete -c git-mem -n '__git_mem_using "event add"' -l file -r -d 'A file that it is about'
complete -c git-mem -n '__git_mem_using "event add"' -l shared -d 'The shared store (default)'
complete -c git-mem -n '__git_mem_using "event add"' -l private -d 'This repository\'s private store, never pushed'
complete -c git-mem -n '__git_mem_using "event add"' -l user -d 'Your own store, for every project'
complete -c git-mem -n '__git_mem_using "event add"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "event list"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "trace export"' -s o -l output -r -d 'Write to a file instead of stdout'
complete -c git-mem -n '__git_mem_using "trace export"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "trace import"' -l ref -x -d 'The notes to read; all of refs/notes/ by default'
complete -c git-mem -n '__git_mem_using "trace import"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using why "trace import"; or __git_mem_argument 0 evolution' -F
complete -c git-mem -n '__git_mem_argument 1 config; and contains -- preCommit (__git_mem_words)' -a 'show block off'
complete -c git-mem -n '__git_mem_argument 0 code' -k -a "graph\t'Show which files use which others; for one file, its neighbours.'
imports\t'Show what a file imports, and which files that is, or who uses the...'
prune\t'Remove from the cache what no branch, tag, work tree or stash has...'
rank\t'Show on which files most of the code hangs: PageRank over who uses...'
refs\t'Show where something is defined and used.'
symbols\t'List the definitions of a file, of a folder, or of a name.'"
complete -c git-mem -n '__git_mem_argument 0 dna' -k -a "refresh\t'Read what is checked out, and store the pages that say something...'
show\t'Show the page of the project, or of a workspace, as it is stored;...'"
complete -c git-mem -n '__git_mem_using "code graph"' -l dot -d 'Print DOT, for Graphviz'
complete -c git-mem -n '__git_mem_using "code graph"' -l at -x -d 'Read this commit; without it, HEAD and what is not committed yet'
complete -c git-mem -n '__git_mem_using "code graph"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "code imports"' -l of -d 'Show who imports the file instead'
complete -c git-mem -n '__git_mem_using "code imports"' -l at -x -d 'Read this commit; without it, HEAD and what is not committed yet'
complete -c git-mem -n '__git_mem_using "code imports"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "code prune"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "code rank"' -s n -l limit -x -d 'Show at most so many'
complete -c git-mem -n '__git_mem_using "code rank"' -l at -x -d 'Read this commit; without it, HEAD and what is not committed yet'
complete -c git-mem -n '__git_mem_using "code rank"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "code refs"' -s n -l limit -x -d 'Show at most so many'
complete -c git-mem -n '__git_mem_using "code refs"' -l at -x -d 'Read this commit; without it, HEAD and what is not committed yet'
complete -c git-mem -n '__git_mem_using "code refs"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "code symbols"' -l kind -x -d 'Only this kind: function, class, method, '
complete -c git-mem -n '__git_mem_using "code symbols"' -s n -l limit -x -d 'Show at most so many'
complete -c git-mem -n '__git_mem_using "code symbols"' -l at -x -d 'Read this commit; without it, HEAD and what is not committed yet'
complete -c git-mem -n '__git_mem_using "code symbols"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using scout' -s n -l limit -x -d 'Files at most, besides tests and examples'
complete -c git-mem -n '__git_mem_using scout' -l budget -x -d 'Tokens that the answer may have'
complete -c git-mem -n '__git_mem_using scout' -l save -d 'Keep the first findings as memories, anchored in the code'
complete -c git-mem -n '__git_mem_using scout' -l at -x -d 'Look into this commit; without it, HEAD and what is not committed yet'
complete -c git-mem -n '__git_mem_using scout' -l shared -d 'The shared store (default)'
complete -c git-mem -n '__git_mem_using scout' -l private -d 'This repository\'s private store, never pushed'
complete -c git-mem -n '__git_mem_using scout' -l user -d 'Your own store, for every project'
complete -c git-mem -n '__git_mem_using scout' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "dna refresh"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "dna refresh"' -l shared -d 'Store them for everybody'
complete -c git-mem -n '__git_mem_using "dna show"' -l at -x -d 'Read this commit; nothing is written'
complete -c git-mem -n '__git_mem_using "dna show"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "code symbols" "code refs" "code imports" "code graph" "code rank" "dna show"' -F
complete -c git-mem -n '__git_mem_argument 0 snapshot' -k -a "save\t'Save the files and the index as they are'
list\t'List snapshots, the newest first'
show\t'Show what a snapshot has'
diff\t'Compare a snapshot with the files as they are, or with another one'
restore\t'Tell where the work stood; with --worktree bring back files and index'
drop\t'Remove snapshots'
prune\t'Remove those that have outlived their time'
share\t'Push one snapshot to a remote, on purpose'"
complete -c git-mem -n '__git_mem_using "snapshot save"' -l story -x -d 'The story that the work is for'
complete -c git-mem -n '__git_mem_using "snapshot save"' -l subtask -x -d 'The part of it'
complete -c git-mem -n '__git_mem_using "snapshot save"' -l state -x -d 'Anything else, as JSON'
complete -c git-mem -n '__git_mem_using "snapshot save"' -l with -r -d 'Save this file too, though its name tells of secrets'
complete -c git-mem -n '__git_mem_using "snapshot save"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "snapshot list"' -s n -l limit -x -d 'At most so many'
complete -c git-mem -n '__git_mem_using "snapshot list"' -l branch -x -d 'Made on this branch'
complete -c git-mem -n '__git_mem_using "snapshot list"' -l story -x -d 'Of this story'
complete -c git-mem -n '__git_mem_using "snapshot list"' -l agent -x -d 'Made by this agent'
complete -c git-mem -n '__git_mem_using "snapshot list"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "snapshot show"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "snapshot diff"' -l stat -d 'Names and numbers only'
complete -c git-mem -n '__git_mem_using "snapshot restore"' -s w -l worktree -d 'Bring back files and index; what is there now is saved first'
complete -c git-mem -n '__git_mem_using "snapshot restore"' -l dry-run -d 'Say what would be done'
complete -c git-mem -n '__git_mem_using "snapshot restore"' -s f -l force -d 'Overwrite files that nothing has saved, too'
complete -c git-mem -n '__git_mem_using "snapshot restore"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "snapshot drop"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "snapshot prune"' -l keep -x -d 'How many of the newest stay'
complete -c git-mem -n '__git_mem_using "snapshot prune"' -l days -x -d 'How many days they stay'
complete -c git-mem -n '__git_mem_using "snapshot prune"' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "snapshot share"' -l remote -x -d 'Where to'
complete -c git-mem -n '__git_mem_using "snapshot share"' -s y -l yes -d 'Push it although it seems to hold secrets'
complete -c git-mem -n '__git_mem_using "snapshot "{show,diff,restore,drop,share}' -k -a '(__git_mem_ids)'
complete -c git-mem -n '__git_mem_argument 0 native' -k -a "status\t'Show the memory files, and what is in step'
pull\t'Read the files into the store'
push\t'Write records into a block of their own in files'
sync\t'Pull, then push'
watch-once\t'Wait for the next change of a file, and pull it'"
complete -c git-mem -n '__git_mem_using "native "{status,pull,push,sync,watch-once}' -l json -d 'Print JSON'
complete -c git-mem -n '__git_mem_using "native "{pull,push,sync}' -l dry-run -d 'Show what would be done; change nothing'
complete -c git-mem -n '__git_mem_using "native "{push,sync}' -l to -x -a 'claude gemini agents agent:' -d 'Write these files'
complete -c git-mem -n '__git_mem_using "native push"' -l remove -d 'Take the block out of the files instead'
complete -c git-mem -n '__git_mem_using "native watch-once"' -l timeout -x -d 'Seconds to wait'
complete -c git-mem -n '__git_mem_argument 1 config; and contains -- native (__git_mem_words)' -a 'off pull push sync'
complete -c git-mem -n '__git_mem_argument 0 remote' -a enable -d 'Let sync push memory to a remote'
complete -c git-mem -n '__git_mem_argument 0 remote' -a disable -d 'Push memory nowhere any more'
complete -c git-mem -n '__git_mem_argument 0 remote' -a show -d 'Show the remote and what is not sent'
complete -c git-mem -n '__git_mem_argument 0 "remote "{enable,disable}' -a '(__git_mem_remotes)'
complete -c git-mem -n '__git_mem_using diff; or __git_mem_argument 0 sync' -a '(__git_mem_remotes)'
complete -c git-mem -n '__git_mem_argument 0 sync' -F

# fish 3.6.0 looks for 'git git-mem' where it should look for 'git mem'
if test "$version" = 3.6.0
    complete -c git -f -n '__fish_git_using_command mem' -a '(__fish_git_complete_custom_command mem)'
end
