# Completion of `git mem` and `git-mem` for bash.
#
# `git mem <TAB>` works through git's own completion, which looks for the function `_git_mem`.
# Ids are asked of `git mem __complete`, which answers from the index and never waits for git.

__git_mem_commands="init status doctor config wipe model completion add edit supersede link unlink pin unpin archive restore forget purge
	gotcha inbox error show list search recall extract graph briefing summary code scout dna log diff undo evolution drift timeline trends event why trace snapshot sync remote session work activate opening off on install uninstall native hook"
__git_mem_global="-C --no-pager --color --version --help"
__git_mem_trap="--message --file --tag --anchor --category --severity --workaround --error --code --query --language --agent"
__git_mem_fields="$__git_mem_trap --type --importance --project"
__git_mem_agents="claude gemini codex opencode copilot cursor"
__git_mem_languages="python javascript typescript tsx rust go java c cpp ruby csharp php"
__git_mem_settings="backend sign agent remote remoteRef syncOnPush syncTimeout capture captureThreshold captureWindow captureSessions inject ignore digest saveReminder injectUnconfirmed
	startBudget promptBudget fileBudget allowSecret editorCritical editorWarning editorInfo editorCodeLens editorSymbolLens editorInlayHints
	editorOutline editorCompletion editorUnconfirmed editorMaxPerFile editorSnoozeDays pager
	ownEmail historyLimit summary shareExtracted summaryLimit propose summariser geminiModel geminiKey geminiUrl modelCommand modelTimeout modelBudget native snapshotKeep snapshotDays dna dnaBudget scout preCommit commitTrailer editorWhyHover"

# Print the commands that a command has; nothing when it has none.
__git_mem_parts ()
{
	case "$1" in
	gotcha) echo add list show edit resolve reopen snooze verify search for context stats page ;;
	error) echo record list ;;
	session) echo start end current note mark list show export resume context task handover workflows cost ;;
	work) echo start story phase checkpoint error override pause abort complete resume discard show list import ;;
	remote) echo enable disable show ;;
	native) echo status pull push sync watch-once ;;
	model) echo check ;;
	event) echo add list ;;
	trace) echo export import ;;
	code) echo graph imports prune rank refs symbols ;;
	dna) echo refresh show ;;
	snapshot) echo save list show diff restore drop prune share ;;
	summary) echo show update edit add done pin unpin drop history diff ;;
	esac
}

