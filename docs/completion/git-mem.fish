# Completion of `git-mem`, and with it of `git mem`, for fish.
#
# fish's own completion of git hands `git mem ...` to the completion of `git-mem`.
# The proposals come from `git-mem __complete`, which knows all commands and reads the index.

function __git_mem_complete
    set -l words (commandline -opc)
    set -lx COMP_WORDS (string join \n -- $words | string collect)
    set -lx COMP_WORD (commandline -ct)
    # a proposal replaces the whole word, the name of its option included
    set -l option (string match -r '^--[^=]+=' -- $COMP_WORD)
    for line in (git-mem __complete fish 2>/dev/null)
        set -l parts (string split -m 1 , -- $line)
        switch $parts[1]
            case file
                for path in (__fish_complete_path $parts[2])
                    echo "$option$path"
                end
            case dir
                for path in (__fish_complete_directories $parts[2])
                    echo "$option$path"
                end
            case plain
                echo "$option$parts[2]"
        end
    end
end

complete -c git-mem -f -k -a '(__git_mem_complete)'

# fish 3.6.0 looks for 'git git-mem' where it should look for 'git mem'
if test "$version" = 3.6.0
    complete -c git -f -n '__fish_git_using_command mem' -a '(__fish_git_complete_custom_command mem)'
end
