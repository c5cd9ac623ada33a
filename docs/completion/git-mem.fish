# Completion of `git-mem`, and with it of `git mem`, for fish.
#
# fish's own completion of git hands `git mem ...` to the completion of `git-mem`.
# The proposals come from `git-mem __complete`, which knows all commands and reads the index.

function __git_mem_complete
    set -l words (commandline -opc)
    set -lx COMP_WORDS (string join \n -- $words | string collect)
    set -lx COMP_WORD (commandline -ct)
    for line in (git-mem __complete fish 2>/dev/null)
        set -l parts (string split -m 1 , -- $line)
        switch $parts[1]
            case file
                __fish_complete_path $parts[2]
            case dir
                __fish_complete_directories $parts[2]
            case plain
                echo $parts[2]
        end
    end
end

complete -c git-mem -f -k -a '(__git_mem_complete)'