# Print the options of a command.
__git_mem_options ()
{
	case "$1" in
	init) echo --no-remote --agents --json ;;
	status) echo --json ;;
	doctor) echo --fix --json ;;
	config) echo --global --unset --json ;;
	wipe) echo --remote --yes ;;
	hook) echo --settings --package ;;
	install) echo --local --project --user --dry-run --list --json ;;
	uninstall) echo --local --project --user --dry-run --json ;;
	add) echo "$__git_mem_fields" --kind --link --session --shared --private --user --json ;;
	edit) echo "$__git_mem_fields" --title --untag --unanchor --json ;;
	"gotcha edit") echo "$__git_mem_trap" --title --untag --unanchor --json ;;
	supersede) echo "$__git_mem_fields" --json ;;
	restore) echo --list --json ;;
	forget) echo --reason ;;
	purge) echo --text --remote --quarantine-list --quarantine-restore --quarantine-drop --follow-purge --yes --json ;;
	"gotcha add") echo "$__git_mem_trap" --session --shared --private --user --json ;;
	"gotcha list") echo --category --severity --resolved --unresolved --unconfirmed --snoozed --file --all --agent --limit --shared --private \
		--user --json ;;
	"gotcha resolve" | "gotcha reopen") echo --message --json ;;
	"gotcha snooze") echo --for --off --json ;;
	"gotcha verify") echo --anchor --json ;;
	"gotcha search") echo --limit --unresolved --json ;;
	"gotcha for" | "gotcha stats") echo --json ;;
	"gotcha context") echo --task --error --limit --budget --json ;;
	"gotcha page") echo --output --all ;;
	inbox) echo --accept --reject --reason --merge --into --accept-all --limit --all --json ;;
	"session start") echo --agent --title --story --new --json ;;
	"session end") echo --json ;;
	"session current") echo --json ;;
	"session note") echo --session --json ;;
	"session mark") echo --last --line --session --json ;;
	"session list") echo --agent --since --until --branch --kind --state --limit --json ;;
	"session show") echo --date --turns --json ;;
	"session export") echo --date --output --force ;;
	"session resume") echo --show --json ;;
	"session context") echo --agent --history --json ;;
	"session task") echo --success --failed --story --agent --json ;;
	"session handover") echo --message --from --decision --open --evidence --private --shared --json ;;
	"session workflows") echo --json ;;
	"session cost") echo --all --json ;;
	"work start") echo --story --title --id --total --executor --json ;;
	"work story") echo --done --reopen --add --next --title --executor --epic --json ;;
	"work phase") echo --result --attempt --file --story --executor --epic --json ;;
	"work checkpoint") echo --answer --story --epic --json ;;
	"work error") echo --story --executor --epic --json ;;
	"work override") echo --clear --epic --json ;;
	"work pause") echo --note --json ;;
	"work abort") echo --note --json ;;
	"work complete") echo --yes --note --json ;;
	"work resume") echo --continue --review --restart --discard --force --json ;;
	"work discard") echo --force --json ;;
	"work show") echo --json ;;
	"work list") echo --all --json ;;
	"work import") echo --name --dry-run --json ;;
	off) echo --session --machine --for ;;
	on) echo --session --machine ;;
	"error record") echo --command --session --json ;;
	"error list") echo --all --json ;;
	show | "gotcha show") echo --at --raw --format --json ;;
	list) echo --kind --type --tag --status --all --agent --file --resolved --unresolved --conflicts --since --until --at --sort --limit \
		--format --shared --private --user --json ;;
	search) echo --limit --kind --type --all --agent --format --shared --private --user --json ;;
	briefing) echo --budget --tokens --write --force --agent --json ;;
	summary | "summary show") echo --kind --ids --at --json ;;
	"summary update") echo --session --json ;;
	"summary add") echo --kind --pin --json ;;
	"summary done" | "summary pin" | "summary unpin" | "summary drop" | "summary diff") echo --json ;;
	"summary history") echo --limit --patch --json ;;
	opening) echo --history --resumed --json ;;
	recall) echo --session --past --all-sessions --since --limit --json ;;
	extract) echo --from --session --commits --kind --save --json ;;
	activate) echo --list --history --timeout --json ;;
	graph) echo --at --depth --dot --json ;;
	log) echo --limit --oneline --patch --reverse --private --user --shared --format --json ;;
	diff) echo --name-status --private --shared --json ;;
	undo) echo --private --shared ;;
	sync) echo --bundle --pull-only --follow-purge --json ;;
	"remote enable") echo --branch --yes ;;
	"remote show") echo --json ;;
	"native status") echo --json ;;
	"native pull") echo --dry-run --json ;;
	"native push") echo --to --remove --dry-run --json ;;
	"native sync") echo --to --dry-run --json ;;
	"native watch-once") echo --timeout --json ;;
	why) echo --at --json ;;
	evolution) echo --since --until --agent --session --story --limit --json ;;
	drift) echo --level --days --json ;;
	timeline) echo --since --until --source --file --agent --session --story --limit --reverse --csv --json ;;
	trends) echo --since --until --json ;;
	"event add") echo --at --message --file --shared --private --user --json ;;
	"event list") echo --json ;;
	"trace export") echo --output --json ;;
	"trace import") echo --ref --json ;;
	"code graph") echo --dot --at --json ;;
	"code imports") echo --of --at --json ;;
	"code prune") echo --json ;;
	"code rank") echo --limit --at --json ;;
	"code refs") echo --limit --at --json ;;
	"code symbols") echo --kind --limit --at --json ;;
	scout) echo --limit --budget --save --at --shared --private --user --json ;;
	"dna refresh") echo --json --shared ;;
	"dna show") echo --at --json ;;
	"snapshot save") echo --story --subtask --state --with --json ;;
	"snapshot list") echo --limit --branch --story --agent --json ;;
	"snapshot show") echo --json ;;
	"snapshot diff") echo --stat ;;
	"snapshot restore") echo --worktree --dry-run --force --json ;;
	"snapshot drop") echo --json ;;
	"snapshot prune") echo --keep --days --json ;;
	"snapshot share") echo --remote --yes ;;
	"model check") echo --json ;;
	esac
	echo --help
}

