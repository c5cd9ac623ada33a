# Completion of `git mem` and `git-mem` for bash.
#
# `git mem <TAB>` works through git's own completion, which looks for the function `_git_mem`.
# The proposals come from `git-mem __complete`, which knows all commands and reads the index.

# Complete the words of the array __git_mem_line; the last one is at the cursor.
__git_mem_complete ()
{
	local line IFS=$'\n' last=$((${#__git_mem_line[@]} - 1))
	local word=${__git_mem_line[last]} files
	COMPREPLY=()
	while IFS= read -r line; do
		case "$line" in
		plain,*)
			COMPREPLY+=("${line#plain,}")
			;;
		file,* | dir,*)
			local kind=-f
			[[ $line != dir,* ]] || kind=-d
			[[ $word != --*=* ]] || word=${word#*=}
			[[ $word != = ]] || word=
			[[ $word != \~/* ]] || word=$HOME/${word#\~/}
			mapfile -t files < <(compgen $kind -- "$word")
			COMPREPLY+=("${files[@]}")
			compopt -o filenames 2>/dev/null
			;;
		esac
	done < <(COMP_WORDS="${__git_mem_line[*]:0:last}" COMP_WORD=$word COMP_TYPE=${COMP_TYPE-} \
		git-mem __complete bash 2>/dev/null)
}

# `git mem`: called by git's completion, which has set `words`, `cword` and `__git_cmd_idx`.
_git_mem ()
{
	local start=${__git_cmd_idx-} __git_mem_line
	if [ -z "$start" ]; then
		# git before 2.31 does not say where the command is
		start=1
		while [ $start -lt $cword ] && [ "${words[start]}" != mem ]; do
			start=$((start + 1))
		done
	fi
	__git_mem_line=(git-mem "${__git_C_args[@]}" "${words[@]:start + 1:cword - start}")
	# git adds no space behind a proposal, and files where there is none
	compopt +o nospace +o default +o bashdefault 2>/dev/null
	__git_mem_complete
}

# `git-mem`: called by bash.
__git_mem_main ()
{
	local __git_mem_line=("${COMP_WORDS[@]:0:COMP_CWORD + 1}")
	__git_mem_complete
}

complete -F __git_mem_main git-mem