# Say whether an option of a command takes the next word as its value.
__git_mem_takes_value ()
{
	case "$2,$1" in
	install,--project | uninstall,--project | "remote enable,--branch") return 1 ;;
	esac
	case "$1" in
	-C | --color | -k | --kind | -t | --type | -i | --importance | -m | --message | -F | --file | -n | --limit | -o | --output | --accept | \
		--agent | --agents | --anchor | --at | --budget | --bundle | --category | --code | --command | --depth | --error | --for | --format | --into | \
		--language | --link | --merge | --project | --query | --reason | --reject | --remote | --session | --severity | --since | --sort | \
		--status | --tag | --task | --text | --title | --until | --untag | --workaround | --to | --timeout | --answer | --attempt | --epic | --executor | --id | --name | --next | --note | --result | --story | --total | --branch | --commits | --date | --decision | --evidence | --from | --history | --line | --open | --state | --subtask | --with | --keep | --days | --tokens | --write | --source | --level | --ref | -e | -r | -s) return 0 ;;
	esac
	return 1
}

# Run git in the folder that the line under the cursor names.
__git_mem_git ()
{
	git ${__git_dir:+--git-dir="$__git_dir"} "${__git_C_args[@]}" "${__git_mem_C[@]}" "$@" 2>/dev/null
}

# Offer words.
__git_mem_words ()
{
	# not `compgen -W`: that would run what stands in $(...)
	local list word
	IFS=$' \t\n' read -r -d '' -a list <<<"$1"
	for word in "${list[@]}"; do
		[[ $word != "$__git_mem_cur"* ]] || COMPREPLY+=("$word")
	done
}

# Offer files.
__git_mem_files ()
{
	local IFS=$'\n'
	COMPREPLY=($(compgen -f -- "$__git_mem_cur"))
	compopt -o filenames 2>/dev/null
}

# Offer ids, of one kind of record when it is given; with their titles when there is a choice to make.
__git_mem_ids ()
{
	local id title rows=()
	while IFS=$'\t' read -r id title; do
		rows+=("$id")
		COMPREPLY+=("$id  $title")
	done < <(__git_mem_git mem __complete ids "$__git_mem_cur" "$1")
	# one answer is inserted, and so is each in turn by menu-complete (37) and insert-completions (42): no title then
	if [ ${#rows[@]} -lt 2 ] || [ "${COMP_TYPE-}" = 37 ] || [ "${COMP_TYPE-}" = 42 ]; then
		COMPREPLY=("${rows[@]}")
	fi
}

# Offer the remotes of the repository.
__git_mem_remotes ()
{
	__git_mem_words "$(__git_mem_git remote)"
}

# Offer what may follow an option of a command.
__git_mem_value ()
{
	case "$2,$1" in
	"gotcha context,-t") return ;;
	extract,--kind | summary,--kind | "summary show,--kind" | "summary add,--kind")
		__git_mem_words "decision error pattern task done preference context"
		return
		;;
	extract,--from)
		__git_mem_words "auto claude gemini codex history export text plan commits"
		return
		;;
	"session list,--kind")
		__git_mem_words "new existing workflow"
		return
		;;
	"session list,--state")
		__git_mem_words "running ended interrupted"
		return
		;;
	"session list,--agent") __git_mem_words "$__git_mem_agents person" ;;
	"session list,--branch")
		__git_mem_words "$(__git_mem_git for-each-ref --format='%(refname:short)' refs/heads)"
		return
		;;
	"session context,--history" | "activate,--history" | "opening,--history" | "briefing,--write")
		__git_mem_files
		return
		;;
	esac
	case "$1" in
	--source | -s) __git_mem_words "commit memory gotcha snapshot session work event" ;;
	--level) __git_mem_words "none low medium high critical" ;;
	--kind | -k) __git_mem_words "memory gotcha summary snapshot work dna event" ;;
	--type | -t) __git_mem_words "decision pattern rule bug insight context fact preference task" ;;
	--status) __git_mem_words "active decayed archived pinned" ;;
	--severity) __git_mem_words "critical warning info" ;;
	--category) __git_mem_words "build test lint runtime integration security general" ;;
	--sort) __git_mem_words "created updated title importance severity" ;;
	--color) __git_mem_words "auto always never" ;;
	--to) __git_mem_words "claude gemini agents agent:" ;;
	--answer) __git_mem_words "go pause review abort" ;;
	--epic | -e) __git_mem_ids work ;;
	--agent) __git_mem_words "global all" ;;
	--agents) __git_mem_words "$__git_mem_agents all none" ;;
	--language) __git_mem_words "$__git_mem_languages" ;;
	--for) __git_mem_words "12h 1d 7d 2w" ;;
	--link | --accept | --reject) __git_mem_ids ;;
	--merge | --into) __git_mem_ids gotcha ;;
	--remote) __git_mem_remotes ;;
	--file | -F | --anchor | --bundle | --output | -o) __git_mem_files ;;
	-C)
		COMPREPLY=($(IFS=$'\n'; compgen -d -- "$__git_mem_cur"))
		compopt -o filenames 2>/dev/null
		;;
	esac
}

# Offer what may be the n-th argument of a command (from 0).
__git_mem_argument ()
{
	case "$1,$2" in
	show,* | link,* | unlink,* | pin,* | unpin,* | archive,* | restore,* | forget,* | purge,* | edit,0 | supersede,* | graph,0 | log,0) __git_mem_ids ;;
	"gotcha edit",0 | "gotcha show",* | "gotcha resolve",* | "gotcha reopen",* | "gotcha snooze",* | "gotcha verify",*) __git_mem_ids gotcha ;;
	"code symbols",0 | "code refs",0 | "code imports",0 | "code graph",0 | "code rank",0 | "dna show",0 | "gotcha for",* | "gotcha context",* | why,* | evolution,0 | "trace import",*) __git_mem_files ;;
	drift,* | "trace export",*) __git_mem_words "$(__git_mem_git for-each-ref --format='%(refname:short)' refs/heads refs/remotes)" ;;
	config,0) __git_mem_words "$__git_mem_settings" ;;
	config,1)
		case "$3" in
		backend) __git_mem_words "libgit2 git auto" ;;
		sign | syncOnPush | saveReminder | propose | shareExtracted | capture | captureSessions | inject | injectUnconfirmed) __git_mem_words "true false" ;;
		editorCritical | editorWarning | editorInfo) __git_mem_words "error warning information hint off" ;;
		editorCodeLens | editorSymbolLens | editorWhyHover | commitTrailer | scout | editorInlayHints | editorOutline | editorCompletion | editorUnconfirmed) __git_mem_words "true false" ;;
		preCommit) __git_mem_words "show block off" ;;
		dna | digest | summary) __git_mem_words "private shared off" ;;
		native) __git_mem_words "off pull push sync" ;;
		summariser) __git_mem_words "offline claude gemini codex command" ;;
		remote) __git_mem_remotes ;;
		esac
		;;
	"work phase",0) __git_mem_words "validation development self_healing quality_gate push checkpoint" ;;
	"work show",0 | "work pause",0 | "work abort",0 | "work complete",0 | "work resume",0 | "work discard",0) __git_mem_ids work ;;
	"work import",* | extract,*) __git_mem_files ;;
	hook,0) __git_mem_words "$__git_mem_agents" ;;
	install,* | uninstall,*) __git_mem_words "$__git_mem_agents git-hooks all" ;;
	completion,0) __git_mem_words "bash zsh fish" ;;
	"remote enable",0 | "remote disable",0) __git_mem_remotes ;;
	diff,*) __git_mem_remotes ;;
	sync,0)
		__git_mem_remotes
		[ ${#COMPREPLY[@]} -gt 0 ] || __git_mem_files
		;;
	*,0) __git_mem_words "$(__git_mem_parts "$1")" ;;
	esac
}

# Complete the words of the array `__git_mem_line`, of which the first follows `mem`; the last is under the cursor.
__git_mem_complete ()
{
	local last=$((${#__git_mem_line[@]} - 1)) i=0 command="" count=0 first="" literal="" word prev=""
	local __git_mem_cur="${__git_mem_line[last]}" __git_mem_C=()
	COMPREPLY=()
	# git's completion adds the space after a word itself, and falls back to file names
	compopt +o nospace +o default +o bashdefault 2>/dev/null
	while [ $i -lt $last ]; do
		word="${__git_mem_line[i]}"
		prev=""
		if [ -n "$literal" ] || [[ $word != -* ]] || [ "$word" = - ]; then
			if [ -z "$command" ]; then
				command="$word"
			elif [ -n "$(__git_mem_parts "$command")" ]; then
				command="$command $word"
			else
				[ $count -gt 0 ] || first="$word"
				count=$((count + 1))
			fi
		elif [ "$word" = -- ]; then
			literal=yes
		elif __git_mem_takes_value "$word" "$command"; then
			prev="$word"
			i=$((i + 1))
			if [ "$word" = -C ] && [ $i -lt $last ]; then
				__git_mem_C+=(-C "${__git_mem_line[i]}")
			fi
		fi
		i=$((i + 1))
	done
	if [ -n "$prev" ] && [ $i -gt $last ]; then
		__git_mem_value "$prev" "$command"
	elif [ -z "$literal" ] && [[ $__git_mem_cur == --*=* ]]; then
		# readline replaces only what follows the '='
		prev="${__git_mem_cur%%=*}"
		__git_mem_cur="${__git_mem_cur#*=}"
		__git_mem_value "$prev" "$command"
	elif [ -z "$literal" ] && [[ $__git_mem_cur == -* ]]; then
		if [ -z "$command" ]; then
			__git_mem_words "$__git_mem_global"
		else
			__git_mem_words "$(__git_mem_options "$command")"
		fi
	elif [ -z "$command" ]; then
		__git_mem_words "$__git_mem_commands"
	else
		__git_mem_argument "$command" $count "$first"
	fi
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
	__git_mem_line=("${words[@]:start + 1:cword - start}")
	__git_mem_complete
}

# `git-mem`: called by bash.
__git_mem_main ()
{
	local __git_mem_line=() __git_dir="" __git_C_args=() i=1
	# bash splits '--kind=memory' at the '='; put it together again
	while [ $i -le $COMP_CWORD ]; do
		if [ ${#__git_mem_line[@]} -gt 0 ] && [[ ${__git_mem_line[${#__git_mem_line[@]} - 1]} == --* ]] && [[ ${COMP_WORDS[i]} == = ]]; then
			__git_mem_line[${#__git_mem_line[@]} - 1]+="="
			if [ $i -lt $COMP_CWORD ]; then
				i=$((i + 1))
				__git_mem_line[${#__git_mem_line[@]} - 1]+="${COMP_WORDS[i]}"
			fi
		else
			__git_mem_line+=("${COMP_WORDS[i]}")
		fi
		i=$((i + 1))
	done
	__git_mem_complete
}

complete -F __git_mem_main git-mem
